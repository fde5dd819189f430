"""Attention, Number by Number: attention whose every number can be traced to its arithmetic."""

import os

from attn_core.api import attention, trace
from attn_core.arithmetic import workings
from attn_core.bias import Bias, alibi, buckets, relative
from attn_core.devices import put_tensors_on
from attn_core.diagnosis import diagnose
from attn_core.dropout import Dropout
from attn_core.gradients import AttentionGradients
from attn_core.masks import Keep, causal, padding, prefill, window
from attn_core.record import AttentionTrace
from attn_core.source import Projection
from attn_core.sweeps import sweep
from attn_core.watching import watch

__version__ = "0.1.0"
__all__ = ["AttentionGradients", "AttentionTrace", "Bias", "Dropout", "Keep", "Projection"]
__all__ += ["alibi", "attention", "buckets", "causal", "diagnose", "padding", "prefill"]
__all__ += ["relative", "sweep", "trace", "watch", "window", "workings"]

if "ATTN_DEVICE" in os.environ:
    put_tensors_on(os.environ["ATTN_DEVICE"])
