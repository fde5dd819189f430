"""Records of the attention of any torch model, while it runs as it is."""

from attn_core.watching.seen import Seen, Unseen
from attn_core.watching.watcher import watch

__all__ = ["Seen", "Unseen", "watch"]
