"""A course in Chinese: what a student or an instructor reads of it, and nothing in the sandbox."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections import Counter

import nbformat
import pytest
from nbgrader.api import Gradebook

import exercises
from exercises.messages import Messages
from grading import make as making
from grading import words
from grading.box import RUNNER
from grading.course import Course, start
from grading.inside.border import REASONS, Other
from grading.keys import rubric
from grading.marks import PROBES, Mark
from grading.notebooks import build, report, task
from grading.report import heading, localized
from grading.sandbox import CannotGrade
from grading.submission import digest
from grading.words import points
from tests.grading.conftest import hand_in, run
from tests.grading.test_course import ROOT
from tests.grading.test_handouts import NUMBER, seeds

ZH = words.words("zh")
KNOWN = exercises.load()
CODE = re.compile(r"`[^`]*`")
ENGLISH = re.compile(r"\b[A-Za-z]+ [a-z]+ [a-z]+\b")
TEXT = "06-mask-in-training"


def english(text: str) -> list[str]:
    """Three English words in a row, outside code."""
    return ENGLISH.findall(CODE.sub("", text))


def outside(text: str) -> str:
    """What a page says outside its code, its style and its tags."""
    text = re.sub(r"<(style|script|pre)\b.*?</\1>", "", text, flags=re.DOTALL)
    return re.sub(r"<[^>]*>", " ", text)


def contents(text: str) -> tuple[Counter, Counter]:
    """The code of a task, and its numbers beside it; without the line that says how hard it is."""
    text = "\n".join(line for line in text.split("\n") if not line.startswith("<span"))
    numbers = (number.rstrip(",") for number in NUMBER.findall(CODE.sub(" ", text)))
    return Counter(CODE.findall(text)), Counter(numbers)


@pytest.fixture
def course(tmp_path):
    start(tmp_path, ["03", "06"], "zh")
    return Course.open(tmp_path)


def test_a_course_keeps_its_language(course):
    text = (course.folder / "course.toml").read_text(encoding="utf-8")
    assert 'language = "zh"' in text
    assert english(re.sub(r"^exercises = .*", "", text, flags=re.MULTILINE)) == []
    assert course.language == "zh"
    start(course.folder, ["03"], "en")
    assert (course.folder / "course.toml").read_text(encoding="utf-8") == text


def test_a_course_without_a_language_is_english(course):
    path = course.folder / "course.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"^language = .*\n", "", text, flags=re.MULTILINE), encoding="utf-8")
    assert Course.open(course.folder).say("right") == "right"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("fr", "LANGUAGE must be en or zh, got 'fr'"),
        ("en", 'the language of this course is "zh": for another one, write language = "en"'),
    ],
)
def test_another_language_is_refused_in_a_sentence(course, monkeypatch, asked, said):
    monkeypatch.setattr(sys, "argv", ["make", str(course.folder), "--language", asked])
    monkeypatch.setattr(making, "make", lambda course: pytest.fail("it went on"))
    with pytest.raises(SystemExit, match=re.escape(said)) as error:
        making.main()
    assert "\n" not in error.value.code


def test_the_courses_own_language_may_be_asked_for(course):
    making.check_language(course.folder, "zh")
    making.check_language(course.folder, None)
    with pytest.raises(CannotGrade):
        making.check_language(course.folder, "en")


@pytest.mark.parametrize("exercise", KNOWN.values(), ids=KNOWN.keys())
def test_a_task_has_the_numbers_and_the_code_of_the_english_one(exercise):
    translated = exercise.translated(ZH)
    for seed in seeds(4):
        here, there = task(1, exercise, seed), task(1, translated, seed, ZH)
        assert there != here
        assert contents(there) == contents(here)


def test_a_handout_says_nothing_in_english(course):
    for assignment in course.assignments.values():
        for cell in build(course, assignment, "ada", "starter").cells:
            if cell.cell_type == "markdown" or cell.id.startswith("grade-"):
                assert english(cell.source) == []
            if cell.id.startswith("task-"):
                assert re.search(
                    r'aria-label="难度 .（共 3 级）">\S+</span> · \d 分\n', cell.source
                )


def test_the_code_of_a_handout_is_that_of_the_english_one(course):
    path = course.folder / "course.toml"
    settings = path.read_text(encoding="utf-8")
    path.write_text(settings.replace('language = "zh"', 'language = "en"'), encoding="utf-8")
    other = Course.open(course.folder)
    for name, assignment in course.assignments.items():
        made = [
            [
                (cell.id, cell.source)
                for cell in build(edition, edition.assignment(name), "ada", "starter").cells
                if cell.cell_type == "code" and not cell.id.startswith("grade-")
            ]
            for edition in (course, other)
        ]
        assert made[0] == made[1]
        raw = b"{}"
        assert digest(course, assignment, "ada", raw) != digest(other, assignment, "ada", raw)


@pytest.mark.usefixtures("translated_once")
@pytest.mark.parametrize("exercise", KNOWN.values(), ids=KNOWN.keys())
def test_a_key_says_nothing_in_english(exercise):
    assert english(outside(rubric(exercise.translated(ZH), ZH))) == []


def test_feedback_is_told_by_the_messages():
    say = Messages(
        {
            "From the checks: {score} of {points} ({status})": (
                "得 {score}，满分 {points}：{status}"
            ),
            "{count} points": "{count} 分",
            "partly": "部分正确",
            "it is right for inputs that appear nowhere in the exercise": "别的输入也正确",
            "Note: {flag}": "标注：{flag}",
            "Hint: {hint}": "提示：{hint}",
            "stopped: {0}": "中止：{0}",
            "time": "用时太长",
            "`{0}` is {1}, which is not taken": "`{0}` 是{1}，不收",
            "a text too long": "太长的文字",
            "score": "得分",
        }
    )
    checks = [("of an instructor's own", True), (PROBES, False)]
    flags = ["stopped: time", "`score` is a text too long, which is not taken"]
    mark = Mark("x", 2.0, 1.0, "partly", flags, checks, "一个提示")
    assert report(mark, say) == (
        "得 1，满分 2 分：部分正确\n"
        "✓ of an instructor's own\n"
        "✗ 别的输入也正确\n"
        "标注：中止：用时太长\n"
        "标注：`score` 是太长的文字，不收\n"
        "提示：一个提示\n"
    )


def test_a_line_of_the_table_is_in_chinese():
    row = {
        "id": "ada",
        "status": "waits for a person",
        "flags": ["the file has another name", "time in cell 3", "of an instructor's own"],
        "04-x status": "wrong",
        "04-x mistake": "no-scale",
        "04-y mistake": "2",
    }
    flags = [ZH("the file has another name"), ZH("{0} in cell {1}").format(ZH("time"), 3)]
    assert localized(row, ZH) == {
        "id": "ada",
        ZH("status"): ZH("waits for a person"),
        ZH("flags"): ZH("; ").join([*flags, "of an instructor's own"]),
        f"04-x {ZH('status')}": ZH("wrong"),
        f"04-x {ZH('mistake')}": ZH("no scale"),
        f"04-y {ZH('mistake')}": "2",
    }
    assert heading("04-x flags", ZH) == f"04-x {ZH('flags')}" != "04-x flags"


def test_every_reason_of_the_border_is_a_message():
    """The border runs in the sandbox, too, so its reasons stand here once more."""
    assert set(words.OF_VALUES) == {*REASONS, Other("some type").said}


def test_no_translation_goes_into_the_sandbox():
    assert [name for name in RUNNER if not name.endswith(".py")] == []
    assert not any(re.search("[\u4e00-\u9fff]", text) for text in RUNNER.values())
    assert not any(re.search(r"(import|from) exercises", text) for text in RUNNER.values())


@pytest.mark.deep
def test_from_an_empty_folder_to_feedback_in_chinese(tmp_path):
    """And in English, once the course says so."""
    folder = tmp_path / "course"
    done = run("make", folder, "06", "--language", "zh")
    assert done.returncode == 0, done.stderr
    course = Course.open(folder)
    (assignment,) = course.assignments.values()
    name = assignment.name
    key = (folder / "keys" / f"{name}.html").read_text(encoding="utf-8")
    assert '<html lang="zh-CN">' in key
    assert english(outside(key)) == []
    handed = build(course, assignment, "ada", "starter")
    known = {f"answer-{exercise.id}": exercise for exercise in assignment.exercises}
    for cell in handed.cells:
        if exercise := known.get(cell.id):
            code = exercise.mistakes[0].code if exercise.mistakes else exercise.solution
            cell.source = code
    handed.cells.append(nbformat.v4.new_code_cell("import os; os._exit(1)"))
    hand_in(course, name, "ada", nbformat.writes(handed).encode())
    blank = (folder / "handout" / name / "bob" / f"{name}.ipynb").read_bytes()
    hand_in(course, name, "bob", blank)
    (folder / "submitted" / "bob" / f"{name}.ipynb").write_bytes(blank)
    done = run("grade", folder, "--jobs", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        grade = book.find_grade(f"answer-{TEXT}", name, name, "ada")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        book.find_comment(f"answer-{TEXT}", name, name, "ada").manual_comment = "写得好"
        book.db.commit()

    pages = {
        student: folder / "feedback" / student / name / f"{name}.html" for student in ("ada", "bob")
    }
    waits = outside(pages["ada"].read_text(encoding="utf-8"))
    assert ZH("waits for a person, {points} at most").format(points=points(2, ZH)) in waits
    assert ZH(" so far") in waits
    assert run("grade", folder, "--jobs", 1).returncode == 0
    ada, bob = (path.read_text(encoding="utf-8") for path in pages.values())
    assert '<body lang="zh-CN">' in ada
    given = ZH("{score} of {points}").format(score=1.5, points=points(2, ZH))
    comment = ZH("A comment on {title}").format(title=ZH(KNOWN[TEXT].title))
    for text in (given + ZH(", given by a person"), comment, "写得好", ZH("Your answer")):
        assert text in outside(ada)
    ended = ZH("its process ended")
    for text in (ZH("partly"), ZH("This cell was stopped ({why}).").format(why=ended)):
        assert text in ada  # what is printed is code
    flag = ZH("Note: {flag}").format(flag=ZH("{0} in cell {1}").format(ended, r"\d+"))
    assert re.search(flag, outside(ada))
    assert ZH("No response.") in bob
    said = [outside(page).partition(ZH("top"))[0] for page in (ada, bob)]
    assert [english(text) for text in said] == [[], []]

    def table() -> dict[str, dict[str, str]]:
        path = folder / "grades" / f"{name}.csv"
        with path.open(encoding="utf-8-sig", newline="") as file:
            return {row["id"]: row for row in csv.DictReader(file)}

    rows = table()
    assert rows["ada"][ZH("status")] == rows["bob"][ZH("status")] == ZH("graded")
    assert ended in rows["ada"][ZH("flags")]
    where = (f"submitted/bob/{name}.ipynb", f"submitted/bob/{name}/")
    high = "{0} is one folder too high: move it to {1}"
    assert ZH(high).format(*where) in rows["bob"][ZH("flags")]
    moodle = (folder / "grades" / f"{name}-moodle.csv").read_text(encoding="utf-8")
    assert ZH("graded") in moodle

    settings = folder / "course.toml"
    text = settings.read_text(encoding="utf-8").replace('language = "zh"', 'language = "en"')
    settings.write_text(text, encoding="utf-8")
    assert run("make", folder).returncode == 0
    assert run("grade", folder, "--jobs", 1).returncode == 0
    assert table()["ada"]["status"] == "graded"
    ada = pages["ada"].read_text(encoding="utf-8")
    assert "1.5 of 2 points, given by a person" in outside(ada)
    assert "Your answer" in ada
    assert ZH("partly") not in ada


@pytest.mark.parametrize(
    ("asked", "command"),
    [
        ([], "grading make ../course"),
        (["LANGUAGE=zh"], "grading make ../course --language zh"),
        (["LANGUAGE=fr"], "LANGUAGE must be en or zh"),
    ],
)
def test_make_hands_the_language_on(asked, command):
    """That of the command, and not the list of languages that a desktop puts in the environment."""
    call = ["make", "--dry-run", "-o", ".venv-grading/made", "course", *asked]
    environment = {**os.environ, "LANGUAGE": "en_US:en"}
    done = subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, text=True)
    said = " ".join((done.stdout + done.stderr).replace('"', "").split())
    assert command in said
    assert ("--language" in said) == (asked == ["LANGUAGE=zh"])
