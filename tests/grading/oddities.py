"""Right notebooks in unusual but fair forms: each must get all points.

A new one is a few lines in one of the tables below.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable
from itertools import pairwise, zip_longest

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output, new_raw_cell

VALUES, SOFTMAX, ROW, TWO, WORDS = EXERCISES = (
    "04-rounded-too-early",  # three values
    "03-safe-softmax",  # a function of a table
    "07-a-dropped-row",  # a function of a row, of truths and of a number
    "03-shuffled-weights",  # a function that gives two tables
    "14-name-the-mistake",  # a list of words
)

# The values in plain Python: `weights`, then `mixed(weights)`, a row of three numbers.
BY_HAND = """\
import math
exps = [math.exp(score) for score in score_row]
weights = [one / sum(exps) for one in exps]
rounded = [round(one, 1) for one in weights]
def mixed(shares):
    return [sum(w * row[c] for w, row in zip(shares, value_rows)) for c in range(3)]
"""
FORMED = f"{BY_HAND}{{before}}\nexact_row = {{form}}(mixed(weights))\n"
FORMED += "rounded_sum = {sum_form}(sum(rounded))\nrounded_row = {form}(mixed(rounded))\n"
SHIFTED = "import torch\ndef shares(table):\n    return torch.softmax(table, -1)\n"


def formed(form: str, sum_form: str = "", before: str = "") -> dict[str, str]:
    """The values, each row in a form and the sum in another."""
    return {VALUES: FORMED.format(form=form, sum_form=sum_form, before=before)}


def softmax(ending: str) -> dict[str, str]:
    """A softmax whose end is another: `shares(table)` is right."""
    return {SOFTMAX: f"{SHIFTED}{ending}"}


# Answers that differ from the solution, by exercise.
ANSWERS: dict[str, dict[str, str]] = {
    # Numbers in other forms.
    "fractions": formed("numbers", "Fraction", """\
from fractions import Fraction
def numbers(row): return [Fraction(one) for one in row]"""),
    "decimals": formed("numbers", "Decimal", """\
from decimal import Decimal
def numbers(row): return tuple(Decimal(repr(one)) for one in row)"""),
    "complex numbers": formed("numbers", "complex", "numbers = lambda row: [*map(complex, row)]"),
    "a complex tensor": formed("numbers", "complex", """\
import torch
def numbers(row): return torch.tensor(row, dtype=torch.complex64)"""),
    "two decimals": formed("short", "", "short = lambda row: [round(one, 2) for one in row]"),
    "a generator": formed("numbers", "", "def numbers(row): yield from row"),
    "a map": formed("numbers", "", "numbers = lambda row: map(float, row)"),
    "an iterator": formed("iter"),
    "a dict by place": formed("numbers", "", "numbers = lambda row: dict(enumerate(row))"),
    "the values of a dict": formed("numbers", "", """\
def numbers(row): return dict(zip("abc", row)).values()"""),
    "a deque": formed("deque", "", "from collections import deque"),
    "an array of Python's": formed("numbers", "", """\
from array import array
def numbers(row): return array("d", row)"""),
    "a named tuple": formed("Row._make", "", """\
from collections import namedtuple
Row = namedtuple("Row", "a b c")"""),
    "a list of its own": formed("Row", "", "class Row(list): pass"),
    "an object that is a number": formed("numbers", "Number", """\
class Number:
    def __init__(self, value): self.value = value
    def __float__(self): return float(self.value)
numbers = lambda row: [Number(one) for one in row]"""),
    "NumPy": formed("np.array", "np.float64", "import numpy as np"),
    "NumPy, of another byte order": formed("big", "big", """\
import numpy as np
big = lambda row: np.array(row, dtype=">f8")"""),
    "NumPy, in half precision": formed("np.float16", "np.float16", "import numpy as np"),
    "NumPy's matrix": formed("np.asmatrix", "np.asmatrix", "import numpy as np"),
    "an array of objects": formed("numbers", "", """\
