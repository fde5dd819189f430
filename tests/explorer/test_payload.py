"""What a page gets beyond the numbers of one record: mistakes, overviews, one head's values."""

import pytest
import torch

from attn_core import Dropout, alibi, causal, padding, trace
from attn_core.mistakes import MISTAKES
from attn_core.views import explore
from attn_core.views.payload import array, bytes_of
from tests.explorer.cases import decoded, settings_of


def heads(B=1, H=2, L=6, D=3, keep=None, seed=5):
    made = torch.Generator().manual_seed(seed)
    return trace(*(torch.randn(B, H, L, D, generator=made) for _ in range(3)), keep=keep)


@pytest.mark.parametrize("name", [name for name, m in MISTAKES.items() if m.is_formula])
def test_a_mistake_of_a_formula_is_sent_by_its_name(name):
    mistake = MISTAKES[name]
    assert explore(heads(), mistakes=[name]).payload["mistakes"] == [
        {
            "name": name,
            "title": mistake.title,
            "says": f"{mistake.does} {mistake.symptom}",
            "other": None,
        }
    ]


@pytest.mark.parametrize("name", [name for name, m in MISTAKES.items() if m.inputs])
@pytest.mark.parametrize("store", [None, "float16"])
def test_a_mistake_of_the_heads_is_sent_with_the_record_it_makes(name, store):
    record = heads(H=6, keep=causal())
    wrong = MISTAKES[name].inputs(record)
    (sent,) = explore(record, mistakes=[name], store=store).payload["mistakes"]
    for part in "qkv":
        wanted = getattr(wrong, part).to(torch.float16 if store else torch.float32)
        assert decoded(sent["other"][part]).equal(wanted)
    assert sent["other"]["keep"] == wrong.keep.to_json()
    assert not torch.equal(wrong.stage("weights"), record.stage("weights"))


def test_a_wrong_record_can_be_given():
    record = heads()
    wrong = trace(record.v, record.k, record.v, scale=2.0, dropout=Dropout(0.5, 7))
    (sent,) = explore(record, mistakes=[("layer-norm-n-minus-1", wrong)]).payload["mistakes"]
    assert decoded(sent["other"]["q"]).equal(record.v)
    assert sent["other"]["scale"] == 2.0
    assert sent["other"]["dropout"] == {"p": 0.5, "seed": 7}
    assert sent["title"] == MISTAKES["layer-norm-n-minus-1"].title


@pytest.mark.parametrize("keep", [None, causal()])
def test_a_long_map_has_an_overview_of_each_head_within_half_a_step(keep):
    record = heads(B=2, H=2, L=601, keep=keep)
    sent = explore(record).payload["overview"]
    assert sent["stage"] == "weights"
    for how in ("mean", "max"):
        part = sent[how]
        assert part["shape"] == [2, 2, 96, 96]
        levels = decoded(part).view(4, 96, 96).double() / 255
        scale = torch.tensor(part["scale"], dtype=torch.float64).view(4, 1, 1)
        places = [{"batch": b, "head": h} for b in range(2) for h in range(2)]
        wanted = torch.stack([record.pooled("weights", (96, 96), how, **at) for at in places])
        assert (levels * scale - wanted).abs().max() <= scale.max() / 510 * 1.001
        assert levels.amax((1, 2)).tolist() == [1.0] * 4


def test_a_payload_leaves_out_what_is_not_needed():
    """The overview of a short map, and which heads' values there are, where all are."""
    short, one_long_head = (explore(heads(H=H, L=L)).payload for H, L in ((12, 512), (1, 513)))
    assert short.keys().isdisjoint({"overview", "mistakes"})
    assert "heads" not in short["v"]
    assert "heads" not in one_long_head["v"]


@pytest.mark.parametrize(("H", "key_heads", "L"), [(13, 13, 6), (2, 2, 513), (14, 2, 6)])
def test_of_many_or_long_heads_only_the_chosen_ones_values_are_sent(H, key_heads, L):
    q, k = heads(B=2, H=H, L=L).q, heads(B=2, H=key_heads, L=L).k
    record = trace(q, k, k)
    payload = explore(record, head=H // key_heads).payload
    assert payload["v"]["heads"] == [1]
    assert decoded(payload["v"]).equal(record.v[:, 1:2])
    assert decoded(payload["q"]).equal(record.q)
    assert decoded(payload["k"]).equal(record.k)


@pytest.mark.parametrize("store", [None, "float16"])
def test_a_payload_has_bias_softcap_and_sinks_of_a_record_that_has_them(store):
    record = heads()
    sinks, slopes = torch.tensor([0.1, -2.0]), torch.tensor([0.3, 1.0])
    table = (torch.eye(6) / 3).expand(1, 2, 6, 6)  # one for both heads, and sent once
    added = {"bias": alibi(slopes) + table, "softcap": 5.0, "sinks": sinks}
    more = trace(record.q, record.k, record.v, **added)
    sent, plain = (explore(each, store=store).payload for each in (more, record))
    assert sent.keys() - plain.keys() == {"bias", "softcap", "sinks"}
    assert sent["softcap"] == 5.0
    parts = {"sinks": sent["sinks"], **sent["bias"]}
    wanted = {"sinks": sinks, "slopes": slopes, "table": table[:, :1]}
    assert parts.keys() == wanted.keys()
    for name, tensor in wanted.items():
        assert decoded(parts[name]).equal(tensor.half() if store else tensor), name
    if store:
        q, k, v = (tensor.half().double() for tensor in (record.q, record.k, record.v))
        added |= {"bias": alibi(slopes.half()) + table.half(), "sinks": sinks.half()}
        exact = trace(*(t.double() for t in (more.q, more.k, more.v)), **settings_of(more))
        error = trace(q, k, v, **added).stage("weights") - exact.stage("weights")
        assert sent["error"] == pytest.approx(error.abs().max().item(), rel=1e-9)


def test_rows_that_see_nothing_have_no_error_and_long_maps_are_measured_in_parts():
    """800 columns, so 655 rows at a time."""
    record = heads(B=2, H=1, L=800, keep=causal() & padding([0, 800]))
    whole = explore(record, store="float16").payload["error"]
    sent = trace(*(t[1:].half().double() for t in (record.q, record.k, record.v)), keep=causal())
    given = trace(*(t[1:].double() for t in (record.q, record.k, record.v)), keep=causal())
    wanted = (sent.stage("weights") - given.stage("weights")).abs().max().item()
    assert whole == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_many_numbers_are_sent_in_base85_and_arrive(dtype, inside):
    x = torch.randn(1, 3, 601, 601, generator=torch.Generator().manual_seed(1)).to(dtype)
    sent = array(x)
    assert "data" not in sent
    assert len(sent["data85"]) == -(-x.numel() * x.element_size() // 4) * 5
    assert torch.frombuffer(bytearray(bytes_of(sent)), dtype=dtype).equal(x.flatten())
    assert not set(sent["data85"]) & set("\"&'/<>\\`|")
    some = inside.evaluate(
        "([sent]) => [...inside.decode(sent, 'x', 4).numbers.slice(-601)]", [sent]
    )
    assert some == x[0, 2, 600].tolist()
