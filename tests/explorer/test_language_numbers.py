"""SmolLM2 in three browsers: 2,000 numbers of 20 texts are Python's, within the bound said."""

from pathlib import Path

import pytest

from attn_core.pretrained import smollm2
from publishing.site import language_shards
from tests.engines import served
from tests.smollm2_numbers import check, drawn, wanted

pytestmark = [
    pytest.mark.deep,
    pytest.mark.trained_model,
    pytest.mark.xdist_group("numbers of SmolLM2"),
]

VIEWS = Path(__file__).parents[2] / "attn_core" / "views"
TEXTS = (
    "The capital of France is",
    "When Mary and John went to the store, John gave a drink to",
    "The animal didn't cross the street because it was too tired",
    "Here are Mr and Mrs Dursley. Mr and Mrs Durs",
    "Once upon a time there was a",
    "2 + 2 = 4 and 3 + 3 =",
    "def add(a, b):\n    return a +",
    "Words: lamp river seven blue lamp river seven",
    "She sells sea shells by the sea",
    "To be, or not to be, that is the",
    "Water boils at one hundred degrees",
    "Il fait beau aujourd'hui à",
    "An apple a day keeps the doctor",
    "Dear Sir or Madam,\n\nI am writing to",
    "The opposite of hot is",
    "Monday, Tuesday, Wednesday,",
    "In 1969 the first men walked on the",
    "The quick brown fox jumps over the lazy",
    "猫 is the Chinese word for",
    "😀 means that somebody is",
)
OF_A_TEXT = 100
PAGE = """<!doctype html><meta charset="utf-8"><title>numbers</title><script type="module">
import { KERNELS } from "./built/kernels.js";
import { engineOf, explained } from "./page/test/smollm2_numbers.js";
const bytes = async (name) => new Uint8Array(await (await fetch(`shards/${name}`)).arrayBuffer());
const index = await (await fetch("shards/index.json")).json();
const engine = await engineOf(index, bytes, KERNELS);
window.numbersOf = ([ids, numbers]) => explained(engine, ids, numbers);
</script>"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("smollm2")
    language_shards.write(language_shards.published(), folder / "shards")
    for name in ("page", "built"):
        (folder / name).symlink_to(VIEWS / name)
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    with served(folder) as address:
        yield address


@pytest.fixture(scope="module")
def texts():
    """By text its ids, the numbers that are asked for, and what Python has for each."""
    model = smollm2()
    asked = []
    for seed, text in enumerate(TEXTS):
        ids = model.ids(text)[0].tolist()
        numbers = drawn(seed, OF_A_TEXT, len(ids))
        steps = model.recorded(text)
        asked.append((ids, numbers, [wanted(steps, number) for number in numbers]))
    return asked


def test_two_thousand_numbers_are_pythons(tab, address, texts):
    tab.open(f"{address}/index.html")
    tab.wait("() => !!window.numbersOf")
    seen = kept = 0
    for ids, numbers, values in texts:
        made = tab.evaluate("(asked) => window.numbersOf(asked)", [ids, numbers])
        for number, one, value in zip(numbers, made, values, strict=True):
            kept += check(number, one, value)
            seen += 1
    assert seen == 2000
    assert kept > 300
