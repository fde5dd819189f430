"""What is measured of the book's model beside other pages that open one."""

import pytest

from benchmarks import driver, model_pages, report, visits

pytestmark = pytest.mark.gate

ASKS_OTHERS = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<link rel="stylesheet" href="https://fonts.invalid/style.css"><script src="own.js"></script>
<script>fetch("model.json").then((reply) => reply.json()).then((word) => {
  document.body.textContent = word;
});</script><body>"""
OWN_ONLY = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script>addEventListener("load", () => { document.body.textContent = "answer"; });</script><body>"""
SILENT = OWN_ONLY.replace('"answer"', '""')


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
    with driver.served(site.folder) as root:
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
    own_only = site(OWN_ONLY)
    row = model_pages.row_of(own_only, [VISIT, VISIT | {"seconds": 3.0}], VISIT, is_quiet=True)
    files = [own_only.folder / name for name in ("page.html", "own.js")]
    assert row["measured"] == {
        "page": f"{sum(map(visits.weight, files)) / 1e6:.2f} MB",
        "requests to other hosts": "a.invalid",
        "first answer without these hosts": "2.50 s",
        "from a folder": "answers",
    }
    assert set(row) == set(report.KEYS)


def test_a_busy_machine_gives_no_time_and_says_so(site):
    row = model_pages.row_of(site(OWN_ONLY), [VISIT], VISIT, is_quiet=False)
    assert row["measured"]["first answer without these hosts"] == "–"
    assert row["note"] == model_pages.NOT_TIMED


def test_no_answer_is_said_on_any_machine(site):
    silent = VISIT | {"seconds": None}
    for is_quiet in (True, False):
        row = model_pages.row_of(site(SILENT), [silent], silent, is_quiet)
        assert row["measured"]["first answer without these hosts"] == "none within 30 s"
        assert row["measured"]["from a folder"] == "no answer"


def test_nothing_is_stored_where_a_page_is_not_built(site, monkeypatch, tmp_path, capsys):
    own_only = site(OWN_ONLY)
    gone = model_pages.Site("gone", tmp_path / "gone", "page.html", "page.html", "true")
    monkeypatch.setattr(model_pages, "sites", lambda: [own_only, gone])
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results.json")
    model_pages.main()
    assert "nothing is measured: gone." in capsys.readouterr().out
    assert not report.RESULTS.exists()
