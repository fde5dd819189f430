"""What the page gets of attn_core.steps is what it says today, each operation in it."""

import json
from dataclasses import replace

from attn_core.steps.operation import REQUIRED
from attn_core.steps.operations import OPERATIONS
from generate import model_vectors, operations
from publishing.notebooks.outputs import vectors_differ


def stored():
    return json.loads(model_vectors.STORED.read_text(encoding="utf-8"))


def test_the_vectors_are_those_of_attn_core():
    wrong = vectors_differ(model_vectors.STORED, model_vectors.text())
    assert not wrong, f"python -m generate.model_vectors writes these again: {wrong}"


def test_an_operation_that_no_model_has_gets_vectors_by_itself(monkeypatch):
    other = replace(OPERATIONS["layer_norm"], name="other_norm")
    monkeypatch.setattr(model_vectors, "OPERATIONS", {"other_norm": other})
    for each in (other, other.backward_operation()):
        monkeypatch.setitem(OPERATIONS, each.name, each)
    monkeypatch.setattr(model_vectors, "MODELS", {})
    [(name, made)] = model_vectors.models().items()
    assert name == "other_norm"
    eps = [step["settings"]["eps"] for step in made["program"]["steps"][4:-2]]
    assert eps == [0.5, 0.5, 2.0]
    assert [one["changes"]["norms_off"] for one in made["passes"]] == [[], ["other_norm.0"]]


def test_the_page_has_the_list_of_operations():
    texts = operations.texts()
    said = {path: path.read_text(encoding="utf-8") for path in texts}
    assert said == texts, "python -m generate.operations writes it again"


def told(operation):
    """All in which two steps of an operation can differ, by its entry in the list."""
    least, most = operation.takes
    yield from (("inputs", n) for n in range(least, (least + 2 if most is None else most) + 1))
    for role, parameter in operation.parameters.items():
        yield role, True
        if parameter.is_optional or parameter.unless:
            yield role, False
    for name, setting in operation.settings.items():
        if not setting.is_switch:
            one_or_other = {True} if setting.default is REQUIRED else {True, False}
            kinds = {
                "flag": {True, False},
                "choice": set(setting.choices),
                "mask": {None, "causal", "window", "and"},
            }
            yield from ((name, value) for value in kinds.get(setting.kind, one_or_other))
    yield from (("switched", kind) for kind in operation.switches)


def shown(step):
    """The same, as a step in the vectors has it: of a number, whether it is not the default."""
    operation = OPERATIONS[step["operation"]]
    yield "inputs", len(step["inputs"])
    yield from ((role, role in step["parameters"]) for role in operation.parameters)
    for name, value in operation.completed(step["settings"]).items():
        setting = operation.settings[name]
        if setting.kind == "mask":
            yield name, value and value["kind"]
        elif setting.kind in ("flag", "choice"):
            yield name, value
        else:
            yield name, value != setting.default


def test_every_operation_is_in_them_with_each_of_its_settings():
    wanted = {
        (name, *case)
        for name, operation in OPERATIONS.items()
        if operation.is_on_page
        for case in told(operation)
    }
    seen = set()
    for model in stored().values():
        steps = {step["name"]: step for step in model["program"]["steps"]}
        seen |= {(step["operation"], *case) for step in steps.values() for case in shown(step)}
        for change in (one["changes"] for one in model["passes"]):
            for kind, named in change.items():
                for step in named:
                    name = step if isinstance(step, str) else step[0]
                    seen.add((steps[name]["operation"], "switched", kind))
    assert wanted <= seen, sorted(map(str, wanted - seen))
