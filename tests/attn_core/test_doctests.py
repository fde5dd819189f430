"""Every example in every docstring of attn_core runs and gives what stands below it.

Those of the views and of Triton's kernels are run by pytest itself.
"""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import attn_core

MODULES = [
    module.name
    for module in pkgutil.walk_packages(attn_core.__path__, "attn_core.")
    if not module.name.startswith(("attn_core.views", "attn_core.engines.triton"))
]


def docstrings(module):
    """Those of the module, its classes, their methods, and its functions.

    doctest's own finder leaves out what a decorator has wrapped, which jaxtyping does here.
    """
    yield module.__name__, module.__doc__
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(thing) or inspect.isroutine(thing):
            yield name, thing.__doc__
        if inspect.isclass(thing):
            for part, member in vars(thing).items():
                yield f"{name}.{part}", getattr(member, "__doc__", None)


EXAMPLES = [
    (module, name)
    for module in MODULES
    for name, text in docstrings(importlib.import_module(module))
    if text and ">>>" in text
]


@pytest.mark.parametrize(("module", "name"), EXAMPLES)
def test_example(module, name):
    module = importlib.import_module(module)
    text = dict(docstrings(module))[name]
    test = doctest.DocTestParser().get_doctest(text, dict(vars(module)), name, None, 0)
    assert test.examples
    report = []
    doctest.DocTestRunner().run(test, out=report.append)
    assert not report, "".join(report)


def test_what_a_reader_imports_opens_with_an_example():
    shown = {name for _, name in EXAMPLES}
    public = set(attn_core.__all__) - {"Projection"}
    assert public <= shown
    assert {"fixed", "plain", "philox", "scores", "weights", "output", "journey"} <= shown
