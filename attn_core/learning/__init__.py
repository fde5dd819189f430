"""A small language model that learns before your eyes, and films of any other model that learns."""

from attn_core.learning.film import Film, watch_training
from attn_core.learning.measures import Shares, shares
from attn_core.learning.model import AttentionLayer, AttentionOnly
from attn_core.learning.optimisers import SGD, AdamW, Update
from attn_core.learning.task import RepeatedSegments
from attn_core.learning.training import Step, Training

__all__ = ["SGD", "AdamW", "AttentionLayer", "AttentionOnly", "Film", "RepeatedSegments"]
__all__ += ["Shares", "Step", "Training", "Update", "shares", "watch_training"]
