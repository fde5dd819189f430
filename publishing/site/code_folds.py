"""Put the folded code of a picture below its caption, and call it "Code".

myst-nb puts it above the output, as "Show code cell source": between a paragraph and the picture
that it speaks of.
"""

from __future__ import annotations

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from publishing.translation.language import _


def is_caption(node: nodes.Node) -> bool:
    """Whether it is a paragraph that begins in italics."""
    return isinstance(node, nodes.paragraph) and isinstance(node[0], nodes.emphasis)


class CodeFolds(SphinxPostTransform):
    default_priority = 210  # behind myst-nb's own, which makes the folds
    formats = ("html",)

    def run(self, **kwargs) -> None:
        for fold in list(self.document.findall(HideCodeCellNode)):
            is_code = "above-input" in fold["classes"]
            fold["prompt_show"] = fold["prompt_hide"] = _("Code") if is_code else _("Output")
            if is_code and any(fold.parent.findall(nodes.image)):
                move(fold)


def move(fold: nodes.Element) -> None:
    """To the end of its cell, behind the caption that follows the cell."""
    cell = fold.parent
    cell.remove(fold)
    beside = cell.parent
    after = beside.index(cell) + 1
    if after < len(beside) and is_caption(beside[after]):
        caption = beside[after]
        beside.remove(caption)
        cell.append(caption)
    cell.append(fold)


def setup(app: Sphinx) -> dict:
    app.add_post_transform(CodeFolds)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
