"""The box for pasted numbers answers as attn_core.diagnose does, in the same sentences."""

import functools
import gzip
import json
import re
import shutil

import pytest
import torch
from playwright.sync_api import expect

from attn_core import Dropout, causal, diagnose, toy, trace
from attn_core.checks import STAGES
from attn_core.diagnosis.comparing import candidate, compared_stages, rooms_of
from attn_core.diagnosis.slips import REPLAYED
from attn_core.mistakes import MISTAKES, mistake
from attn_core.mistakes.questions import questions
from attn_core.views import script
from attn_core.views.paste import paste, question_text
from publishing.translation.outputs import view
from tests.explorer.cases import words
from tests.explorer.conftest import VIEWS

SCRIPTS = {"en": script.BUILT / "diagnosis.js", "zh-CN": script.BUILT / "diagnosis-zh.js"}
MOST_BYTES = 11_000  # compressed with gzip


RECORDS = {
    "causal": words(keep=causal()),
    "dropping": words(dropout=Dropout(0.25, seed=7)),
    "plain": words(),
    "questions": questions()[0].trace(),
    "large": trace(*[3000 * toy.journey().x] * 2, toy.journey().x, keep=causal()),
    # Each row sums to 0: division by it gives numbers that are not finite.
    "sums": trace(
        torch.tensor([[1.0], [-1.0]]), torch.tensor([[1.0], [-1.0], [2.0], [-2.0]]), torch.eye(4)
    ),
}


@pytest.fixture(scope="module")
def opened(bare_folder, browser):
    """A page with a box for each of the records, under a strict content security policy."""
    folder, address = bare_folder
    yield from opened_boxes(folder, address, browser, "en")


@pytest.fixture(scope="module")
def chinese(bare_folder, browser):
    """The same as the Chinese edition has it: its own script, and words of the data exchanged."""
    folder, address = bare_folder
    (folder / "zh").mkdir(exist_ok=True)
    for sheet in ("explorer.css", "diagnosis.css"):
        (folder / "zh" / sheet).write_text((VIEWS / sheet).read_text(encoding="utf-8"))
    yield from opened_boxes(folder / "zh", f"{address}/zh", browser, "zh-CN")


def opened_boxes(folder, address, browser, lang):
    shutil.copyfile(SCRIPTS[lang], folder / "diagnosis.js")
    (folder / "diagnosis.css").write_text((VIEWS / "diagnosis.css").read_text(encoding="utf-8"))
    example = "weights = tensor([[1., 0.]])"
    boxes = [paste(record, name=name) for name, record in RECORDS.items()]
    boxes[0].payload["example"] = example
    body = "\n".join(box.html if lang == "en" else view(box.html) for box in boxes)
    (folder / "box.html").write_text(
        f'<!doctype html><html lang="{lang}"><meta charset="utf-8"><title>box</title>'
        '<link rel="stylesheet" href="explorer.css"><link rel="stylesheet" href="diagnosis.css">'
        f'<script defer src="diagnosis.js"></script><main><h1>box</h1>{body}</main></html>',
        encoding="utf-8",
    )
    context = browser.new_context()
    page = context.new_page()
    page.heard = []
    page.asked = []
    page.on("console", lambda message: page.heard.append(message.text))
    page.on("pageerror", lambda error: page.heard.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url.removeprefix(f"{address}/")))
    page.goto(f"{address}/box.html")
    yield page
    assert page.heard == []
    # The browser asks for the icon when it likes.
    own = ["box.html", "explorer.css", "diagnosis.css", "diagnosis.js"]
    assert sorted(set(page.asked) - {"favicon.ico"}) == sorted(own)
    assert len(page.asked) == len(set(page.asked))
    context.close()


def ask(page, name, text, button="Which mistake is it?"):
    box = page.locator(f'attention-diagnosis[name="{name}"]')
    # A long text is typed in no time.
    box.locator("textarea").evaluate("(field, text) => { field.value = text; }", text)
    box.get_by_role("button", name=button).click()
    return box


def ask_chinese(page, name, text):
    return ask(page, name, text, "是哪个错误？")


ASK = """([name, texts, stage]) => texts.map((text) => {
  const { answers } = document.querySelector(`attention-diagnosis[name="${name}"]`);
  try {
    const { question, ...found } = answers.diagnose(text, stage);
    return { ...found, question: question && question.text };
  } catch (error) {
    return { error: error.message };
  }
})"""


