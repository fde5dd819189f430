"""Who may import whom: folders, modules of attn_core, the page's; `import attn_core` is light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from attn_core.steps.operations import OPERATIONS
from machine import promised
from tests import page_modules

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "attn_core"

# folder: those that it stands on. A module may import these, what they stand on, and its folder;
# "publishing" has the commands, which are in none of its folders.
FOLDERS = {
    "attn_core": [],
    "machine": [],
    "examples": ["attn_core"],
    "exercises": ["attn_core"],
    "grading": ["exercises"],
    "benchmarks": ["attn_core", "machine"],
    "publishing.translation": ["publishing.prose"],
    "publishing.notebooks": ["publishing.translation"],
    "publishing.site": ["publishing.notebooks"],
    "publishing.prose": ["exercises", "machine"],
    "publishing.paper": ["publishing.translation", "machine"],
    "publishing": ["publishing.notebooks", "publishing.prose", "publishing.paper"],
    "generate": ["publishing.notebooks"],
    "checks": ["publishing.site", "machine"],
}

# module: the modules that it stands on. It may import these, what they stand on, and no other.
STANDS_ON = {
    "precision": [],
    "compiling": [],
    "checks": ["precision"],
    "devices": ["checks"],
    "digits": [],
    "toy": [],
    "masks": ["checks"],
    "bias": ["masks"],
    "dropout": ["checks"],
    "dice": ["dropout"],
    "stages": ["checks"],
    "stages_backward": ["stages"],
    "threads": [],
    "pooling": ["threads"],
    "rotary": ["checks"],
    "source": ["rotary"],
    "recognising": ["bias"],
    "call": ["bias", "dropout"],
    "observing": ["call"],
    "stamps": [],
    "engines": ["call", "stages", "pooling", "compiling"],
    "derive": ["engines"],
    "asking": ["call"],
    "traced": ["derive", "stamps", "source"],
    "arithmetic": ["traced", "digits"],
    "gradients": ["arithmetic", "asking", "stages_backward"],
    "record": ["gradients"],
    "api": ["record", "observing"],
    "watching": ["api", "recognising"],
    "sweeps": ["api"],
    "views": [
        "arithmetic",
        "diagnosis",
        "learning",
        "steps",
    ],  # the explorer says what a mistake does
    "modules": ["api"],
    "layers": ["modules"],
    "transformer": ["layers"],
    "steps": ["layers"],
    "translators": ["transformer", "steps", "dice"],
    "language": ["transformer", "steps"],
    "pretrained": ["language"],
    "learning": ["language", "watching", "dice"],
    "mistakes": ["learning", "toy", "digits"],
    "diagnosis": ["mistakes"],
}

# What comes from outside; the standard library is free.
EVERYWHERE = {"torch", "numpy", "jaxtyping"}
ONLY_IN = {
    "views": {
        "drawsvg",
        "resvg_py",
        "matplotlib",
        "PIL",
        "anywidget",
        "traitlets",
        "ipywidgets",
        "IPython",
    },
    "engines": {"triton"},
    "pretrained": {"safetensors", "tokenizers"},
}


def module_of(path: Path) -> str:
    """The row of a file: a package is one row, with all that lies in it."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def reach(module: str, stands_on: dict[str, list[str]] = STANDS_ON) -> set[str]:
    """All that a module stands on, through the chain, and itself."""
    return {module}.union(*(reach(below, stands_on) for below in stands_on[module]))


def imports(source: str) -> set[str]:
    """The modules that a text imports: "attn_core.x" for ours, the top name for others."""
    modules = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            modules.add(".".join(parts[: 2 if parts[0] == "attn_core" else 1]))
    return modules


def forbidden(module: str, source: str) -> set[str]:
    """What a text may not import as a part of this module."""
    allowed = {f"attn_core.{name}" for name in reach(module)}
    allowed |= EVERYWHERE | ONLY_IN.get(module, set()) | set(sys.stdlib_module_names)
    return imports(source) - allowed


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {
    dotted(path): path.read_text(encoding="utf-8")
    for top in {name.partition(".")[0] for name in FOLDERS}
    for path in (ROOT / top).rglob("*.py")
}
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_follow_the_table(path):
    assert module_of(path) in STANDS_ON, "a new module needs a row in the table"
    assert forbidden(module_of(path), path.read_text(encoding="utf-8")) == set()


