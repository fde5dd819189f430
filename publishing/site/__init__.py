"""The Sphinx extensions that make the site of the pages, as one; `_config.yml` asks for it."""

from sphinx.application import Sphinx

EXTENSIONS = (
    "other_language",
    "switch",
    "chapter_links",
    "formulas",
    "code_breaks",
    "units",
    "code_folds",
    "page_script",
    "paste_box",
    "exercise_boxes",
    "slide_deck",
    "payload_files",
    "stills",
    "pictures",
    "data_beside",
    "language_model",
    "api_reference",
    "term_index",
    "page_assets",
    "han_font",
    "math_font",
    "theme_files",
    "used_styles",
    "icons",
    "drawings",
    "link_card",
)


def setup(app: Sphinx) -> dict:
    for name in EXTENSIONS:
        app.setup_extension(f"{__name__}.{name}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
