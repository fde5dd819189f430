"""What is seen of a record: the explorer, the living printed tensor, the matplotlib picture.

And the box that says which mistake made the numbers that are put into it.
"""

from importlib import import_module

try:
    from attn_core.views.explorer import explore, show  # isort: skip
    from attn_core.views.alive import stay_alive
    from attn_core.views.attentions import Attentions, open_attention
    from attn_core.views.model import OpenModel, open_model
    from attn_core.views.paste import paste
    from attn_core.views.prompts import OpenPrompts, open_prompts
    from attn_core.views.training import OpenTraining, open_training
    from attn_core.views.widget import Explorer
except ModuleNotFoundError as error:
    # The extra `views` by the names of its packages, which leave the attn_core that is here alone.
    raise ModuleNotFoundError(
        f"attn_core.views needs {error.name}: "
        "pip install jinja2 matplotlib ipywidgets anywidget drawsvg resvg-py",
        name=error.name,
    ) from None

__all__ = ["Attentions", "Explorer", "OpenModel", "OpenPrompts", "OpenTraining", "Picture"]
__all__ += ["explore", "figure", "open_attention", "open_model", "open_prompts", "open_training"]
__all__ += ["paste", "show", "stay_alive"]

# Their modules bring matplotlib: half a second, which a live explorer does without.
DRAWN = {"Picture": "picture", "figure": "heatmap"}


def __getattr__(name: str) -> object:
    if name not in DRAWN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{DRAWN[name]}"), name)