def test_a_forbidden_import_is_seen():
    assert forbidden("masks", "from attn_core.record import AttentionTrace") == {"attn_core.record"}
    assert forbidden("record", "def f():\n    import matplotlib.pyplot as plt") == {"matplotlib"}
    assert forbidden("views", "import matplotlib\nfrom attn_core.stages import scores") == set()


def circles(stands_on: dict[str, set[str]]) -> list[set[str]]:
    """The modules that stand on themselves, each with those that it meets on the way.

    >>> circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [{"b", "c"}]
    True
    """

    def below(module: str) -> set[str]:
        reached, todo = set(), [module]
        while todo:
            new = stands_on[todo.pop()] - reached
            reached |= new
            todo += new
        return reached

    under = {module: below(module) for module in stands_on}
    distinct = []
    for module, met in under.items():
        circle = {other for other in met if module in under[other]}
        if module in met and circle not in distinct:
            distinct.append(circle)
    return distinct


def test_no_circle():
    """Inside a package either, wherever in a module the import stands."""
    stands_on = {module: imported(text) & {*MODULES} for module, text in MODULES.items()}
    assert stands_on["attn_core.engines.choose"] >= {"attn_core.engines.triton"}
    assert circles(stands_on) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_import_downwards(folder):
    modules = {name: text for name, text in MODULES.items() if folder_of(name) == folder}
    assert modules
    wrong = {name: above(name, text) for name, text in modules.items()}
    assert {name: names for name, names in wrong.items() if names} == {}


def test_the_path_is_changed_only_for_a_copy_and_in_the_sandbox():
    changing = {name for name, text in MODULES.items() if "sys.path" in text}
    in_the_sandbox = {"grading.box", "grading.inside.runner", "grading.seams"}
    assert changing == {"checks.page_runs", *in_the_sandbox}


def test_every_folder_has_a_row():
    with_code = {path.parent.name for path in ROOT.glob("[a-z]*/*.py")}
    assert with_code == {name.partition(".")[0] for name in FOLDERS} | {"tests"}


def test_an_import_of_what_is_above_is_seen():
    name = "publishing.translation.words"
    assert above(name, "from publishing import ROOT\nfrom exercises import load") == set()
    assert above(name, "def f():\n    from publishing import site") == {"publishing.site"}
    assert above("machine.node", "import tests.engines") == {"tests.engines"}


def folder_of(name: str) -> str:
    """
    >>> [folder_of(name) for name in ("publishing.sync", "publishing.site.switch", "re")]
    ['publishing', 'publishing.site', '']
    """
    known = [folder for folder in FOLDERS if f"{name}.".startswith(f"{folder}.")]
    return max(known, key=len, default="")


def above(name: str, source: str) -> set[str]:
    """What of ours this module may not import; a package that it is in, it may."""
    ours = {other for other in imported(source) if (ROOT / other.partition(".")[0]).is_dir()}
    allowed = reach(folder_of(name), FOLDERS)
    return {
        other
        for other in ours
        if folder_of(other) not in allowed and not name.startswith(f"{other}.")
    }


def imported(source: str) -> set[str]:
    """What a text imports: modules, and what may be one, by their dotted names.

    A relative one stays in its folder: what runs in the sandbox, where the folder has another name.
    """
    modules = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            modules |= {n for n in names if is_module(n)} or {node.module}
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
    return modules