def pythons(yours, record, stage):
    try:
        diagnosis = diagnose(yours, record, stage=stage)
    except (ValueError, TypeError) as error:
        return {"error": str(error)}
    apart = diagnosis.tell_apart
    return {
        "text": diagnosis.text,
        "verdict": diagnosis.verdict,
        "stages": list(diagnosis.stages),
        "mistakes": list(diagnosis.mistakes),
        "unseen": list(diagnosis.unseen),
        "question": None if apart is None else question_text(apart),
    }


def texts_of(record):
    """Every stage, right and of each mistake, and what comes near to one."""
    versions = [record, *REPLAYED.values()]
    for version in versions:
        made = None if version is record else version.apply(record)
        for stage in STAGES:
            cells = record.stage(stage) if made is None else made[stage]
            yield cells.double().tolist()
            yield torch.round(cells.double(), decimals=4).tolist()
    scores = record.stage("scores").double()
    off = record.stage("weights").double().clone()
    off[..., 1, 2] += 0.1
    for factor in (1.5, 2.0, 3e-5, 1e-8, 1e-14, -1.0):
        yield (factor * scores).tolist()
        yield torch.round(factor * scores, decimals=4).tolist()
        yield (factor * record.stage("masked").double()).tolist()
        yield (factor * off).tolist()
    tiny = torch.zeros_like(off)
    tiny[..., 0, 0] = 0.001
    yield tiny.tolist()
    rooms = rooms_of(record, torch.finfo(torch.float64).eps, 0.0)
    for version in (None, MISTAKES["no-scale"]):
        stages = compared_stages(record, version)
        for stage in STAGES:
            known = candidate(stage, version.name if version else "", stages, rooms)
            for part in (0.97, 1.03):
                yield (known.cells + part * known.room.at(known.sizes)).tolist()
    for size in (1.0, 1e-3, 1e-8):
        yield (size * torch.sin(torch.arange(float(off.numel()))).view_as(off).abs()).tolist()
    yield scores.mT.tolist()
    yield record.stage("weights").double().mT.tolist()
    yield record.stage("output").double().mT.tolist()
    yield torch.zeros_like(record.stage("output").double().mT).tolist()
    yield off.tolist()
    weights = record.stage("weights").double()
    dropped = 2 * weights * (torch.arange(weights.numel()).view(weights.shape) % 3 != 1)
    yield dropped.tolist()
    yield torch.round(dropped, decimals=4).tolist()
    yield (dropped / dropped.sum(-1, keepdim=True)).nan_to_num().tolist()
    yield torch.full_like(off, torch.nan).tolist()
    yield torch.full_like(off, -torch.inf).tolist()
    yield torch.zeros_like(off).tolist()
    if record.shape[1] > 1:
        for stage in STAGES:
            heads = record.stage(stage).double()
            for yours in (heads.mean(1), heads.sum(1), heads[:, 1], heads[:, 1] + 1):
                yield yours.tolist()
        wrong = MISTAKES["no-scale"].apply(record)["output"]
        for output in (record.output, wrong, 0 * wrong):
            beside = output.double().transpose(-3, -2).flatten(-2)
            yield beside.tolist()
            yield torch.round(beside, decimals=4).tolist()
            yield output.double().reshape(beside.shape).tolist()
            yield output.double().flatten(-3, -2).tolist()
    yield [[1.0, 2.0], [3.0]]
    yield [1.0, 2.0]
    yield [[1.0, 2.0]]


@pytest.fixture
def quick(monkeypatch):
    """Each wrong version of a record is made once, not once for each array that is diagnosed."""
    monkeypatch.setattr(mistake, "wrong_stages", functools.cache(mistake.wrong_stages))


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        pytest.param(name, stage, marks=() if name in ("plain", "sums") else pytest.mark.slow)
        for name in RECORDS
        for stage in (None, "weights", "output")
    ],
)
def test_the_box_answers_as_python_does(opened, quick, name, stage):
    yours = {json.dumps(array): array for array in texts_of(RECORDS[name])}
    texts = [text.replace("Infinity", "inf").replace("NaN", "nan") for text in yours]
    theirs = opened.evaluate(ASK, [name, texts, stage])
    verdicts = set()
    for array, answer in zip(yours.values(), theirs, strict=True):
        assert answer == pythons(array, RECORDS[name], stage)
        verdicts.add(answer.get("verdict", "refused"))
    assert verdicts >= {"right", "mistake", "unknown", "refused"}


