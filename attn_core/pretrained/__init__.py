"""Trained models of other people in the book's own modules."""

from attn_core.pretrained.all_minilm import MiniLM, minilm
from attn_core.pretrained.smollm2_135m import SmolLM2, smollm2

__all__ = ["MiniLM", "SmolLM2", "minilm", "smollm2"]
