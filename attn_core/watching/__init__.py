"""Records of the attention of a torch model, while it runs as it is."""

from attn_core.watching.comparing import Comparison, compare
from attn_core.watching.rolling import rollout
from attn_core.watching.seen import Seen, Unseen
from attn_core.watching.watcher import watch

__all__ = ["Comparison", "Seen", "Unseen", "compare", "rollout", "watch"]
