"""The landing page: a language model reads five words, and one of its heads is switched off."""

from playwright.sync_api import expect

from tests.conftest import HTML

PHONE = {"width": 390, "height": 800}


def test_a_head_takes_paris_away(open_page, site, edition):
    page = open_page(f"{site}/{edition}book/index.html", viewport=PHONE)
    best = page.locator(".ax-likely").first
    expect(best).to_have_text("Paris77 %")
    page.locator(".ax-of-head input").uncheck()
    expect(best).to_have_text("Paris14 %")
    page.locator(".ax-texts button").last.click()
    expect(page.locator(".ax-comes")).to_have_text("New")
    page.locator(".ax-of-head input").check()
    expect(page.locator(".ax-comes")).to_have_text("Beijing")


def test_no_line_ends_between_a_number_and_its_unit(open_page, site, edition):
    page = open_page(f"{site}/{edition}book/index.html")
    assert "77\u00a0%" in page.locator("article p", has_text="77").first.text_content()


def test_the_number_that_asks_to_be_pressed_opens_in_sight_down_to_q_and_k(open_page):
    page = open_page((HTML / "book/index.html").as_uri(), viewport=PHONE)
    number = page.locator(".ax-of-word.ax-most")
    expect(number).to_have_text("0.90")
    number.click()
    line = page.locator("attention-explorer[name='capital'] .ax-tree > :first-child").first
    expect(line).to_contain_text("weights[4, 3] = exp(")
    expect(line).to_contain_text("0.9033")
    expect(line).to_be_in_viewport()


def test_a_wide_page_has_the_arithmetic_beside_the_weights(open_page, site, edition):
    """Its place is kept, so nothing moves when a number is pressed."""
    page = open_page(f"{site}/{edition}book/index.html", viewport={"width": 1280, "height": 900})
    explorer = page.locator("attention-explorer[name='capital']")
    panel = explorer.locator(".ax-panel")
    expect(panel).to_be_visible()
    weights, arithmetic, whole = (
        part.bounding_box() for part in (explorer.locator(".ax-map"), panel, explorer)
    )
    assert arithmetic["y"] == weights["y"]
    assert arithmetic["x"] > weights["x"] + weights["width"]
    page.locator(".ax-of-word.ax-most").click()
    expect(panel).to_contain_text("0.9033")
    assert explorer.bounding_box()["height"] == whole["height"]


def test_the_next_word_follows_in_the_line_of_a_small_phone(open_page, site):
    page = open_page(f"{site}/book/index.html", viewport={"width": 320, "height": 640})
    for name in ("France", "Germany", "Japan", "China"):
        page.locator(".ax-texts").get_by_text(name).click()
        last, following = (page.locator(of).last for of in (".ax-word", ".ax-comes"))
        assert following.bounding_box()["y"] == last.bounding_box()["y"], name


def test_it_asks_for_what_it_begins_with_at_once(open_page, site):
    """A page that waited for the first script to ask for the second would be alive later."""
    asked = []
    page = open_page("about:blank")
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site}/book/index.html")
    text = (HTML / "book/index.html").read_text(encoding="utf-8")
    assert "explorer-prompts.js" in text
    assert "explorer-model.js" not in text
    page.locator(".ax-prompts").wait_for()
    assert sum("explorer-prompts.js" in url for url in asked) == 1
    assert not any("explorer-model.js" in url or "explorer-lab.js" in url for url in asked)


def test_the_way_to_ones_own_text(open_page, site):
    page = open_page(f"{site}/book/index.html")
    page.locator("article").get_by_role("link", name="type some text of your own").click()
    page.wait_for_url("**/book/language_model.html")
    expect(page.locator("language-model .lm-root")).to_be_visible()
