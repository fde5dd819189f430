"""What is measured of whole models in pages: of the book's own, and beside those of others."""

import pytest

from benchmarks import model_pages, report, visits
from benchmarks import whole_model as bench

ASKS_OTHERS = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<link rel="stylesheet" href="https://fonts.invalid/style.css"><script src="own.js"></script>
<script>fetch("model.json").then((reply) => reply.json()).then((word) => {
  document.body.textContent = word;
});</script><body>"""
OWN_ONLY = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script>addEventListener("load", () => { document.body.textContent = "answer"; });</script><body>"""
SILENT = OWN_ONLY.replace('"answer"', '""')
TOGGLES = """<!doctype html><meta charset="utf-8"><p>off</p><button>a</button><i>b</i>
<script>document.querySelector("button").onclick = () => {
  const shown = document.querySelector("p");
  shown.textContent = shown.textContent === "off" ? "on" : "off";
};</script>"""
SHOWN = '() => document.querySelector("p").textContent'


@pytest.fixture
def site(tmp_path):
    """Writes a page into a folder, and gives it as a site."""
    (tmp_path / "own.js").write_text("window.own = 1;" * 100)
    (tmp_path / "model.json").write_text('"answer"')

    def write(text):
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        answered = "document.body?.textContent.trim()"
        return model_pages.Site("a page", tmp_path, "page.html", "page.html", answered)

    return write


def both(browser, site, limit):
    """A visit from a server, and one from a folder."""
    with visits.served(site.folder) as root:
        over = model_pages.visit(browser, site, root, limit)
    return over, model_pages.visit(browser, site, site.folder.as_uri(), limit)


def test_other_hosts_are_named_and_refused_and_what_is_fetched_is_not_in_a_folder(browser, site):
    over, folder = both(browser, site(ASKS_OTHERS), 3)
    assert over["hosts"] == ["fonts.invalid"]
    assert over["asked"] == ["page.html", "own.js", "model.json"]
    assert over["seconds"] > 0
    assert folder["seconds"] is None


def test_a_page_that_needs_nobody_answers_from_a_folder(browser, site):
    over, folder = both(browser, site(OWN_ONLY), 10)
    assert over["hosts"] == folder["hosts"] == []
    assert over["seconds"] > 0
    assert folder["seconds"] > 0


def test_a_page_that_shows_no_answer_has_none(browser, site):
    over, _ = both(browser, site(SILENT), 1)
    assert over["seconds"] is None
    assert over["asked"] == ["page.html"]


VISIT = {"asked": ["page.html", "own.js", "gone.js"], "hosts": ["a.invalid"], "seconds": 2.0}


def test_a_row_counts_bytes_as_they_travel_and_times_of_a_quiet_machine(site):
    one = site(OWN_ONLY)
    row = model_pages.row_of(one, [VISIT, VISIT | {"seconds": 3.0}], VISIT, is_quiet=True)
    files = [one.folder / name for name in ("page.html", "own.js")]
    assert row["measured"] == {
        "page": f"{sum(map(visits.weight, files)) / 1e6:.2f} MB",
        "other hosts asked": "a.invalid",
        "first answer, they refused": "2.50 s",
        "from a folder": "answers",
    }
    assert set(row) == set(report.KEYS)


def test_a_busy_machine_gives_no_time_and_says_so(site):
    row = model_pages.row_of(site(OWN_ONLY), [VISIT], VISIT, is_quiet=False)
    assert row["measured"]["first answer, they refused"] == "–"
    assert row["note"] == model_pages.NOT_TIMED


def test_no_answer_is_said_on_any_machine(site):
    silent = VISIT | {"seconds": None}
    for is_quiet in (True, False):
        row = model_pages.row_of(site(SILENT), [silent], silent, is_quiet)
        assert row["measured"]["first answer, they refused"] == "none within 30 s"
        assert row["measured"]["from a folder"] == "no answer"


def test_nothing_is_stored_where_a_page_is_not_built(site, monkeypatch, tmp_path, capsys):
    one = site(OWN_ONLY)
    gone = model_pages.Site("gone", tmp_path / "gone", "page.html", "page.html", "true")
    monkeypatch.setattr(model_pages, "sites", lambda: [one, gone])
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results.json")
    model_pages.main()
    assert "nothing is measured: gone." in capsys.readouterr().out
    assert not report.RESULTS.exists()


def test_each_page_is_opened_as_a_visitor_opens_it():
    names = [one.name for one in model_pages.sites()]
    assert len(set(names)) == len(names) == 3
    ours = model_pages.sites()[0]
    assert ours.file == "chapters/10_whole_model.html"


def test_a_click_is_timed_until_its_change_is_painted(browser, monkeypatch):
    monkeypatch.setattr(bench, "CLICKS", 4)
    page = browser.new_page()
    page.set_content(TOGGLES)
    button = page.locator("button")
    times = bench.times_of(page, button, button, SHOWN)
    assert len(times) == 4
    assert min(times) > 0
    with pytest.raises(RuntimeError, match="must change what the model shows"):
        bench.times_of(page, button, page.locator("i"), SHOWN)
    page.close()


def test_the_goal_is_of_the_median():
    row = bench.time_row("a word is painted", [10.0, 49.0, 90.0], 50, "ms")
    assert (row["measured"], row["goal"], row["met"]) == ("49.0 ms", "under 50 ms", True)
    assert row["spread"] == "10.0 to 90.0 ms"
    assert not bench.time_row("a word is painted", [10.0, 51.0, 60.0], 50, "ms")["met"]


def test_what_was_not_timed_is_neither_met_nor_missed():
    row = bench.time_row("the answer is painted", [], 1.0, "s")
    assert (row["measured"], row["met"], row["note"]) == ("–", None, bench.NOT_TIMED)


MODEL = """<!doctype html><meta charset="utf-8"><script src="../explorer-model.js"></script>
<div class="am-root"><div class="am-written"></div>
<details class="am-all"><summary>all</summary><button>Jerry</button><button>last</button></details>
<label class="am-switch"><input type="checkbox"></label></div><script>
const words = document.querySelector(".am-written");
const write = (text) => { words.innerHTML = `<bdi>${text}</bdi>`; };
write("a b");
const [more, less] = document.querySelectorAll("button");
more.onclick = () => write("a b");
less.onclick = () => write("a");
document.querySelector("input").onclick = (event) => write(event.target.checked ? "c d" : "a b");
</script>"""


@pytest.mark.parametrize("is_quiet", [True, False])
def test_a_model_that_answers_is_weighed_and_timed(browser, monkeypatch, tmp_path, is_quiet):
    """A page that has the model's places, and asks for one script more than the page without."""
    paths = [tmp_path / name.partition("#")[0] for name in (bench.ADDRESS, bench.WITHOUT)]
    for path, text in zip(paths, (MODEL, "<!doctype html>"), strict=True):
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "explorer-model.js").write_text("//" + "x" * 90_000)
    monkeypatch.setattr(bench, "HTML", tmp_path)
    monkeypatch.setattr(bench, "MOST_BYTES", 10)
    monkeypatch.setattr(bench, "CLICKS", 2)
    monkeypatch.setattr(bench, "ROUNDS", 1)
    with visits.served(tmp_path) as address:
        assert bench.added(browser, address) == ["explorer-model.js"]
        rows = bench.rows(browser, address, is_quiet)
    assert (rows[0]["met"], rows[0]["note"]) == (False, "scripts: explorer-model.js")
    assert [row["measured"] == "–" for row in rows[1:]] == [not is_quiet] * 3
    assert all(set(row) == set(report.KEYS) and row["section"] == "model" for row in rows)
