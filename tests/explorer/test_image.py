"""Weights laid on the image whose patches are the keys."""

import base64
import io

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import expect
from torch import nn

from attn_core.digits import fixed
from attn_core.views import explore, open_attention
from attn_core.views.image import grid_of, picture_of
from tests.attn_core.reference import drawn
from tests.explorer.conftest import faults

pytestmark = pytest.mark.gate

SIDE = 64
WHITE = np.full((SIDE, SIDE, 3), 255, dtype=np.uint8)


def looking(*rows):
    """Weights of one head: each row is all of one key of 17."""
    return torch.eye(17)[list(rows)]


def ramp(*shape):
    return np.arange(np.prod(shape), dtype=np.float64).reshape(shape) / (np.prod(shape) - 1)


@pytest.mark.parametrize(
    ("image", "size"),
    [
        (Image.new("L", (6, 4)), (6, 4)),
        (Image.new("RGBA", (6, 4)), (6, 4)),
        (ramp(4, 6), (6, 4)),
        (ramp(4, 6, 3).astype(np.float32), (6, 4)),
        (torch.from_numpy(ramp(3, 4, 6)), (6, 4)),
        (torch.from_numpy(ramp(1, 3, 4, 6)), (6, 4)),
        (torch.from_numpy(ramp(1, 4, 6)), (6, 4)),
        (WHITE, (SIDE, SIDE)),
    ],
)
def test_an_image_may_be_of_pil_numpy_or_torch(image, size):
    picture = picture_of(image)
    assert (picture.mode, picture.size) == ("RGB", size)


def test_numbers_are_pixels_and_normalised_ones_go_from_dark_to_bright():
    shares = ramp(2, 2)
    assert np.asarray(picture_of(shares))[..., 0].tolist() == [[0, 85], [170, 255]]
    assert np.asarray(picture_of(6 * shares - 3))[..., 0].tolist() == [[0, 85], [170, 255]]


def test_what_is_sent_is_the_image_made_smaller_and_its_grid():
    image = Image.new("RGB", (900, 600), (200, 100, 50))
    payload = explore(drawn(1, 4, 24).softmax(-1), image=image).payload["image"]
    sent = Image.open(io.BytesIO(base64.b64decode(payload.pop("data"))))
    assert sent.size == (448, 299)
    assert np.abs(np.asarray(sent).astype(int) - (200, 100, 50)).max() <= 3
    assert payload == {"grid": [4, 6], "first": 0, "batch": 0}
    assert image.size == (900, 600)


@pytest.mark.parametrize(
    ("keys", "size", "wanted"),
    [
        (196, (1, 1), (14, 14, 0)),
        (197, (1, 1), (14, 14, 1)),
        (198, (1, 1), (14, 14, 2)),
        (201, (1, 1), (14, 14, 5)),
        (197, (640, 480), (14, 14, 1)),  # an image that was made square
        (24, (600, 400), (4, 6, 0)),
        (25, (600, 400), (5, 5, 0)),
        (29, (700, 400), (4, 7, 1)),
    ],
)
def test_the_grid_follows_from_keys_and_image(keys, size, wanted):
    assert grid_of(None, keys, size) == wanted


def test_patches_have_names_unless_tokens_are_given():
    view = explore(looking(*range(17)), image=WHITE)
    assert view.payload["tokens"]["keys"][:3] == ["[CLS]", "0·0", "0·1"]
    assert view.payload["tokens"]["queries"] == view.payload["tokens"]["keys"]
    one = explore(looking(3), image=WHITE, tokens=["cat"])
    assert one.payload["tokens"] == {"queries": ["cat"], "keys": [*map(str, range(17))]}


@pytest.fixture(scope="module")
def two_towers():
    """A model that attends over patches and over words."""

    class Towers(nn.Module):
        def __init__(self):
            super().__init__()
            self.vision = nn.MultiheadAttention(8, 2, batch_first=True)
            self.text = nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, patches, words):
            return self.vision(patches, patches, patches)[0], self.text(words, words, words)[0]

    torch.manual_seed(0)
    return Towers(), (drawn(1, 1, 17, 8).float(), drawn(2, 1, 7, 8).float())


