"""The workflows can be read, pin what they use, call what exists, and need no secret."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from machine import promised

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
PINNED = re.compile(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+")


def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


def made(step: dict, job: dict) -> list[str]:
    """The targets that a step makes, in all the combinations of its job's matrix."""
    command = step.get("run", "")
    if not command.startswith("make "):
        return []
    goals = set()
    for values in job.get("strategy", {}).get("matrix", {}).get("include", [{}]):
        words = re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda at, v=values: v[at[1]], command)
        goals |= {word for word in words.split()[1:] if word[0] != "-" and "=" not in word}
    return sorted(goals)


def faults(text: str) -> list[str]:
    """What is wrong with a workflow, a sentence each."""
    workflow = yaml.safe_load(text)
    wrong = ["it reads a secret"] if "secrets." in text else []
    jobs = workflow["jobs"]
    for name, job in jobs.items():
        needed = job.get("needs", [])
        for other in [needed] if isinstance(needed, str) else needed:
            if other not in jobs:
                wrong.append(f"{name} needs {other}, which is no job")
        for step in job["steps"]:
            if "uses" in step and not PINNED.fullmatch(step["uses"]):
                wrong.append(f"{step['uses']} is not pinned to a version")
            wrong += [
                f"make {target} is no target"
                for target in made(step, job)
                if target not in targets()
            ]
            command = step.get("run", "").split()
            if command and command[0].startswith("./") and not (ROOT / command[0]).is_file():
                wrong.append(f"{command[0]} is no file")
    return wrong


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yml")), ids=lambda path: path.name)
def test_a_workflow(path):
    assert faults(path.read_text(encoding="utf-8")) == []


def test_a_push_runs_every_group():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    groups = re.findall(r"^(?:QUICK|GATE|SLOW) := (.*)$", makefile, re.MULTILINE)
    workflow = yaml.safe_load((FOLDER / "test.yml").read_text(encoding="utf-8"))
    assert workflow[True].keys() == {"push", "pull_request"}, "YAML reads `on` as True"
    job = workflow["jobs"]["test"]
    run = [target for step in job["steps"] for target in made(step, job)]
    assert set(run) == {"book", "lint", *" ".join(groups).split()}


def test_what_is_published_was_tested_in_the_same_job():
    publish = yaml.safe_load((FOLDER / "publish.yml").read_text(encoding="utf-8"))
    commands = [step.get("run", "") for step in publish["jobs"]["build"]["steps"]]
    assert commands.index("./.ci/run") < [c.startswith("make release") for c in commands].index(
        True
    )
    assert publish["jobs"]["pages"]["needs"] == publish["jobs"]["files"]["needs"] == "build"


@pytest.mark.parametrize(
    ("step", "word"),
    [
        ("uses: actions/checkout@v4", "not pinned"),
        ("run: make rubbish", "no target"),
        ("run: ./no/such/file", "no file"),
        ("run: echo ${{ secrets.TOKEN }}", "secret"),
    ],
)
def test_each_fault_is_seen(step, word):
    (sentence,) = faults(f"jobs:\n  a:\n    steps:\n      - {step}\n")
    assert word in sentence


def combinations() -> list[dict[str, str]]:
    workflow = yaml.safe_load((FOLDER / "test.yml").read_text(encoding="utf-8"))
    return workflow["jobs"]["library"]["strategy"]["matrix"]["include"]


def test_every_python_that_is_promised_is_tested_and_no_other_is_promised():
    assert sorted({combination["python"] for combination in combinations()}) == promised.pythons()
    assert promised.project()["requires-python"] == f">={promised.pythons()[0]}"


def test_the_oldest_and_the_newest_torch_are_tested():
    """The newest on each Python; the oldest on the oldest, as newer ones have no wheels of it."""
    torches = {combination["python"]: [] for combination in combinations()}
    for combination in combinations():
        torches[combination["python"]].append(combination["torch"])
    (newest,) = {torch for versions in torches.values() for torch in versions} - {"oldest"}
    first, *others = torches.values()
    assert first == ["oldest", newest]
    assert others == [[newest]] * len(others)
    pinned = re.search(r"^torch==(.*)$", (ROOT / "requirements.txt").read_text(), re.MULTILINE)[1]
    assert numbers(promised.oldest()["torch"]) < numbers(pinned) <= numbers(newest)


def numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def test_the_oldest_of_everything_can_be_named():
    oldest = promised.oldest()
    assert [f"{name}>={version}" for name, version in oldest.items()] == promised.packages()


def test_a_commit_is_asked_by_the_same_ruff():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (asked,) = (repo["rev"] for repo in hooks["repos"] if "ruff" in repo["repo"])
    pinned = (ROOT / "requirements-test.txt").read_text(encoding="utf-8")
    assert f"ruff=={asked.removeprefix('v')}\n" in pinned


def test_the_addresses_of_the_package_are_the_repositorys():
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    repository = settings["repository"]["url"]
    assert all(url.startswith(repository) for url in project["urls"].values())
