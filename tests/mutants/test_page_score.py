"""The functions of the page whose loss no test notices: score, table and reasons agree."""

from checks.page_score import LEAST, TABLE, explained, files, per_cent, stored, table


def test_what_was_measured_is_there():
    """What was not is named in the table: a script may be new before its score is measured."""
    assert list(stored()) == [file for file in files() if file in stored()]
    assert "attn_core/views/page/features/map.js" in files()


def test_the_score_counts_the_survivors():
    for row in stored().values():
        assert row["made"] == row["noticed"] + len(row["survivors"])
    assert sum(row["made"] for row in stored().values()) > 400
    assert per_cent(stored().values()) >= LEAST


def test_each_survivor_has_a_reason():
    survivors = {(file, name) for file, row in stored().items() for name in row["survivors"]}
    assert survivors == set(explained())
    assert all(reason.endswith(".") for reason in explained().values()), "it is a sentence"


def test_the_table_is_that_of_the_score():
    assert TABLE.read_text(encoding="utf-8") == table(stored(), explained(), files())


def test_the_table_names_what_was_not_measured():
    row = {"made": 8, "noticed": 7, "survivors": ["one"], "date": "d"}
    lines = table({"page/a.js": row}, {}, ["page/a.js", "page/b.js"]).splitlines()
    assert "| `page/a.js` | 8 | 7 | 1 | 87.5 % | d |" in lines
    assert "| `page/b.js` | | | | not measured yet | |" in lines
    assert "| all that were measured | 8 | 7 | 1 | 87.5 % | |" in lines
    assert "| `a.js` | `one` | **not explained** |" in lines