def test_heads_in_one_table(opened):
    """Side by side, in the order of memory, along the tokens; right, wrong and neither."""
    record = RECORDS["questions"]
    assert record.shape[1] > 1
    wrong = MISTAKES["no-scale"].apply(record)["output"]
    verdicts = set()
    for output in (record.output.double(), wrong.double(), 0 * wrong.double()):
        beside = output.transpose(-3, -2).flatten(-2)
        for yours in (beside, output.reshape(beside.shape), output.flatten(-3, -2)):
            (answer,) = opened.evaluate(ASK, ["questions", [json.dumps(yours.tolist())], None])
            assert answer == pythons(yours.tolist(), record, None)
            verdicts.add(answer["verdict"])
    assert verdicts == {"right", "mistake", "unknown"}


UNREAD = [
    ("", "yours must hold numbers, got nothing."),
    ("tensor()", "yours must hold numbers, got nothing."),
    ("[[1, two]]", "yours must hold numbers, got 'two'."),
    ("[[1, 2]", "yours must close the brackets that it opens, got 1 [ too many."),
    ("[1, 2]]", "yours must close the brackets that it opens, got one ] too many."),
    ("[1, 2] [3, 4]", "yours must be one array, got 2."),
    ("[[1, 2], [3]]", "yours must have rows of one length, got a ragged list."),
    ("1 2 3\n4 5", "yours must have rows of one length, got a ragged list."),
    ("[1, 2]", "yours must have rows and columns, got (2,)."),
    ("[[], []]", "yours must have rows and columns, got (2, 0)."),
    ("[[0.1, ..., 0.2]]", "yours must hold numbers, got '...'."),
    ("<img src=x onerror=alert(1)>", "yours must hold numbers, got '<img'."),
    ("[" * 5000, "yours must have at most 8 axes, got more."),
    ("[" * 5000 + "]" * 5000, "yours must have at most 8 axes, got more."),
    ("1 " * 900_000, "yours must have at most 200000 characters, got 1800000."),
    (" " * 100_000 + "one", "yours must hold numbers, got 'one'."),
    (
        "[[1," + " " * 190_000 + "2)",
        "yours must close the brackets that it opens, got 2 [ too many.",
    ),
    ("1 " * 90_000, "yours must have the shape of a stage, (6, 6) or (6, 3), got (1, 90000)."),
    (", dtype" * 20_000, "yours must hold numbers, got 'dtype'."),
]


def test_bad_text_is_said_in_a_sentence(opened):
    """Where an answer stood, that one stands no more."""
    for text, message in UNREAD:
        box = ask(opened, "plain", str(RECORDS["plain"].stage("weights")))
        expect(box.locator(".ax-right")).to_have_count(1)
        box = ask(opened, "plain", text)
        expect(box.locator(".ax-notice")).to_have_text(message)
        expect(box.locator(".ax-right")).to_have_count(0)


def test_a_reader_is_told_the_mistake_and_an_input_that_tells_more(opened):
    record = RECORDS["causal"]
    turned = MISTAKES["mask-turned"].apply(record)["weights"]
    box = ask(opened, "causal", str(turned))
    said = diagnose(turned.double().tolist(), record)
    expect(box.locator(".ax-verdict")).to_contain_text("with the mask turned round, or these are")
    expect(box.locator("summary")).to_have_text("An input on which they differ")
    expect(box.locator(".ax-input")).to_have_text(question_text(said.tell_apart))
    box = ask(opened, "causal", str(record.stage("weights")))
    expect(box.locator(".ax-right")).to_contain_text("right: these are the weights")
    expect(box.locator("summary").first).to_have_text("Which mistakes would go unnoticed here")
    unseen = diagnose(record.stage("weights"), record).unseen
    titles = "; ".join(MISTAKES[name].title for name in unseen)
    expect(box.locator("details p").first).to_have_text(f"{titles}.")
    box.get_by_role("button", name="Try an example").click()
    expect(box.locator("textarea")).to_have_value("weights = tensor([[1., 0.]])")
    expect(box.locator(".ax-notice")).to_contain_text("got (1, 2)")


def test_all_stages_can_be_chosen(opened):
    box = opened.locator('attention-diagnosis[name="plain"]')
    assert box.locator("option").all_inner_texts() == ["any stage", *STAGES]


