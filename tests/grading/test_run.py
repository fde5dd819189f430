"""A notebook in the sandbox: when its answers are read, what it may use, and what an end costs."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest
import torch
from nbformat.v4 import new_code_cell

from exercises import Exercise
from grading import box
from grading.inside.border import Other
from grading.marks import Mark, mark
from grading.processes import family
from grading.remote import ASKED, ERROR, OWN, Gone
from grading.run import UNFINISHED, Run
from grading.sandbox import CannotGrade, Limits
from tests.grading.load import load
from tests.grading.ordinary import as_ordinary

ROOT = Path(__file__).parents[2]
FEW = Limits(cell=3, call=3, whole=60, memory=2**30)
BRIEF = Limits(cell=2, call=3, whole=60, memory=2**30)  # where the limit of a cell is waited for
BURN = "import time\nbegan = time.process_time()\nwhile time.process_time() < began + {}: pass"


def exercise(name: str, starter: str) -> Exercise:
    return Exercise(name, "01", name, 1, 1, "", starter, "", lambda seed: {}, lambda *_: [])


def run(*cells: str, places: dict[str, int] | None = None, limits: Limits = FEW, **starters: str):
    """A notebook's stay, with an exercise for each starter; its own cell is the last that names it.

    places: another own cell.
    """
    asked = tuple(exercise(name, starter) for name, starter in starters.items())
    own_places = {name: i for i, cell in enumerate(cells) for name in starters if name in cell}
    return Run([new_code_cell(cell) for cell in cells], asked, places or own_places, limits=limits)


def asked(ran: Run, number: int = 0):
    return ran.remote(ran.exercises[number])


def test_values_and_functions_are_asked_from_outside():
    cells = "x = 3", "def double(a):\n    a += a\n    return a", "def ask(f):\n    return f(2)"
    with run(*cells, double="double = ask = x = y = ...") as ran, asked(ran) as answer:
        kinds = [answer.kind(name) for name in ("x", "double", "y")]
        vector = torch.ones(2)
        assert kinds == ["value", "function", "missing"]
        assert answer.value("x") == 3
        assert answer.function("double")(vector).tolist() == [2, 2]
        assert vector.tolist() == [2, 2], "what the function did to its input is done here too"
        assert answer.function("ask")(lambda n: n + 5) == 7


def test_one_of_our_functions_is_given_only_so_much():
    cell = "import torch\ndef ask(f):\n    return f(torch.zeros(100_000))"
    with run(cell, ask="def ask(f): ...") as ran, asked(ran) as answer:
        ask = answer.function("ask")
        with pytest.raises(Exception, match="RuntimeError"):
            ask(lambda value: pytest.fail("it was called"))


def test_an_answer_that_changes_is_seen_and_a_rounding_is_none():
    count = "def {0}():\n    global n\n    n += {1}\n    return n"
    cells = ("n = 1", count.format("count", 1), count.format("creep", 1e-7))
    with run(*cells, count="def count(): ...", creep="def creep(): ...") as ran:
        for number, (name, changes) in enumerate((("count", True), ("creep", False))):
            with asked(ran, number) as answer:
                answer.function(name)()
                assert answer.changes is changes


def test_no_later_cell_changes_an_answer():
    cells = (
        "def helper(n): return 2 * n\ndef twice(n): return helper(n)\ntable = [1]",
        "def helper(n): return 0\ntable.append(2)\ntwice = None",
        "for table in range(3): pass\ndel helper",
    )
    names = {"twice": "def twice(n): ...\ntable = ..."}
    with run(*cells, places={"twice": 0}, **names) as ran, asked(ran) as answer:
        assert answer.value("table") == [1]
        assert answer.function("twice")(4) == 8
        assert not answer.late


FAILED = {
    "def a(n:": ("wrong", "its cell raised SyntaxError"),
    "b = nobody": ("wrong", "its cell raised NameError"),
    "raise type('c \\x1b[2J', (Exception,), {})": ("wrong", f"its cell raised {OWN}"),
    "d = 1\nimport os\nos._exit(0)": ("stopped", "stopped: its process ended"),
    "def e(n): ...": ("", ""),
}


def test_an_own_cell_that_failed_is_not_called_blank():
    starters = {name: f"def {name}(n): ..." for name in "abcde"}
    with run(*FAILED, places={name: n for n, name in enumerate(starters)}, **starters) as ran:
        assert [ran.failed(question) for question in ran.exercises] == [*FAILED.values()]


def test_what_is_missing_is_looked_for_at_the_end():
    cells = ("def twice(n): return helper(n)", "def helper(n): return 2 * n", "table = 5")
    names = {"twice": "def twice(n): ...\ntable = ..."}
    with run(*cells, places={"twice": 0}, **names) as ran, asked(ran) as answer:
        assert answer.value("table") == 5
        assert answer.function("twice")(4) == 8
        assert answer.late


def test_a_cell_that_came_too_early_is_run_again_and_then_read():
    cells = ("x = y + 1", "y = 1", "x = 0")
    with run(*cells, places={"x": 0}, x="x = ...") as ran, asked(ran) as answer:
        assert answer.value("x") == 2
        assert ran.flags == ["cells are not in the order in which they run"]


def test_nothing_of_ours_is_among_the_names_and_nothing_of_theirs_is_used():
    names = "sorted(name for name in globals() if not name.startswith('_'))"
    ours = ["In", "Out", "exit", "get_ipython", "open", "quit"]  # IPython's, as in Jupyter
    cells = (f"x = {names}", "dict = exec = os = signal = get_ipython = list = None", "y = 2")
    with run(*cells, x="x = ...\ny = ...") as ran, asked(ran) as answer:
        assert answer.value("x") == ours
        assert answer.value("y") == 2


@pytest.mark.parametrize(
    "number", [1, *(pytest.param(number, marks=pytest.mark.slow) for number in (2, 3))]
)
def test_what_a_cell_takes_with_it_costs_no_other(number):
    cells = ("x = 1", *["import os; os._exit(3)"] * number, "y = x + 1")
    with run(*cells, y="y = ...") as ran, asked(ran) as answer:
        assert ran.flags == [f"its process ended in cell {2 + n}" for n in range(number)]
        assert answer.value("y") == 2


@pytest.mark.gate
def test_the_time_of_a_submission_ends_and_what_was_read_is_kept():
    whole = Limits(cell=3, call=3, whole=5, memory=2**30)
    cells = ("x = 1\ndef f(n): return n", *["import time; time.sleep(2)"] * 4, "y = 2")
    with run(*cells, limits=whole, x="x = ...\ndef f(n): ...", y="y = ...") as ran:
        assert ran.flags.count(UNFINISHED) == 1
        assert ran.limited
        with asked(ran) as answer:
            assert answer.value("x") == 1
            assert answer.function("f")(3) == 3
        with asked(ran, 1) as answer:
            assert answer.gone


@pytest.mark.slow
def test_time_is_the_processors():
    """Who needs two thirds of the time gets it, be the machine so busy that it takes far more."""
    function = f"def f():\n{textwrap.indent(BURN.format(0.7), '    ')}\n    return 7"
    cells = ("x = 1", BURN.format(1.4), function)
    short = Limits(cell=2, call=2, whole=60, memory=2**30)
    with load(16), run(*cells, limits=short, f="def f(): ...") as ran, asked(ran) as answer:
        assert answer.function("f")() == 7
        assert ran.flags == []


@pytest.mark.slow
def test_hidden_work_ends_on_a_busy_machine_too():
    """Beside one that does little but wait, work goes on in processes whose ends nobody sees."""
    function = """def f():
        import os, signal
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        if os.fork() == 0:
            os.nice(19)
            while True: pass
        while True:
            if os.fork() == 0:
                sum(range(10**6)); os._exit(0)
    """
    short = Limits(cell=2, call=2, whole=60, memory=2**30)
    with load(16), run(function, limits=short, f="def f(): ...") as ran, asked(ran) as answer:
        f = answer.function("f")
        with pytest.raises(Gone, match="time"):
            f()


@pytest.mark.gate
def test_a_sleeper_ends():
    cells = "import time; time.sleep(1e9)", "x = 1"
    with run(*cells, limits=BRIEF, x="x = ...") as ran, asked(ran) as answer:
        assert ran.flags == ["time in cell 1"]
        assert answer.value("x") == 1


def test_a_function_that_ends_costs_no_other():
    cells = ("def f(): import os; os._exit(1)", "def g(): return 1")
    with run(*cells, f="def f(): ...", g="def g(): ...") as ran:
        with asked(ran) as answer, pytest.raises(Gone, match="its process ended"):
            answer.function("f")()
        with asked(ran, 1) as answer:
            assert answer.function("g")() == 1


def assert_only_snapshots(ran: Run) -> None:
    """In the sandbox there is its first process, and whoever speaks on a link that is open."""
    speak = {link.process for link in ran.box.links if link.socket.fileno() >= 0}
    others = {*family(ran.box.process.pid)[1:]} - speak
    processes = [psutil.Process(pid) for pid in others if psutil.pid_exists(pid)]
    _, alive = psutil.wait_procs(processes, timeout=60)
    assert alive == []


def test_what_a_function_leaves_behind_is_ended_with_it():
    """And what a cell leaves behind, before a hidden input goes in."""
    stays = "import os\nif os.fork() == 0:\n    while True: pass"
    function = f"def f():\n{textwrap.indent(stays, '    ')}\n    return 1"
    with run(stays, function, "def g(): return 2", f="def f(): ...", g="def g(): ...") as ran:
        assert_only_snapshots(ran)
        with asked(ran) as answer:
            assert answer.function("f")() == 1
        assert_only_snapshots(ran)
        with asked(ran, 1) as answer:
            assert answer.function("g")() == 2


def test_nobody_inside_ends_the_first_process():
    """Its end would be that of all, and Python obeys an interrupt."""
    function = "import os, signal\ndef f():\n    os.kill(1, signal.SIGINT)\n    return 1"
    with run(function, "def g(): return 2", f="def f(): ...", g="def g(): ...") as ran:
        with asked(ran) as answer:
            assert answer.function("f")() == 1
        with asked(ran, 1) as answer:
            assert answer.function("g")() == 2


def test_nobody_inside_writes_into_the_first_process():
    cells = (
        "import os",
        "x = os.access('/proc/1/mem', os.W_OK), os.access('/proc/self/mem', os.W_OK)",
    )
    with run(*cells, x="x = ...") as ran, asked(ran) as answer:
        assert answer.value("x") == (False, True)


def test_an_alarm_rings_in_no_other_cell():
    alarm = (
        "import signal\nsignal.signal(signal.SIGPROF, lambda *_: 1 / 0)\n"
        "signal.setitimer(signal.ITIMER_PROF, 0.5)"
    )
    with run(alarm, BURN.format(1), "x = 1", x="x = ...") as ran, asked(ran) as answer:
        assert (answer.value("x"), ran.flags) == (1, [])
        assert "ZeroDivisionError" not in "".join(out.text for out in ran.cells[1].outputs)


def test_what_is_shown_is_text_and_pictures():
    cells = (
        "print(1)\nimport sys\nprint(2, file=sys.stderr)\nimport os\nos.write(1, b'3\\n')\n4",
        "from IPython.display import *\ndisplay(HTML('<b>'))\nprint('a')\n"
        "display(Image(b'\\x89PNG1', format='png'))\nprint('b')\n1 / 0",
    )
    with run(*cells, x="x = ...") as ran:
        (first,) = ran.cells[0].outputs
        assert first.text.split() == ["1", "2", "3", "4"]
        before, picture, after = ran.cells[1].outputs
        assert before.text == "<IPython.core.display.HTML object>\na\n"
        assert set(picture.data) == {"image/png"}
        assert after.text.split("\n")[:2] == ["b", "ZeroDivisionError: division by zero"]


def test_a_value_that_is_not_taken_is_said():
    cells = ("import torch\nx = torch.zeros(10**7)", "y = object()")
    with run(*cells, x="x = ...\ny = ...") as ran, asked(ran) as answer:
        assert isinstance(answer.value("x"), Other)
        assert "too large" in answer.value("x").said
        assert answer.value("y").said == "a value of another kind"


TENSORS = {
    "masked.masked_tensor(*__import__('torch').eye(2)[:, None].bool())": (
        "numbers of which some are masked"
    ),
    "nested.nested_tensor([[1.0], [1.0, 2.0]])": "a nested tensor",
    "nested.nested_tensor([[1.0]], layout=__import__('torch').jagged)": "a nested tensor",
    "zeros(1, device='meta')": "a tensor on the meta device, without numbers",
}


NOT_TAKEN = {
    "[{'a': object()}]": "a value of another kind",
    "__import__('torch').zeros(10**7)": "an array too large, or of no numbers",
    "{1, 2}": "a set has no order: make it a list",
    "__import__('numpy').ma.array([1, 2], mask=[0, 1])": "numbers of which some are masked",
    **{f"__import__('torch').{code}": why for code, why in TENSORS.items()},
}
HIDDEN = {
    "raise KeyError": [f"raised {ERROR}"],
    "__import__('os')._exit(1)": [f"stopped: {ASKED}"],
    "return {1, 2}": [],
}


def question(name: str) -> Exercise:
    """A function that is asked 1, and 2 where nobody sees it."""
    starter, solution = f"def {name}(n): ...", f"def {name}(n): return n"
    return Exercise(
        *(name, "01", name, 1, 1, "", starter, solution, lambda seed: {}),
        checks=lambda names, parameters: [("it is one", names[name](1) == 1)],
        probes=lambda parameters: [(2,)],
    )


@pytest.fixture(scope="module")
def marks() -> dict[str, Mark]:
    """Of each of them what a function gets that does it: all are functions of one notebook."""
    bodies = [f"    return {gives}" for gives in NOT_TAKEN]
    bodies += [f"    if n == 2: {does}\n    return n" for does in HIDDEN]
    questions = [question(f"f_{number}") for number in range(len(bodies))]
    pairs = zip(questions, bodies, strict=True)
    cells = [new_code_cell(f"def {one.id}(n):\n{body}") for one, body in pairs]
    places = {one.id: number for number, one in enumerate(questions)}
    made = []
    with Run(cells, tuple(questions), places, limits=FEW) as ran:
        for number, one in enumerate(questions):
            with asked(ran, number) as answer:
                made.append(mark(one, answer, [1]))
    return dict(zip([*NOT_TAKEN, *HIDDEN], made, strict=True))


@pytest.mark.parametrize(("gives", "why"), NOT_TAKEN.items())
def test_why_what_a_function_gives_is_not_taken_is_said(marks, gives, why):
    outcome = marks[gives]
    assert (outcome.status, outcome.flags) == ("wrong", [f"not taken: {why}"])


@pytest.mark.parametrize(("does", "flags"), HIDDEN.items())
def test_what_a_hidden_input_does_is_not_told(marks, does, flags):
    """Which of so many things it is would be bits of that input."""
    assert marks[does].flags == flags


def test_a_sandbox_that_does_not_start_is_our_fault(monkeypatch):
    monkeypatch.setattr(box, "START", "raise SystemExit('no runner here')")
    with pytest.raises(CannotGrade, match=r"did not start .*no runner here"), run("x = 1"):
        pass


CROWDED = """
import threading
from tests.grading.test_run import asked, run

