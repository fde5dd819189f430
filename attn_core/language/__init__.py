"""A language model of today's kind: its layers, its attention with a cache, and sampling."""

from attn_core.language.attention import Cache, GroupedQueryAttention
from attn_core.language.layers import LanguageLayer, RMSNorm, SwiGLU
from attn_core.language.model import LanguageModel
from attn_core.language.sampling import GREEDY, Sampling

__all__ = ["GREEDY", "Cache", "GroupedQueryAttention", "LanguageLayer", "LanguageModel", "RMSNorm"]
__all__ += ["Sampling", "SwiGLU"]
