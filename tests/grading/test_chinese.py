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
from grading import make as making
from grading import words
from grading.box import RUNNER
from grading.course import Course, start
from grading.inside.border import REASONS, Other
from grading.keys import rubric
from grading.marks import Mark
from grading.notebooks import build, report, task
from grading.one import digest
from grading.report import heading, localized
from grading.sandbox import CannotGrade
from tests.grading.conftest import hand_in
from tests.grading.test_course import ROOT, run
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
                for cell in build(one, one.assignment(name), "ada", "starter").cells
                if cell.cell_type == "code" and not cell.id.startswith("grade-")
            ]
            for one in (course, other)
        ]
        assert made[0] == made[1]
        raw = b"{}"
        assert digest(course, assignment, "ada", raw) != digest(other, assignment, "ada", raw)


@pytest.mark.parametrize("exercise", KNOWN.values(), ids=KNOWN.keys())
def test_a_key_says_nothing_in_english(exercise):
    assert english(outside(rubric(exercise.translated(ZH), ZH))) == []


def test_feedback_has_the_words_of_the_page_for_instructors():
    checks = [("row 0 adds up to 1", True), ("it is right for inputs that stand nowhere in the "
              "exercise", False)]  # fmt: skip
    flags = ["stopped: time", "raised an error of its own", "`score` is a text too long, which is "
             "not taken"]  # fmt: skip
    mark = Mark("x", 2.0, 1.0, "partly", flags, checks, "一个提示")
    assert report(mark, ZH) == (
        "按检查项得 1，满分 2 分：部分正确\n"
        "✓ row 0 adds up to 1\n"
        "✗ 换上练习里没有的输入，也正确\n"
        "标注：中止：用时太长\n"
        "标注：报错：自定义的错误\n"
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
    assert localized(row, ZH) == {
        "id": "ada",
        "状态": "待批阅",
        "标注": "文件名不对；单元格 3：用时太长；of an instructor's own",
        "04-x 状态": "错误",
        "04-x 错误": "没有缩放",
        "04-y 错误": "2",
    }
    assert heading("04-x flags", ZH) == "04-x 标注"


def test_every_reason_of_the_border_is_a_message():
    """The border runs in the sandbox, too, so its reasons stand here once more."""
    assert set(words.OF_VALUES) == {*REASONS, Other("some type").said}


def test_no_translation_goes_into_the_sandbox():
    assert [name for name in RUNNER if not name.endswith(".py")] == []
    assert not any(re.search("[\u4e00-\u9fff]", text) for text in RUNNER.values())
    assert not any(re.search(r"(import|from) exercises", text) for text in RUNNER.values())


@pytest.mark.slow
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
    known = {f"answer-{one.id}": one for one in assignment.exercises}
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

    pages = {one: folder / "feedback" / one / name / f"{name}.html" for one in ("ada", "bob")}
    waits = outside(pages["ada"].read_text(encoding="utf-8"))
    assert "待批阅，最多 2 分" in waits
    assert "（暂计）" in waits
    assert run("grade", folder, "--jobs", 1).returncode == 0
    ada, bob = (path.read_text(encoding="utf-8") for path in pages.values())
    assert '<body lang="zh-CN">' in ada
    for text in (
        "得 1.5，满分 2 分，由教师给分",
        "对“训练时不用掩码？”的评语",
        "写得好",
        "你的答案",
    ):
        assert text in outside(ada)
    for text in ("部分正确", "这个单元格被中止了（运行答案的进程结束了）。"):
        assert text in ada  # what is printed is code
    assert "没有作答。" in bob
    said = [outside(page).partition("回到顶部")[0] for page in (ada, bob)]
    assert [english(text) for text in said] == [[], []]

    def table() -> dict[str, dict[str, str]]:
        path = folder / "grades" / f"{name}.csv"
        with path.open(encoding="utf-8-sig", newline="") as file:
            return {row["id"]: row for row in csv.DictReader(file)}

    rows = table()
    assert rows["ada"]["状态"] == rows["bob"]["状态"] == "已评"
    assert "运行答案的进程结束了" in rows["ada"]["标注"]
    assert "放高了一层：移到" in rows["bob"]["标注"]
    moodle = (folder / "grades" / f"{name}-moodle.csv").read_text(encoding="utf-8")
    assert "已评" in moodle

    settings = folder / "course.toml"
    text = settings.read_text(encoding="utf-8").replace('language = "zh"', 'language = "en"')
    settings.write_text(text, encoding="utf-8")
    assert run("make", folder).returncode == 0
    assert run("grade", folder, "--jobs", 1).returncode == 0
    assert table()["ada"]["status"] == "graded"
    ada = pages["ada"].read_text(encoding="utf-8")
    assert "1.5 of 2 points, given by a person" in outside(ada)
    assert "Your answer" in ada
    assert not re.search("待批阅|部分正确", ada)


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