def test_a_chinese_reader_is_told_the_mistake(chinese):
    record = RECORDS["causal"]
    box = ask_chinese(chinese, "causal", str(MISTAKES["mask-turned"].apply(record)["weights"]))
    expect(box.locator(".ax-verdict")).to_contain_text(
        "这是权重，错在“掩码弄反”，或者这是权重，错在"
    )
    expect(box.locator("summary")).to_have_text("能把它们区分开的输入")
    box = ask_chinese(chinese, "causal", str(record.stage("weights")))
    expect(box.locator(".ax-right")).to_contain_text(
        "对：这是权重，只比到给出的 4 位小数（在这里权重、丢弃后都一样）。有"
    )
    expect(box.locator("details p").first).to_contain_text("没算上缓存的掩码；")
    box = ask_chinese(chinese, "causal", str(MISTAKES["no-scale"].apply(record)["weights"]))
    expect(box.locator(".ax-verdict")).to_have_text(
        "这是权重，错在“没有缩放”，只比到给出的 4 位小数。"
        "“缩放后”之前的各阶段都一样；最先不同的行是第 1 行。"
    )
    expect(box.locator(".ax-root")).to_have_attribute("lang", "zh")
    ask_chinese(chinese, "causal", "[[1, two]]")
    expect(box.locator(".ax-notice")).to_have_text("粘贴的必须都是数，得到的是：“two”。")


@pytest.mark.parametrize("name", ["plain", "questions"])
def test_no_answer_of_the_chinese_box_has_english_words(chinese, name):
    """But for the names that Chinese writes in Latin letters, and what was pasted."""
    texts = [json.dumps(array) for array in texts_of(RECORDS[name])]
    texts = [text.replace("Infinity", "inf").replace("NaN", "nan") for text in texts]
    answers = chinese.evaluate(
        ASK, [name, [*texts, "", "[[1, 2]", "[1]]", "one", "[[0.1]] [2]"], None]
    )
    said = {answer.get("text") or answer["error"] for answer in answers}
    assert len(said) > 20
    words = {word for text in said for word in re.findall(r"[A-Za-z]{2,}", text)}
    code = {"need", "weights", "torch", "eval"}
    assert words <= {"softmax", "view", "nan", "inf", "model", "one", "float"} | code
    box = chinese.locator('attention-diagnosis[name="plain"]')
    labels = box.locator("label, button, option").all_inner_texts()
    assert not re.findall("[A-Za-z]{2,}", " ".join(labels))


def test_what_a_question_reads_as_is_that_question():
    namespace = {}
    text = question_text(questions()[1])
    exec(text, {"causal": causal, "padding": None, "Dropout": Dropout}, namespace)
    for name in "qkv":
        assert torch.equal(torch.tensor(namespace[name]).float(), getattr(questions()[1], name))
    assert (str(namespace["keep"]), namespace["dropout"]) == ("causal()", questions()[1].dropout)


def test_a_broken_box_says_so(bare, bare_folder):
    shutil.copyfile(SCRIPTS["en"], bare_folder[0] / "diagnosis.js")
    box = paste(RECORDS["plain"]).html
    html = re.sub(r"(?s)(json\">).*(</script>)", r"\1{\2", box)
    page = bare.open(html + '<script defer src="diagnosis.js"></script>')
    expect(page.get_by_text("This box cannot start: its data cannot be read.")).to_be_visible()
    expect(page.get_by_text("A box for your numbers")).to_be_visible()


def test_a_script_that_runs_before_the_page_is_read_waits_for_its_data(bare, bare_folder):
    """The element is there before what stands in it."""
    shutil.copyfile(SCRIPTS["en"], bare_folder[0] / "diagnosis.js")
    page = bare.open('<script src="diagnosis.js"></script>', paste(RECORDS["plain"]).html)
    expect(page.get_by_role("button", name="Which mistake is it?")).to_be_visible()


def test_without_scripts_it_says_what_to_call(bare):
    page = bare.open(paste(RECORDS["plain"]).html, scripts=False)
    expect(page.get_by_text("In a notebook, call diagnose(yours, record)")).to_be_visible()


def test_its_script_is_small(record_property):
    size = len(gzip.compress(SCRIPTS["en"].read_bytes(), mtime=0))
    record_property("summary", f"script, gzip: diagnosis.js {size:,} B")
    assert size < MOST_BYTES


def test_too_large_a_record_is_refused():
    x = torch.ones(21, 2)
    with pytest.raises(ValueError, match=r"^record must have at most 400 weights, got 441$"):
        paste(trace(x, x, x))