import numpy as np
from fractions import Fraction
def numbers(row): return np.array([Fraction(one) for one in row])"""),
    "a leading axis": formed("numbers", "", "numbers = lambda row: [row]"),
    "half precision": formed("numbers", "", """\
import torch
def numbers(row): return torch.tensor(row).half()"""),
    "bfloat16": formed("numbers", "", """\
import torch
def numbers(row): return torch.tensor(row).bfloat16()"""),
    "a parameter": formed("numbers", "torch.tensor", """\
import torch
def numbers(row): return torch.nn.Parameter(torch.tensor(row))"""),
    "a sparse tensor": formed("numbers", "torch.tensor", """\
import torch
def numbers(row): return torch.tensor(row).to_sparse()"""),
    "a list of tensors": formed("numbers", "torch.tensor", """\
import torch
def numbers(row): return [torch.tensor(one) for one in row]"""),
    "a tensor without a gradient for good": formed("numbers", "torch.tensor", """\
import torch
def numbers(row):
    with torch.inference_mode():
        return torch.tensor(row) * 1"""),
    "long doubles": formed("numbers", "np.longdouble", """\
import numpy as np
def numbers(row): return np.array(row, dtype=np.longdouble)"""),
    "a masked array": formed("np.ma.array", "", "import numpy as np"),
    "a user's list": formed("UserList", "", "from collections import UserList"),
    "a view of memory": formed("numbers", "", """\
from array import array
def numbers(row): return memoryview(array("d", row))"""),
    "nested tuples": formed("numbers", "", "numbers = lambda row: ((*row,),)"),
    # Names that are bound in other ways.
    "Chinese names": {VALUES: """\
import math
指数 = [math.exp(分数) for 分数 in score_row]
权重 = [一 / sum(指数) for 一 in 指数]
四舍五入 = [round(一, 1) for 一 in 权重]
def 混合(份额): return [sum(份 * 行[列] for 份, 行 in zip(份额, value_rows)) for 列 in range(3)]
ｅxact_row, ｒounded_sum, ｒounded_row = 混合(权重), sum(四舍五入), 混合(四舍五入)"""},
    "timed on its line": {VALUES: f"""{BY_HAND}
%time exact_row = mixed(weights)
%time rounded_sum = sum(rounded)
%time rounded_row = mixed(rounded)"""},
    "captured": {VALUES: f"""%%capture said
{BY_HAND}
class Mine:
    pass
mine = Mine()
mine.row, mine.sum, mine.rounded = mixed(weights), sum(rounded), mixed(rounded)
exact_row, rounded_sum, rounded_row = vars(mine).values()"""},
    "all at once": {VALUES: f"""{BY_HAND}
exact_row, rounded_sum, rounded_row = mixed(weights), sum(rounded), mixed(rounded)"""},
    "with types": {VALUES: f"""{BY_HAND}
exact_row: list[float] = mixed(weights)
(rounded_sum := sum(rounded))
if True:
    rounded_row: list[float] = mixed(rounded)"""},
    "appended": {VALUES: f"""{BY_HAND}
exact_row, rounded_row, rounded_sum = [], [], 0
for column in range(3):
    exact_row.append(mixed(weights)[column])
    rounded_row += [mixed(rounded)[column]]
for one in rounded:
    rounded_sum += one"""},
    "in a main": {VALUES: f"""{BY_HAND}
def main():
    global exact_row, rounded_sum, rounded_row
    exact_row, rounded_sum, rounded_row = mixed(weights), sum(rounded), mixed(rounded)
if __name__ == "__main__":
    main()"""},
    "by their names": {VALUES: f"""{BY_HAND}
globals().update(exact_row=mixed(weights), rounded_sum=sum(rounded), rounded_row=mixed(rounded))
"""},
    "everything imported": {VALUES: """\
