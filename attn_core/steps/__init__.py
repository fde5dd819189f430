"""A pass written down: its steps, forward and back, in float64, each number with its lines."""

from attn_core.steps.changes import Changes
from attn_core.steps.explaining import ModuleCall
from attn_core.steps.gradients import Gradients, backward
from attn_core.steps.passes import Pass, run
from attn_core.steps.recorder import recording
from attn_core.steps.rules import explain  # with the rules of our modules
from attn_core.steps.step import Step, Steps
from attn_core.steps.terms import workings

__all__ = ["Changes", "Gradients", "ModuleCall", "Pass", "Step", "Steps", "backward", "explain"]
__all__ += ["recording", "run", "workings"]
