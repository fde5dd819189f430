"""What stands on paper beside the book's own text, in each language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """The words of one language; `{n}` is a number and `{page}` a page's.

    gathered: the titles of the folds that go to the end of their chapter, each with what one is
    called there and the heading that all stand under; output and code are the same for those of
    a cell. All other folds paper shows where they are. brackets: around a page behind its link;
    comma: before one that stands in brackets with its link; colon: before one that a label
    leads to; chapter: what stands between a chapter's number and its page. quotes: around the
    title of a section that a sentence names by a link. No line breaks between a page and its
    number. live: under the still of a model; trains: of a training; switched: of an explorer of
    mistakes. by_hand:
    says that a question is to be answered on paper first; here: says what to do then at its
    explorer, and how paper says that. figure: begins a caption; subject: what the PDF says of
    itself.
    """

    gathered: dict[str, tuple[str, str]]
    output: tuple[str, str]
    code: tuple[str, str]
    numbered: str
    on_page: str
    comma: str
    brackets: tuple[str, str]
    colon: str
    chapter: str
    quotes: tuple[str, str]
    by_hand: str
    here: tuple[str, str]
    live: str
    trains: str
    switched: str
    asked_on: str
    figure: str
    contents: str
    in_detail: str
    index: str
    subject: str
    in_this_chapter: str
    links: str
    version: str
    edition: dict[str, str]
    how_to_read: str
    licence: str


ENGLISH = Words(
    gathered={
        "Answer": ("Answer", "Answers"),
        "Answers": ("Answer", "Answers"),
        "Solution": ("Solution", "Solutions"),
    },
    output=("Output", "Outputs"),
    code=("Code", "Code"),
    numbered="{title} {n}",
    on_page="page\N{NO-BREAK SPACE}{page}",
    comma=", ",
    brackets=("\N{NO-BREAK SPACE}(", ")"),
    colon=": ",
    chapter="",
    quotes=("", ""),
    by_hand="On paper",
    here=("Here(?=[:,]| the number)", "On the site"),
    live="On the site it is live: write another sentence, and press any number.",
    trains="On the site it is live: step, run and rewind the training, and press any number.",
    switched="On the site the mistakes can be switched on and off here.",
    asked_on="from page\N{NO-BREAK SPACE}{page}",
    figure="Figure\N{NO-BREAK SPACE}{chapter}.{n}",
    contents="Contents",
    in_detail="Contents in detail",
    index="Index",
    subject="How attention works, with every number computed by hand and in code",
    in_this_chapter="In this chapter",
    links="Links",
    version="Version {n}",
    edition={
        "student": "For students: without the solutions",
        "instructor": "For instructors: with the keys of all exercises",
    },
    how_to_read=(
        "On paper an explorer, a table whose numbers open, is a picture of how it opens. Answers "
        "stand at the end of their chapter; addresses are listed after them, by number. Where the "
        "text asks you to press or to move something, it speaks of the pages of the book, which "
        "open in a browser."
    ),
    licence="The text and the figures are under CC BY 4.0, the code is under the MIT licence.",
)

CHINESE = Words(
    gathered={
        "答案": ("答案", "答案"),
        "解答": ("解答", "解答"),
    },
    output=("输出", "输出"),
    code=("代码", "代码"),
    numbered="{title} {n}",
    on_page="第\N{NO-BREAK SPACE}{page}\N{NO-BREAK SPACE}页",
    comma="，",
    brackets=("（", "）"),
    colon="：",
    chapter="章",
    quotes=("“", "”"),
    by_hand="纸上",
    here=("这里：", "网页上："),
    live="网页上的模型可以操作：换一个句子，点开任何一个数。",
    trains="网页上的训练可以操作：走一步、运行、往回走，点开任何一个数。",
    switched="在网页上，这里的错误可以打开，也可以关掉。",
    asked_on="见第\N{NO-BREAK SPACE}{page}\N{NO-BREAK SPACE}页",
    figure="图\N{NO-BREAK SPACE}{chapter}.{n}",
    contents="目录",
    in_detail="分节目录",
    index="索引",
    subject="注意力怎样计算：每个数都用手算一遍，再用代码核对",
    in_this_chapter="本章内容",
    links="链接",
    version="版本 {n}",
    edition={"student": "学生版：不含解答", "instructor": "教师版：含全部练习的答案和评分标准"},
    how_to_read=(
        "纸上的探索器是它刚打开时的样子；答案在各章末尾，网址又在答案之后，按编号排列。"
        "会动的都在本书的网页上，用浏览器打开就能看。"
    ),
    licence="文字与图片采用 CC BY 4.0 许可，代码采用 MIT 许可。",
)

WORDS = {"en": ENGLISH, "zh": CHINESE}