hold = threading.Event()
for _ in range(300):
    threading.Thread(target=hold.wait, daemon=True).start()
with run("x = 1", "def f(n): return n", x="x = ...", f="def f(n): ...") as ran:
    with asked(ran) as answer:
        print(answer.value("x"), ran.flags)
    with asked(ran, 1) as answer:
        print(answer.function("f")(3))
"""


@pytest.mark.slow
@pytest.mark.parametrize("who", [list, as_ordinary], ids=["as I am", "as an ordinary user"])
def test_what_else_its_user_runs_takes_no_room_from_it(who):
    """300 threads of the same user, which an ordinary limit on processes would count."""
    done = subprocess.run(
        who([sys.executable, "-c", CROWDED]), cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.stdout.split("\n")[:2] == ["1 []", "3"], done.stderr


def test_a_sandbox_that_takes_its_time_to_begin_is_waited_for(monkeypatch):
    """On a busy machine bubblewrap is looked at before there is anything in it."""
    early = iter(range(5))
    monkeypatch.setattr(box, "LOOK", 0.0)
    monkeypatch.setattr(
        box, "family", lambda first: family(first) if next(early, None) is None else []
    )
    with run("x = 3", answer="x = ...") as ran, asked(ran) as answer:
        assert answer.value("x") == 3


def test_what_has_not_gone_inside_yet_is_not_counted(monkeypatch):
    """Before bubblewrap changes its root, the files there are the machine's own."""
    monkeypatch.setattr(box, "LOOK", 0.0)

    def names(self, processes):
        return 0 if self.base else 10**9

    monkeypatch.setattr(box.Box, "names", names)
    with run("x = 3", answer="x = ...") as ran, asked(ran) as answer:
        assert answer.value("x") == 3


def test_a_sandbox_whose_first_process_ends_is_told(monkeypatch):
    monkeypatch.setattr(box.Sandbox, "start", lambda *_: subprocess.Popen(["true"]))
    with pytest.raises(CannotGrade, match=r"the sandbox did not start \(its process ended\)"):
        box.Box(Limits(), 1, float("inf"))