from torch import *
one_row = softmax(tensor(score_row), 0)
exact_row = one_row @ tensor(value_rows)
rounded_sum = round(one_row, decimals=1).sum()
rounded_row = round(one_row, decimals=1) @ tensor(value_rows)"""},
    # Functions in other forms.
    "a lambda": {SOFTMAX: "import torch\nsafe_softmax = lambda table: torch.softmax(table, -1)"},
    "a partial": {SOFTMAX: """\
import functools, torch
safe_softmax = functools.partial(torch.softmax, dim=-1)"""},
    "another's function": {SOFTMAX: "import torch\nsafe_softmax = torch.nn.Softmax(dim=-1)"},
    "an object": {SOFTMAX: """\
import torch
class Softmax:
    def __call__(self, table, dim=-1):
        return torch.softmax(table, dim)
safe_softmax = Softmax()"""},
    "a class of its own": {SOFTMAX: f"""{SHIFTED}
class Of:
    @staticmethod
    def rows(table):
        return shares(table)
safe_softmax = Of.rows"""},
    "a decorator": {SOFTMAX: f"""\
from __future__ import annotations
import functools
{SHIFTED}
def told(function):
    @functools.wraps(function)
    def wrapped(*given, **more):
        print("asked", *given)
        return function(*given, **more)
    return wrapped
@told
@torch.no_grad()
def safe_softmax(table: torch.Tensor, *, dim: int = -1) -> torch.Tensor:
    return shares(table)"""},
    "recursive": {SOFTMAX: """\
import torch
def safe_softmax(table):
    if len(table) > 1:
        return torch.cat([safe_softmax(table[:1]), safe_softmax(table[1:])])
    exps = torch.exp(table - table.max())
    return exps / exps.sum()"""},
    "vmap": {SOFTMAX: """\
import torch
def one(row):
    exps = torch.exp(row - row.max())
    return exps / exps.sum()
safe_softmax = torch.vmap(one)"""},
    "scripted": {SOFTMAX: """\
import torch
@torch.jit.script
def safe_softmax(table: torch.Tensor) -> torch.Tensor:
    return torch.softmax(table, dim=-1)"""},
    "compiled": {SOFTMAX: """\
import torch
@torch.compile(mode="max-autotune", fullgraph=True)
def safe_softmax(table):
    return torch.softmax(table, dim=-1)"""},
    "in place": {SOFTMAX: """\
def safe_softmax(table):
    table -= table.amax(dim=-1, keepdim=True)
    table.exp_()
    table /= table.sum(dim=-1, keepdim=True)
    return table"""},
    "NumPy's functions": {SOFTMAX: """\
import numpy as np
def safe_softmax(table):
    table = np.asarray(table)
    exps = np.exp(table - table.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)"""},
    "nothing but Python": {SOFTMAX: """\
import math
def safe_softmax(table):
    found = []
    for row in table.tolist():
        exps = [math.exp(score - max(row)) for score in row]
        found.append([one / math.fsum(exps) for one in exps])
    return found"""},
    "yields rows": softmax("def safe_softmax(table):\n    yield from shares(table)"),
    "rows in a tuple": softmax("def safe_softmax(table):\n    return tuple(shares(table))"),
    "rows by place": softmax("def safe_softmax(table):\n    return dict(enumerate(shares(table)))"),
    "a batch of one": softmax("def safe_softmax(table):\n    return shares(table)[None]"),
    "rounded to half": softmax("def safe_softmax(table):\n    return shares(table).half()"),
    "rounded to bfloat16": softmax("def safe_softmax(table):\n    return shares(table).bfloat16()"),
    "in double": softmax("def safe_softmax(table):\n    return shares(table.double())"),
    "turned twice": softmax("def safe_softmax(table):\n    return shares(table).T.contiguous().T"),
    "with threads": softmax("""\
