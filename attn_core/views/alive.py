"""What keeps the explorers of a notebook alive in a page that is made of it."""

from IPython.display import HTML

from attn_core.views.saved import KINDS, scripts_of, styles_of
from attn_core.views.shown import Shown


def stay_alive(is_on: bool = True) -> HTML | None:
    """Keeps explorers alive in the page that `jupyter nbconvert --to html` makes of a notebook.

    >>> script = stay_alive()
    >>> "<attention-explorer" in script.data, "<script>" in script.data
    (False, True)
    >>> stay_alive(False)

    Call it in the first cell, as its last line. Its output is the script of all explorers, 0.3
    megabytes; every explorer shown after it contains all of its data, however large. The page
    then needs no network. Without this call, the page has a coloured table for each explorer.

    is_on: False turns this off again. Taught in chapter 10.
    """
    Shown.is_alone = is_on
    if not is_on:
        return None
    styles = "\n".join(styles_of(list(KINDS)))
    scripts = scripts_of(list(KINDS), is_chinese=True)
    return HTML(
        f"<style>\n{styles}</style>" + "".join(f"<script>{text}</script>" for text in scripts)
    )
