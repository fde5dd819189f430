"""The search of the Chinese edition: jieba cuts the pages into words; split_query.js, a query."""

from __future__ import annotations

from pathlib import Path

from sphinx.search.zh import SearchChinese

SPLIT = Path(__file__).with_name("split_query.js")


class ChineseSearch(SearchChinese):
    """Sphinx's, whose queries are cut, too."""

    js_splitter_code = SPLIT.read_text(encoding="utf-8")