from concurrent.futures import ThreadPoolExecutor
def safe_softmax(table):
    with ThreadPoolExecutor(2) as pool:
        return torch.stack(list(pool.map(shares, table)))"""),
    "remembers": softmax("""\
seen = []
def safe_softmax(table):
    seen.append(table)
    return shares(seen[-1])"""),
    "warns": softmax("""\
import warnings
def safe_softmax(table):
    warnings.warn("are these scores?")
    return shares(table)"""),
    "processes of its own": softmax("""\
import multiprocessing
def one(row):
    return shares(torch.tensor(row)).tolist()
def safe_softmax(table):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map(one, table.tolist())"""),
    "a data loader": softmax("""\
from torch.utils.data import DataLoader
def safe_softmax(table):
    loader = DataLoader(table.tolist(), batch_size=None, num_workers=1)
    return [shares(torch.tensor(row)) for row in loader]"""),
    "waits for itself": softmax("""\
import asyncio
async def later(table):
    await asyncio.sleep(0)
    return shares(table)
def safe_softmax(table):
    return asyncio.run(later(table))"""),
    "plots": softmax("""\
import matplotlib.pyplot as plt
def safe_softmax(table):
    plt.imshow(table)
    plt.show()
    return shares(table)"""),
    "a module": {SOFTMAX: """\
