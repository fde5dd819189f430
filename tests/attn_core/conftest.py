"""Hypothesis draws the same examples on every run, and keeps no database beside the project."""

from hypothesis import settings

settings.register_profile("book", derandomize=True, database=None, deadline=None, max_examples=100)
settings.load_profile("book")