@pytest.mark.parametrize("grid", [None, (4, 4)])
def test_of_a_model_only_attentions_over_patches_get_the_image(two_towers, grid):
    model, inputs = two_towers
    opened = open_attention(model, *inputs, image=WHITE, grid=grid)
    assert ["image" in each.payload for each in opened] == [True, False]


def lightness(page):
    """How bright each patch of the canvas is, 0 to 255, by rows."""
    return page.locator(".ax-image canvas").evaluate(
        """(canvas, n) => {
          const copy = new OffscreenCanvas(canvas.width, canvas.height);
          const context = copy.getContext("2d", { willReadFrequently: true });
          context.drawImage(canvas, 0, 0);
          return Array.from({ length: n * n }, (_, at) => {
            const [r, c] = [Math.floor(at / n), at % n];
            const [x, y] = [((c + 0.5) * canvas.width) / n, ((r + 0.5) * canvas.height) / n];
            return context.getImageData(x, y, 1, 1).data[0];
          });
        }""",
        4,
    )


@pytest.mark.parametrize("script", ["module", "classic"])
def test_the_brightest_patch_is_the_one_that_gets_most(bare, script):
    view = explore(looking(6, 11, 0), image=WHITE, tokens=["a", "b", "c"], name="seen")
    page = bare.open(view, script=script)
    expect(page.locator(".ax-image canvas")).to_have_attribute("width", "64")
    bright = lightness(page)
    assert [n for n, light in enumerate(bright) if light > 200] == [5]
    assert max(light for n, light in enumerate(bright) if n != 5) < 60
    about = page.locator(".ax-onimage")
    expect(about).to_contain_text("a gives most, 1.0000, to 6, and 1.00 to all patches.")
    about.get_by_label("query on the image").select_option("b")
    assert [n for n, light in enumerate(lightness(page)) if light > 200] == [10]
    expect(page.locator(".ax-sentence")).to_have_text("Query b gives 1.0000 to key 11.")
    about.get_by_label("query on the image").select_option("c")
    expect(about).to_contain_text("c gives no weight to any patch.")
    assert faults(page, ".ax-root") == []


def test_a_patch_opens_its_weight_and_shows_its_query(bare):
    x = drawn(4, 17, 8).float()
    model = nn.MultiheadAttention(8, 1, batch_first=True)
    opened = open_attention(model, x[None], x[None], x[None], image=WHITE, name="vit")
    page = bare.open(opened.html, script="classic")
    box = page.locator(".ax-image").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.4)
    weights = opened[0].record.stage("weights")[0, 0]
    place = 1 + 4 * 1 + 2
    expect(page.locator(".ax-tip")).to_contain_text(fixed(weights[0, place].item()))
    page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.4)
    number = fixed(weights[0, place].item())
    expect(page.locator(".ax-sentence")).to_have_text(f"Query [CLS] gives {number} to key 1·2.")
    box, key = (page.locator(css).bounding_box() for css in (".ax-image", ".ax-patch-k"))
    assert abs(key["x"] - box["x"] - box["width"] / 2) < 1
    assert abs(key["y"] - box["y"] - box["height"] / 4) < 1
    page.locator('.ax-cell[data-row="4"][data-col="9"]').hover()
    expect(page.get_by_label("query on the image")).to_have_value("4")
    expect(page.locator(".ax-patch-q")).to_be_visible()


def test_it_belongs_to_its_sequence(bare):
    weights = torch.stack([looking(6), looking(7)])[:, None]
    page = bare.open(explore(weights, image=WHITE, batch=1, name="two"), script="classic")
    expect(page.locator(".ax-onimage")).to_be_visible()
    page.locator("select[aria-label=batch]").select_option("0")
    expect(page.locator(".ax-onimage")).to_be_hidden()


def test_in_a_saved_file_it_is_there_offline(browser, tmp_path):
    page = browser.new_context(offline=True).new_page()
    page.goto(explore(looking(6), image=WHITE).save(tmp_path / "image.html").as_uri())
    expect(page.locator(".ax-image canvas")).to_have_attribute("width", "64")
    assert [n for n, light in enumerate(lightness(page)) if light > 200] == [5]
    page.context.close()


def test_in_chinese(bare):
    page = bare.open(explore(looking(6), image=WHITE), script="classic", html='lang="zh-CN"')
    expect(page.locator(".ax-onimage")).to_contain_text("权重越大，图块越亮。")
