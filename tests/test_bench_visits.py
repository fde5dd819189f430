"""What the benchmark of first visits measures: bytes as they travel, and a phone that waits."""

import gzip
import urllib.request

import pytest

from benchmarks import driver, report
from benchmarks import page as bench_page
from benchmarks import visits as bench
from benchmarks.viewers import made_up_model, names

pytestmark = pytest.mark.gate


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder with one page that has an explorer, and its address."""
    monkeypatch.setattr(bench_page, "FOLDER", tmp_path / "book")
    monkeypatch.setattr(bench, "HTML", tmp_path)
    monkeypatch.setattr(bench, "ROUNDS", 1)
    bench_page.write_page(made_up_model(6), names(6), None)
    with driver.served(tmp_path) as address:
        yield address


def test_text_is_weighed_and_sent_compressed(site, tmp_path):
    script = tmp_path / "book" / "explorer.js"
    with urllib.request.urlopen(f"{site}/book/explorer.js") as reply:
        sent = reply.read()
        assert reply.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(sent) == script.read_bytes()
    assert bench.weight(script) == len(sent) < script.stat().st_size / 2
    picture = tmp_path / "a.png"
    picture.write_bytes(bytes(1000))
    assert bench.weight(picture) == 1000


def test_a_visit_is_all_that_is_asked_for_once(site, browser):
    addresses = bench.asked_for(browser, f"{site}/book/page.html")
    assert {"book/page.html", "book/explorer.js", "book/explorer.css"} <= set(addresses)
    assert len(addresses) == len(set(addresses))


def test_a_slow_phone_paints_and_then_is_alive(site, browser):
    rows = bench.times(browser, site, "book/page.html", "#x-bench")
    assert [row["what"].split(": ")[1] for row in rows] == [
        "something is painted after",
        "an explorer is alive after",
    ]
    painted, alive = (float(row["measured"].removesuffix(" s")) for row in rows)
    # Which comes first is the browser's choice: a script may run before a picture is on the screen.
    assert painted > bench.LATENCY / 1000
    assert alive > 2 * bench.LATENCY / 1000, "the page and its script wait for the line once each"
    assert all(set(row) == set(report.KEYS) for row in rows)


def test_the_heaviest_page_has_a_row_and_a_goal(site, browser, monkeypatch):
    monkeypatch.setattr(bench, "MOST", {})
    monkeypatch.setattr(bench, "MOST_OF_ANY", 10)
    (row,) = bench.weights(browser, site)
    assert (row["met"], row["note"]) == (False, "the heaviest page")