import torch
class Softmax(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = torch.nn.Parameter(torch.ones(()))
    def forward(self, table):
        return torch.softmax(table / self.temperature, dim=-1)
safe_softmax = Softmax()"""},
    "a gradient of its own": {SOFTMAX: """\
import torch
class Shares(torch.autograd.Function):
    @staticmethod
    def forward(ctx, table):
        return torch.softmax(table, -1)
safe_softmax = Shares.apply"""},
    "kept in a cache": {ROW: """\
import functools
@functools.cache
def grown(p):
    return 1 / (1 - p)
@functools.lru_cache(maxsize=None)
def dropped_row(row, survives, p):
    return row * survives * grown(p)"""},
    "matched": {ROW: """\
def dropped_row(row, survives, p, /, *_, **__):
    match (row.tolist(), survives.tolist()):
        case [weights, [*stay]] if len(weights) == len(stay):
            return [w / (1 - p) if s else 0 * w for w, s in zip(weights, stay, strict=True)]"""},
    "with a progress bar": {ROW: """\
from tqdm import tqdm
def dropped_row(row, survives, p):
    pairs = tqdm(zip(row.tolist(), survives.tolist()), total=len(row))
    return [weight / (1 - p) if stays else 0 for weight, stays in pairs]"""},
    "fractions of fractions": {ROW: """\
from fractions import Fraction
def dropped_row(row, survives, p):
    grown = 1 / (1 - Fraction(p))
    return [Fraction(float(one)) * grown * bool(stays) for one, stays in zip(row, survives)]"""},
    "filled": {ROW: """\
import torch
def dropped_row(row, survives, p):
    return row.masked_fill(survives.logical_not(), -0.0).div(1 - p)"""},
    # Several parts, and words.
    "two by name": {TWO: """\
def shuffled_attention(weights, output, order):
    return {"output": output[order], "weights": weights[order][:, order]}"""},
    "two in a list": {TWO: """\
def shuffled_attention(weights, output, order):
    weights = [[row[j].item() for j in order] for row in weights[order]]
    return [weights, output.numpy()[order]]"""},
    "two in a named tuple": {TWO: """\
from typing import NamedTuple
class Both(NamedTuple):
    weights: object
    output: object
def shuffled_attention(weights, output, order):
    return Both(output=output[order], weights=weights[order][:, order])"""},
    "words in an array": {WORDS: "\nimport numpy as np\nwhat_went_wrong = np.array(found)"},
    "words in a tuple": {WORDS: "\nwhat_went_wrong = *found,"},
    "words from a generator": {WORDS: "\nwhat_went_wrong = (name for name in found)"},
    "words by place": {WORDS: "\nwhat_went_wrong = {n: one for n, one in enumerate(found, 1)}"},
    "words of a kind": {WORDS: """
from enum import StrEnum
Slip = StrEnum("Slip", [(f"slip{n}", one) for n, one in enumerate(found)])
what_went_wrong = list(Slip)"""},
}  # fmt: skip

# Cells before the answers.
CELLS: dict[str, list[str]] = {
    "the book's library": [
        "from attn_core import toy\nfrom attn_core import attention, causal",
        "x = toy.notebook().x\nattention(x, x, x, keep=causal())",
    ],
    "the book's pictures": [
        "import torch\nfrom attn_core import trace\nfrom attn_core.views import explore, figure",
        "record = trace(*torch.ones(3, 4, 2))",
        "figure(record)",
        "explore(record)",
        "from attn_core.views import drawings\nassert drawings",
    ],
    "the book's checks": ["from exercises.notebook import check, given\ncheck('04-a')"],
    "a plot": [
        "%matplotlib inline\nimport matplotlib.pyplot as plt",
        "plt.plot([1, 2])\nplt.show()",
        "figure, axes = plt.subplots()\naxes.imshow([[1, 2]])",
    ],
    "a widget": ["import ipywidgets\nipywidgets.IntSlider()"],
    "magic": ["%%time\n1 + 1", "%timeit -n 1 -r 1 1 + 1", "!echo hello", "len?", "%pip list"],
    "other magics": [
        *("%env ONE=1", "%cd /tmp", "%ls", "%pwd", "%who", "%whos", "%history", "%sx ls", "%gui"),
        *("%xmode Verbose", "1 / 0", "%precision 3", "%pprint", "%alias_magic t timeit", "%prun 1"),
        *("%load_ext autoreload", "%autoreload 2", "%lsmagic", "%dhist", "%colors nocolor"),
        *("%%capture out\n1", "out.show()", "%%bash\n1", "%%html\n1", "%%latex\n1", "%%prun\n1"),
        *("%%javascript\n1", "%%markdown\n1", "%%svg\n<svg/>", "%%script true\n1"),
    ],
    "a debugger": ["breakpoint()", "1 / 0", "%debug", "import pdb; pdb.set_trace()", "%pdb on"],
    "displays": [
        "from IPython.display import *\n"
        "for one in (HTML('1'), Markdown('1'), Latex('1'), JSON([1]), Code('1'), Pretty('1')):\n"
        "    display(one)\nhandle = display('a', display_id=True)\nhandle.update('b')\n"
        "clear_output(wait=True)\nfor _ in ProgressBar(2): pass",
        "display(Audio([0.0] * 99, rate=99), FileLink('x'), IFrame('https://x.example', 9, 9))",
    ],
    "progress bars": [
        "from tqdm.auto import tqdm, trange\nfor _ in trange(3): pass",
        "from tqdm.notebook import tqdm\nfor _ in tqdm(range(3), desc='爱'): pass",
    ],
    "plots in other ways": [
        "%config InlineBackend.figure_format = 'retina'\nimport matplotlib.pyplot as plt\n"
        "plt.style.use('ggplot')\nfigure = plt.figure()\nplt.plot([1, 2])",
        "%config InlineBackend.figure_format = 'svg'\nfigure",
        "figure.savefig('a.png')\nplt.close('all')",
        "from IPython.display import Image\nImage('a.png')",
        "%matplotlib widget",
        "%matplotlib notebook",
        "plt.plot([3, 4]); plt.show()",
    ],
    "what was shown": ["40 + 2", "assert _ == Out[1] == 42 and In[1] == '40 + 2', (_, Out, In)"],
    "for Colab": [
        "#@title Setup { display-mode: 'form' }\nIN_COLAB = 'google.colab' in str(get_ipython())",
        "from google.colab import drive\ndrive.mount('/content/drive')",
    ],
    "its own tests": [
        "import doctest, unittest\ndef one():\n    '''\n    >>> one()\n    1\n    '''\n"
        "    return 1\ndoctest.testmod()",
        "class Test(unittest.TestCase):\n    def test(self): self.assertEqual(one(), 1)\n"
        "unittest.main(argv=[''], exit=False)",
    ],
    "left running": [
        "import atexit, signal, threading, time\nsignal.alarm(1)\natexit.register(print, 'end')\n"
        "threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()\n"
        "timer = threading.Timer(1e6, print)\ntimer.start()",
        "import asyncio\nasync def later(): pass\ntask = asyncio.ensure_future(later())",
        "await task",
    ],
    "classes of its own": [
        "from __future__ import annotations\nimport copy, dataclasses, inspect, pickle, typing",
        "@dataclasses.dataclass\nclass One:\n    n: int = 1\n"
        "assert pickle.loads(pickle.dumps(One())) == copy.deepcopy(One())\ninspect.getsource(One)",
    ],
    "an install": ["!pip install torch", "%pip install numpy"],
    "an error": ["1 / 0", "def (:", "undefined_name", "import no_such_module"],
    "an await": ["import asyncio\nawait asyncio.sleep(0)", "async with asyncio.Lock():\n    pass"],
    "an input": ["name = input('your name? ')"],
    "in double from the start": ["import torch\ntorch.set_default_dtype(torch.float64)"],
    "without gradients": ["import torch\ntorch.set_grad_enabled(False)"],
    "other settings": [
        "import torch\ntorch.set_num_threads(4)\ntorch.manual_seed(1)\n"
        "torch.set_printoptions(precision=2)",
        "import numpy as np\nnp.seterr(all='raise')",
        "import warnings, sys, os, gc\nwarnings.simplefilter('error')\n"
        "sys.setrecursionlimit(10_000)\nos.environ['OMP_NUM_THREADS'] = '4'\nos.chdir('/tmp')\n"
        "gc.disable()",
    ],
    "determined": ["import torch\ntorch.use_deterministic_algorithms(True)"],
    "notes on disk": [
        "import torch\nfrom pathlib import Path\nPath('notes.txt').write_text('…')\n"
        "torch.save(torch.ones(3), 'one.pt')\ntorch.load('one.pt')",
    ],
    "a module of its own": ["%%writefile mine.py\nONE = 1", "import mine\nassert mine.ONE == 1"],
    "logging": ["import logging\nlogging.basicConfig(level=0)\nlogging.debug('here')"],
    "other printing": ["import sys, io\nsys.stdout = sys.stderr = io.StringIO()", "print('lost')"],
}


def at(notebook: NotebookNode, exercise: str, part: str = "answer") -> int:
    return next(i for i, cell in enumerate(notebook.cells) if cell.id == f"{part}-{exercise}")


def crlf(notebook: NotebookNode) -> bytes:
    for cell in notebook.cells:
        cell.source = cell.source.replace("\n", "\r\n")
    return json.dumps(notebook, indent=1).replace("\n", "\r\n").encode()


def by_lines(notebook: NotebookNode) -> bytes:
    for cell in notebook.cells:
        cell.source = cell.source.splitlines(keepends=True)
    return codecs.BOM_UTF8 + json.dumps(notebook, ensure_ascii=False).encode()


def tabs(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        cell.source = cell.source.replace("    ", "\t")


def one_cell(notebook: NotebookNode) -> None:
    """All code in one cell at the end."""
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    texts = [cell for cell in notebook.cells if cell.cell_type != "code"]
    notebook.cells = [*texts, new_code_cell("\n\n".join(cell.source for cell in codes))]


def many_cells(notebook: NotebookNode) -> None:
    """Every line of the values in a cell of its own."""
    place = at(notebook, VALUES)
    lines = notebook.cells[place].source.split("\n")
    notebook.cells[place : place + 1] = [new_code_cell(line) for line in lines]


def beside(notebook: NotebookNode) -> None:
    """Answers in new cells, above and below starters that were left as they were."""
    for exercise, shift, name in ((SOFTMAX, 0, "safe_softmax"), (ROW, 1, "dropped_row")):
        place = at(notebook, exercise)
        answer = new_code_cell(notebook.cells[place].source)
        given = {"safe_softmax": "table", "dropped_row": "row, survives, p"}[name]
        notebook.cells[place].source = f"def {name}({given}):\n    return ..."
        notebook.cells.insert(place + shift, answer)


def bare(notebook: NotebookNode) -> None:
    """Code alone: no texts, no ids, no metadata."""
    notebook.cells = [new_code_cell(c.source) for c in notebook.cells if c.cell_type == "code"]
    for number, cell in enumerate(notebook.cells):
        cell.id = f"c{number}"
    notebook.metadata = {}


def backwards(notebook: NotebookNode) -> None:
    """The exercises in the other order, each under its own text."""
    heads = [at(notebook, name, "task") for name in EXERCISES] + [len(notebook.cells)]
    parts = [notebook.cells[a:b] for a, b in pairwise(heads)]
    notebook.cells[heads[0] :] = [cell for part in reversed(parts) for cell in part]


def colab(notebook: NotebookNode) -> None:
    notebook.metadata = {
        "colab": {"provenance": []},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.metadata = {"id": f"aB{number}", "colab": {"base_uri": "https://x.example"}}
        cell.pop("id")
    notebook.nbformat_minor = 0


def another_kernel(notebook: NotebookNode) -> None:
    notebook.metadata.kernelspec = {"name": "mine", "display_name": "My env", "language": "python"}
    notebook.metadata.widgets = {"application/vnd.jupyter.widget-state+json": {"state": {}}}


def outputs(notebook: NotebookNode) -> None:
    """Old outputs, errors among them, as of a notebook that was run in another order."""
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            cell.execution_count = 99 - number
            cell.outputs = [
                new_output("error", ename="NameError", evalue="x", traceback=["x"]),
                new_output("display_data", data={"image/svg+xml": "<svg/>", "text/html": "<b>"}),
            ]


def notes(notebook: NotebookNode) -> None:
    for place in (3, 1, 0):
        notebook.cells[place:place] = [
            new_markdown_cell("# Mine\n\n$\\sqrt{d_k}$ ![a](attachment:a.png) 注意力"),
            new_raw_cell("raw"),
            new_code_cell(""),
            new_code_cell("# nothing but a remark"),
        ]


def twice(notebook: NotebookNode) -> None:
    """A wrong try above the right one, which stands in the same exercise."""
    place = at(notebook, SOFTMAX)
    notebook.cells.insert(place, new_code_cell("def safe_softmax(table):\n    return table / 2"))
    place = at(notebook, VALUES)
    notebook.cells.insert(place, new_code_cell("exact_row = [0, 0, 0]\nrounded_sum = 1"))


def tried(notebook: NotebookNode) -> None:
    """Each answer tried out and plotted behind it, with scratch names that it uses, too."""
    place = at(notebook, SOFTMAX)
    notebook.cells.insert(place + 1, new_code_cell("table = safe_softmax(table)\ntable.sum(-1)"))
    place = at(notebook, VALUES)
    notebook.cells.insert(place + 1, new_code_cell("del score_row\nvalue_rows = 'done'"))


def version_4_2(notebook: NotebookNode) -> bytes:
    """As Jupyter wrote it ten years ago, and sorted."""
    notebook.nbformat_minor = 2
    notebook.metadata = {"anaconda-cloud": {}, "kernelspec": {"name": "conda-env"}, "signature": ""}
    for cell in notebook.cells:
        cell.pop("id")
        cell.metadata = {"collapsed": True, "scrolled": False, "slideshow": {"slide_type": "-"}}
    return json.dumps(notebook, sort_keys=True, indent=0).encode()


def vs_code(notebook: NotebookNode) -> None:
    notebook.metadata = {"vscode": {"interpreter": {"hash": "0" * 64}}}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"{number:08x}"
        cell.metadata = {"vscode": {"languageId": "python"}}
        if cell.cell_type == "code":
            cell.source = f"#%% cell {number}\n{cell.source}\n# %%"


def numbers_in_the_answer(notebook: NotebookNode) -> None:
    """The numbers' cell joined with that of the answer, as JupyterLab joins selected cells."""
    place = at(notebook, VALUES, "numbers")
    first, second = notebook.cells[place : place + 2]
    first.source = f"{first.source}\n\n{second.source}"
    del notebook.cells[place + 1]


def in_a_file(notebook: NotebookNode) -> None:
    """Answers written to files, and taken from there in three ways."""
    ways = {
        SOFTMAX: ["from mine0 import safe_softmax"],
        ROW: ["import mine1", "dropped_row = mine1.dropped_row"],
        TWO: ["%run mine2.py"],
    }
    for number, exercise in enumerate(ways):
        place = at(notebook, exercise)
        file = f"%%writefile mine{number}.py\n{notebook.cells[place].source}\n"
        notebook.cells[place : place + 1] = map(new_code_cell, [file, *ways[exercise]])


def shown_first(notebook: NotebookNode) -> None:
    """A value that is shown, and then taken by the name that IPython gives it."""
    place = at(notebook, WORDS)
    source = notebook.cells[place].source.replace("what_went_wrong", "found")
    both = [f"{source}\nfound", "what_went_wrong = _"]
    notebook.cells[place : place + 1] = map(new_code_cell, both)


def translated(notebook: NotebookNode) -> None:
    """The texts in another language, and no name at any cell."""
    for number, cell in enumerate(notebook.cells):
        cell.metadata, cell.id = {}, f"c{number}"
        if cell.cell_type == "markdown":
            cell.source = f"## 练习 {number}\n\n写一个函数。"


# What is done to a right notebook as a whole.
NOTEBOOKS: dict[str, Callable[[NotebookNode], bytes | None]] = {
    "from Windows": crlf,
    "line by line": by_lines,
    "tabs": tabs,
    "one cell": one_cell,
    "many cells": many_cells,
    "beside": beside,
    "bare": bare,
    "backwards": backwards,
    "from Colab": colab,
    "another kernel": another_kernel,
    "old outputs": outputs,
    "notes": notes,
    "twice": twice,
    "tried": tried,
    "of version 4.2": version_4_2,
    "from VS Code": vs_code,
    "numbers in the answer": numbers_in_the_answer,
    "in a file": in_a_file,
    "shown first": shown_first,
    "translated": translated,
}


def students() -> list[tuple[str, ...]]:
    """The oddities of each student: one for each exercise, or one of the whole notebook."""
    of = [[name for name in ANSWERS if exercise in ANSWERS[name]] for exercise in EXERCISES]
    groups = [tuple(filter(None, row)) for row in zip_longest(*of)]
    return groups + [(name,) for name in (*CELLS, *NOTEBOOKS)]


def hand_in(notebook: NotebookNode, oddities: tuple[str, ...]) -> bytes:
    """A right notebook in an odd form."""
    raw = None
    for oddity in oddities:
        for exercise, source in ANSWERS.get(oddity, {}).items():
            cell = notebook.cells[at(notebook, exercise)]
            if exercise == WORDS:
                source = cell.source.replace("what_went_wrong", "found") + source
            cell.source = source
        notebook.cells[1:1] = [new_code_cell(source) for source in CELLS.get(oddity, ())]
        raw = NOTEBOOKS[oddity](notebook) if oddity in NOTEBOOKS else raw
    return raw or json.dumps(notebook).encode()
