"""What the benchmark of the language model says of given measurements."""

import re

import pytest
import torch

from benchmarks import driver, language, language_graph, language_page, language_peers, report, tab

pytestmark = pytest.mark.gate

OURS = {"read": [100.0, 120.0, 110.0], "next": [60.0, 80.0, 75.0], "said": [" Paris"] * 3}
COMPUTED = OURS | {"read": [90.0, 99.0, 95.0], "next": [50.0, 61.0, 55.0]}
OTHER = {
    "read": [300.0, 120.0, 440.0],
    "next": [30.0, 80.0, 60.0],
    "said": [" Paris.", " a", " Paris is"],
}
DRAWN = """
<!doctype html><title>A page</title><div class="lm-sheet"><canvas></canvas></div>
<div class="lm-next"></div><button>load</button>
"""
WORKER = "onmessage = ({ data: { id } }) => postMessage({ id, answer: 1 })"


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    monkeypatch.setattr(language, "busy", lambda: "")
    monkeypatch.setattr(driver, "busy", lambda: "")


def said(rows):
    assert all(set(row) == set(report.KEYS) for row in rows)
    return {row["what"]: (row["measured"], row["met"]) for row in rows}


def test_a_text_and_a_further_token_have_a_goal_and_each_other_program_a_ratio():
    times = {language.OURS: OURS, language.COMPUTED: COMPUTED, "theirs": OTHER}
    rows = language.speeds(times, {"theirs": 98_000_000})
    assert said(rows) == {
        "a text of 16 tokens: the probabilities are painted after": ("110.0 ms", True),
        "a text of 16 tokens: theirs / ours": ("3.33×", True),
        "a further token: the probabilities are painted after": ("75.0 ms", False),
        "a further token: theirs / ours": ("1.09×", True),
    }
    assert [row["spread"] for row in rows] == [
        "100.0 to 120.0 ms", "1.21 to 4.63×", "60.0 to 80.0 ms", "0.60 to 1.31×",
    ]  # fmt: skip
    assert rows[2]["note"] == "computed after 55 ms; the rest is the next frame"
    assert rows[1]["note"] == (
        "300 ms, ours 95 ms, both without painting; a model of 98 MB; "
        "another first word in 1 of 3 texts"
    )


def test_a_page_that_was_never_blocked_says_so():
    rows = language.tasks({"typed": [], "written": [51.0, 77.4]})
    assert [(row["measured"], row["met"]) for row in rows] == [
        ("no 50 ms", True), ("77 ms", False),
    ]  # fmt: skip


def test_only_the_first_layer_of_a_second_visit_has_a_goal():
    pairs = [({"layer": 0.4, "painted": 2.0}, {"layer": 0.15, "painted": 1.0})] * 3
    rows = language.visited(pairs)
    measured = ["400 ms", "2000 ms", "150 ms", "1000 ms"]
    assert [row["measured"] for row in rows] == measured
    assert [row["met"] for row in rows] == [None, None, True, None]


def test_bytes_have_goals():
    rows = language.sizes({"at rest": 299_000_000, "later": 301_000_000}, 186_056, 30_000)
    measured = [("299 MB", True), ("301 MB", False), ("186.1 KB", True), ("30.0 KB", False)]
    assert list(said(rows).values()) == measured


def test_the_clocks_see_an_answer_and_the_frame_behind_it(browser, tmp_path):
    (tmp_path / "page.html").write_text(DRAWN, encoding="utf-8")
    page = browser.new_page()
    page.add_init_script(language_page.CLOCKS)
    page.goto((tmp_path / "page.html").as_uri())
    page.evaluate(
        """(source) => {
          const worker = new Worker(URL.createObjectURL(new Blob([source])));
          worker.onmessage = () => {
            document.querySelector(".lm-next").textContent = "Paris";
            const context = document.querySelector("canvas").getContext("2d");
            context.putImageData(context.createImageData(1, 1), 0, 0);
          };
          worker.postMessage({ id: 7, what: "read" });
        }""",
        WORKER,
    )
    clocks = page.wait_for_function("clocks.layer && clocks.painted && clocks").json_value()
    assert clocks["id"] == 7
    assert clocks["asked"] <= clocks["answered"] <= min(clocks["painted"], clocks["layer"])
    page.close()


def test_the_page_around_names_each_part_and_the_page_that_it_opens(tmp_path):
    around = (tab.put_together(tmp_path) / "around.html").read_text(encoding="utf-8")
    assert re.findall(r'document\.title = "(\w+)"', around) == [*tab.SAID, "end"]
    assert f'src="html/{language_page.PAGE}"' in around
    assert f"n < {tab.WORDS};" in around


def test_what_is_missing_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(language_peers, "PACKAGES", tmp_path)
    language.main()
    assert (
        "nothing is measured of the language model: @wllama/wllama, onnx" in capsys.readouterr()[0]
    )


@pytest.mark.trained_model
def test_all_texts_have_as_many_tokens_and_begin_with_another_one():
    texts = language.texts()
    assert {len(ids) for _, ids in texts} == {language.TOKENS}
    assert len({ids[0] for _, ids in texts}) == len(texts) > language.ROUNDS


def test_four_bits_are_as_near_as_four_bits_can_be():
    weights = torch.linspace(-1, 2, 128).view(2, 64)
    packed, scales, zeros = language_graph.four_bits(weights)
    numbers = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(-2).float()
    zeros = torch.stack([zeros & 15, zeros >> 4], dim=-1).view(2, 2, 1)
    again = (numbers - zeros) * scales.view(2, 2, 1)
    apart = (again.view(2, 64) - weights).abs().view(2, 2, 32).amax(-1)
    assert (apart <= scales.view(2, 2) * 1.001).all()
