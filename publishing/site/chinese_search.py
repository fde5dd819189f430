"""The search of the Chinese edition: jieba cuts the pages into words; split_query.js, a query."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path

import jieba
from sphinx.search.zh import SearchChinese

SPLIT = Path(__file__).with_name("split_query.js")
# Words of one character that only join others. A query may have them; they decide nothing.
PARTICLES = frozenset(
    "的了着吗呢吧啊么嘛呀是在和与或及而也都就还又并但则把被对从给让于之这那它你我他们"
)
# A query is split at everything else, and searchtools.js skips whole numbers.
SEARCHABLE = re.compile(r"(?!\d+$)\w+")

# By default jieba keeps its dictionary in a file of /tmp, where it may be another user's.
jieba.dt.tmp_dir = sys.prefix
jieba.setLogLevel(logging.WARNING)


class ChineseSearch(SearchChinese):
    """Sphinx's, which keeps words of one character, too, and whose queries are cut like the pages.

    >>> search = ChineseSearch({})
    >>> [word for word in ("键", "q", "softmax", "的", "the", "，", "0.1385", "1385")
    ...  if search.word_filter(word)]
    ['键', 'q', 'softmax']
    """

    js_splitter_code = SPLIT.read_text(encoding="utf-8")
    stopwords = SearchChinese.stopwords | PARTICLES

    def word_filter(self, stemmed_word: str) -> bool:
        is_searchable = SEARCHABLE.fullmatch(stemmed_word) is not None
        return is_searchable and stemmed_word not in self.stopwords