def is_module(name: str) -> bool:
    place = ROOT / Path(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


def test_import_is_light():
    """No picture, no widget, no compiler for who only wants the function."""
    heavy = ["matplotlib", "anywidget", "ipywidgets", "IPython", "triton", "attn_core.views"]
    code = f"import sys, attn_core; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


WITHOUT_VIEWS = """
import sys
from importlib import import_module

sys.modules.update(dict.fromkeys(("anywidget", "ipywidgets", "jinja2", "matplotlib", "traitlets")))
for name in sys.argv[1:]:
    import_module(name)
import torch
from attn_core import trace
print(trace(*torch.ones(3, 2, 2)).stage("weights").tolist())
try:
    import attn_core.views
except ModuleNotFoundError as error:
    print(error)
"""


def test_the_library_needs_nothing_that_its_pictures_need():
    names = map(dotted, FILES)
    others = [name for name in names if "views" not in name and "triton" not in name]
    command = [sys.executable, "-c", WITHOUT_VIEWS, *others]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    extra = promised.project()["optional-dependencies"]["views"]
    names = " ".join(requirement.partition(">=")[0] for requirement in extra)
    assert said == (
        f"[[0.5, 0.5], [0.5, 0.5]]\nattn_core.views needs anywidget: pip install {names}\n"
    )


def test_entry_is_short():
    assert len((PACKAGE / "__init__.py").read_text(encoding="utf-8").splitlines()) < 25


def test_no_drawer():
    assert [path.stem for path in FILES if path.stem in {"utils", "common", "helpers"}] == []


# The page's script, by layer: what a module may import beside its own. A whole model stands on one
# attention, never the other way round: its stations are explorers. "" is the top.
ONE = {"ui", "core", "words"}
MODEL = {"core/model", "core/model/operations"}
WHOLE = ONE | MODEL | {"ui/model", "explorer"}
PAGE_STANDS_ON = {
    "words": set(),
    "core": {"words"},
    "core/model/operations": {"core", "words"},
    "core/model": {"core/model/operations", "core", "words"},
    "core/language": {"core/model", "core/model/operations", "core", "words"},
    "core/training": {"core", "words"},
    "ui": {"core", "words"},
    "explorer": ONE,
    "ui/model": WHOLE - {"ui/model"},
    "features": ONE,
    "features/machine": WHOLE,
    "ui/language": WHOLE | {"core/language"},
    "features/language": WHOLE | {"core/language", "ui/language"},
    "ui/training": ONE | {"core/training", "explorer"},
    "features/training": ONE | {"core/training", "ui/training"},
    "": {"features", "explorer", *ONE},
}
SCRIPTS = sorted(
    path.relative_to(page_modules.PAGE).with_suffix("").as_posix()
    for path in page_modules.PAGE.rglob("*.js")
    if path.parent.name != "test"
)
BROWSER = re.compile(r"\b(?:document|window|location|navigator|localStorage)\b[.?\[]")


def layer_of(name: str) -> str:
    """
    >>> [layer_of(name) for name in ("core/model/pass", "features/machine_chinese", "main")]
    ['core/model', 'features/machine', '']
    """
    known = [layer for layer in PAGE_STANDS_ON if layer and f"{name}/".startswith(layer)]
    return max(known, key=len, default="")


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_import_downwards(name):
    own = layer_of(name)
    assert own or "/" not in name, "a new folder needs a row in the table"
    below = {layer_of(other) for other in page_modules.imports(name)}
    assert below <= PAGE_STANDS_ON[own] | {own}


def test_no_circle_in_the_script():
    assert circles({name: set(page_modules.imports(name)) for name in SCRIPTS}) == []


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name.startswith(("core/", "words/"))])
def test_the_core_needs_no_browser(name):
    assert not BROWSER.search(page_modules.read(name))
    assert BROWSER.search("if (document.hidden) go();")


def test_a_model_knows_no_operation_by_name():
    names = [name for name, operation in OPERATIONS.items() if operation.is_on_page]
    named = re.compile(rf'["`]({"|".join(names)})["`]')
    scripts = [name for name in SCRIPTS if layer_of(name) in ("core/model", "ui/model")]
    found = {name: named.findall(page_modules.read(name)) for name in scripts}
    # There it is one of the ways in which a translation changes.
    assert {name: words for name, words in found.items() if words} == {
        "ui/model/switches": ["words"]
    }


def test_the_explorer_knows_no_feature_by_name():
    assert not any(layer_of(other) == "features" for other in page_modules.imports("explorer"))
