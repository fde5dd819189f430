"""Writes again what attn_core stores and code makes: vectors, the list of operations, weights."""
