"""The stored measurement is whole, and the command that makes it works."""

import json

import torch

from benchmarks import cost


def test_the_stored_measurement_says_where_and_when():
    stored = json.loads(cost.RESULT.read_text(encoding="utf-8"))
    assert all(stored[name] for name in ("what", "machine", "date", "python", "torch"))
    for table in (stored["milliseconds"], stored["ratio_to_attention"]):
        assert table.keys() == cost.layers(4).keys()
        assert all(len(row) == len(stored["lengths"]) for row in table.values())
        assert all(number > 0 for row in table.values() for number in row)
    assert set(stored["ratio_to_attention"]["attention"]) == {1.0}


def test_it_measures_every_layer_at_every_length():
    with torch.no_grad():
        tables = cost.measure(lengths=(4, 8, 16), rounds=3, width=8)
    for table in tables.values():
        assert {name: len(row) for name, row in table.items()} == dict.fromkeys(cost.layers(8), 3)
