"""The checker of shapes and types at run time (a pytest plugin beside jaxtyping's).

A whole number is a float, as PEP 484 has it. jaxtyping's own wrapper binds the arguments of each
call to a signature and checks them twice, which took half of the time of all tests of the library.
"""

from contextlib import suppress
from dataclasses import is_dataclass
from functools import partial, wraps

import jaxtyping
import pytest
from beartype import BeartypeConf, beartype

shapes_of_one_call = partial(jaxtyping.jaxtyped, "context")
typed = beartype(conf=BeartypeConf(is_pep484_tower=True, violation_type=TypeError))


def checked(made):
    """A function, checked when it is called; a dataclass, when one is made."""
    if isinstance(made, type):
        if is_dataclass(made) and "__init__" in vars(made):
            made.__init__ = checked(made.__init__)
        return made
    written, made.__annotations__ = made.__annotations__, known(made)
    function = typed(made)
    made.__annotations__ = written

    @wraps(made)
    def within(*args, **kwargs):
        with shapes_of_one_call():
            return function(*args, **kwargs)

    return within


def known(function):
    """The annotations, but for those with a name that stands further down or is not imported."""
    hints = {}
    for name, hint in function.__annotations__.items():
        with suppress(NameError):
            hints[name] = eval(hint, function.__globals__) if isinstance(hint, str) else hint
    return hints


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests():
    """What jaxtyping's hook puts before each function and class of the modules."""
    jaxtyping.jaxtyped = lambda typechecker: typechecker
