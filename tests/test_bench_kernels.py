"""What the comparison of attention measures: peers that compute the same, rows that say what."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest
import torch

from attn_core import causal, trace
from benchmarks import every_mask, gpu, kernels, peers, report, threads, timing, watching
from tests.conftest import ROOT
from tests.processes import ran

pytestmark = pytest.mark.gate

SHAPE = (2, 3, 7, 4)


@pytest.fixture
def torch_alone(monkeypatch):
    """The peers of the bench's own environment are left out."""
    name = "nn.MultiheadAttention's operations"
    monkeypatch.setattr(kernels, "WITH_WEIGHTS", {name: kernels.WITH_WEIGHTS[name]})


def test_peers_compute_the_same():
    q, k, v = kernels.inputs(*SHAPE)
    record = trace(q, k, v, keep=causal())
    wanted = record.output, record.stage("weights")
    for attend in (peers.textbook, peers.torch_with_weights()):
        for theirs, exact in zip(attend(q, k, v), wanted, strict=True):
            torch.testing.assert_close(theirs, exact)
    torch.testing.assert_close(peers.torch_alone(q, k, v, is_causal=True), record.output)
    output, lse = peers.flash_of_torch(q, k, v)
    torch.testing.assert_close(output, record.output)
    torch.testing.assert_close(lse, record.lse)


@pytest.mark.parametrize("name", every_mask.masks(2, 7))
def test_all_sides_are_handed_the_same_mask(name):
    with torch.no_grad():
        calls = every_mask.calls(kernels.inputs(2, 3, 27, 4), name)
        wanted = calls["attention"]()
        torch.testing.assert_close(calls["SDPA"](), wanted)
        torch.testing.assert_close(calls["trace"]().output, wanted)
        output, weights = calls["MHA"]()
        torch.testing.assert_close(output, wanted)
        torch.testing.assert_close(calls["one head"](), weights[0, 0])
        for mine, other in zip(calls["back"](), calls["SDPA, back"](), strict=True):
            torch.testing.assert_close(mine, other)


def test_a_definition_is_taken_from_a_packages_text(tmp_path, monkeypatch):
    text = "import nothing_like_it\ndef f(x: Unknown, *, n: Unknown = 2) -> Unknown: return n * x"
    (tmp_path / "file.py").write_text(text)
    place = type("Distribution", (), {"locate_file": staticmethod(tmp_path.joinpath)})
    monkeypatch.setattr(peers, "distribution", lambda name: place)
    assert peers.defined("toy", "file.py", ("f",)).f(21) == 42


def test_every_row_says_what_was_measured(torch_alone):
    with torch.no_grad():
        lines = kernels.maps((1, 2, 520, 4), 2, rounds=2)
        lines += kernels.small(rounds=2) + kernels.settings(6, 2, rounds=2)
        qkv = kernels.inputs(*SHAPE)
        lines += every_mask.rows(qkv, 2, kernels.faster, kernels.no_slower)
        lines += threads.rows(520, "alone", rounds=2) + threads.untimed(520, "alone")
    lines += [line | {"section": "kernels"} for line in gpu.unmeasured()]
    assert all(set(line) == set(report.KEYS) for line in lines)
    assert len(report.table(lines).splitlines()) == len(lines) + 2
    for line in lines:
        measured = line["measured"]["ours"] != "–"
        assert (line["met"] is None) == (not line["goal"] or not measured), line
    unmeasured = {line["note"] for line in lines if line["measured"]["ours"] == "–"}
    assert unmeasured == {gpu.NOT_MEASURED, timing.NOT_TIMED}


def test_what_a_gpu_gave_stays_when_a_machine_without_one_measures(tmp_path, monkeypatch):
    path = tmp_path / "results.json"
    monkeypatch.setattr(report, "RESULTS", path)
    for first, kept in (({}, gpu.unmeasured()), ({"gpu": {"rows": [1]}}, [1])):
        path.write_text(json.dumps(first), encoding="utf-8")
        gpu.main("unmeasured")
        assert json.loads(path.read_text(encoding="utf-8"))["gpu"]["rows"] == kept


def test_a_goal_is_met_or_not():
    times = {"ours": [2.0, 2.0], "theirs": [4.0, 6.0]}
    assert kernels.faster("", 2.5, times, "ours", "theirs")["met"] is True
    assert kernels.faster("", 2.6, times, "ours", "theirs")["met"] is False
    assert kernels.no_slower("", 0.4, times, "ours", "theirs")["met"] is False
    assert kernels.no_slower("", 0.5, times, "ours", "theirs")["met"] is True


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Linux says it in /proc")
def test_a_long_text_is_measured(torch_alone):
    with torch.no_grad():
        lines = kernels.long(2048)
    assert {line["section"] for line in lines} == {"long"}
    assert all(line["measured"]["ours"] and line["goal"] for line in lines)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this is what a machine without a GPU says")
@pytest.mark.parametrize("command", ["bench-gpu", "test-gpu"])
def test_without_a_gpu_one_sentence_is_said(command):
    run = ran(sys.executable, "-m", "benchmarks.gpu", command, cwd=ROOT)
    assert run.returncode == 1
    assert run.stderr.splitlines() == [gpu.NEEDS_A_GPU.format(command)]


def test_a_watched_model_beside_the_model_alone(monkeypatch):
    monkeypatch.setattr(watching, "memory_row", lambda name, tokens: kernels.row(name, "", ""))
    models = {
        name: replace(shape, layers=2, head_dim=4, hidden=8)
        for name, shape in watching.MODELS.items()
    }
    with torch.no_grad():
        lines = watching.rows(models, tokens=8, long=8, rounds=2)
        assert [set(line) for line in lines] == [set(report.KEYS)] * 4
        for shape in models.values():
            seen = watching.watched(*watching.model_and_input(shape, 8))
            assert [repr(record.keep) for record in seen.all()] == ["causal()"] * 2
            assert watching.memory(shape, 8)[1] == sum(
                8 * 4 * 4 * (r.q.shape[1] + 2 * r.k.shape[1]) for r in seen.all()
            )
