"""The backward pass of one attention as a record."""

from attn_core.gradients.backward import AttentionGradients

__all__ = ["AttentionGradients"]
