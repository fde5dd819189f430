"""Which mistake is this? An array is compared with each stage of a record, right and wrong."""

from attn_core.diagnosis.diagnosing import diagnose
from attn_core.diagnosis.sentences import Diagnosis

__all__ = ["Diagnosis", "diagnose"]
