"""A model to play with while its sentence changes: presses, resting pointers, open numbers."""

import pytest
from playwright.sync_api import expect

from attn_core.steps import workings
from attn_core.translators.grammar import CHINESE, ENGLISH
from tests.explorer.models import CROSS, SAY, counted, opened, passed, translated

NORM = "encoder.0.residuals.0.norm"
INNER = "encoder.1.attention"
ARCS = ((INNER, 2), (CROSS, 3))
LINE = ".am-panel .am-line"
FRAMES = "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"


@pytest.fixture
def arcs(play):
    """arcs(…) is a page with the sentence under arcs, as the landing page has it."""

    def arcs(say=SAY, **how):
        view = opened(say, switched=None, at=INNER, stage="weights", select=(2, 1, 2), arcs=ARCS)
        return play(view=view, **how)

    return arcs


def field(page):
    return page.get_by_label("your sentence")


def is_in_sight(page, css):
    box, height = page.locator(css).bounding_box(), page.viewport_size["height"]
    return box["y"] >= 0 and box["y"] + box["height"] <= height


def test_a_link_to_a_number_arrives_at_the_number(play):
    page = play(f"#x-translator?at={NORM}&select=1,2", viewport={"width": 390, "height": 700})
    expect(page.locator(LINE)).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("typed", ["Tom sees Jerry", "Tom sees xyl", "Tom se"])
def test_the_first_press_after_typing_arrives(play, typed):
    page = play()
    field(page).fill(typed)
    word = page.locator(".am-written .am-word").nth(1)
    word.hover()
    page.mouse.down()
    page.evaluate(FRAMES)  # a finger rests for some
    page.mouse.up()
    expect(word).to_have_attribute("aria-pressed", "true")
    # A link opens it.
    page.wait_for_function("() => location.hash.endsWith('word=2')")
    if typed == "Tom sees Jerry":
        assert "?say=Tom+sees+Jerry&" in page.evaluate("location.hash")
    word = play(page.evaluate("location.hash")).locator(".am-written .am-word").nth(1)
    expect(word).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("end", ["pointerup", "pointercancel"])
def test_a_sentence_is_read_however_the_press_ends_that_leaves_it(play, end):
    page = play()
    field(page).fill("Tom se")
    page.evaluate("() => dispatchEvent(new Event('pointerdown'))")
    field(page).blur()
    page.evaluate("(end) => dispatchEvent(new Event(end))", end)
    expect(page.locator(".am-said")).to_contain_text("se")


# What a reader sees and hears of a station, and what a cell or a picture is painted with.
STATION = """() => [document.querySelector(".am-panel").innerText,
  ...[...document.querySelectorAll(".am-panel :is(th, td, .ax-mini)")].map(
    (cell) => [cell.className, cell.title, cell.textContent, cell.getAttribute("style")].join())]"""
CASES = {  # the station, what is chosen before and after, whether the explorer's elements stay
    "a word": (CROSS, "say=the+cat+chases+Jerry", "say=the+dog+chases+Jerry", True),
    "more words": (CROSS, "say=Tom+sees+Jerry", "say=the+big+dog+sees+Tom+in+the+park", True),
    "fewer words": (INNER, "say=the+big+dog+sees+Tom", "say=Tom+sees+Jerry", True),
    "a row of a table": (NORM, "say=Tom+sees+Jerry", "say=Tom+helps+the+dog", True),
    "the scale": (CROSS, "", f"off=scale_off:{CROSS}", False),
    "the station": (CROSS, "", f"at={INNER}", False),
}


@pytest.mark.gate
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_other_numbers_in_the_elements_that_are_there_are_those_of_new_ones(play, case):
    at, before, after, stays = case
    select = "select=1,1" if at == NORM else "stage=weights&head=1&select=1,1,1"
    fresh = play(f"#x-translator?{select}&at={at}&{after}").evaluate(STATION)
    page = play(f"#x-translator?{select}&at={at}&{before}")
    page.locator('.am-numbers [data-row="1"][data-col="1"]').focus()
    page.evaluate("() => { window.was = [...document.querySelectorAll('.am-numbers .ax-grid')]; }")
    page.evaluate("(hash) => { location.hash = hash; }", f"x-translator?{select}&at={at}&{after}")
    page.wait_for_function(f"(fresh) => String(({STATION})()) === fresh", arg=",".join(fresh))
    assert page.evaluate("() => was.every((element) => element.isConnected)") == stays
    assert page.evaluate("() => document.activeElement.dataset.row") == "1"


def test_a_pointer_at_rest_survives_a_shorter_sentence(arcs, play):
    page = arcs("the big dog chases Jerry")
    page.locator(".am-arc-word").nth(4).hover()
    field(page).fill("the dog")
    expect(page.locator("button.am-arc-word")).to_have_text(["the", "dog"])
    page = play(f"#x-translator?say=the+big+dog+chases+Jerry&at={NORM}")
    page.locator('.am-table [data-row="4"][data-col="3"]').hover()
    field(page).fill("Tom sees Jerry")
    expect(page.locator(".am-table tbody tr")).to_have_count(3)


def test_a_number_that_a_shorter_sentence_does_not_have_is_closed(arcs):
    page = arcs("the big dog chases Jerry")
    page.locator('.am-numbers [data-row="4"][data-col="1"]').click()
    field(page).fill("Tom sees Jerry")
    expect(page.locator(".am-numbers tbody tr")).to_have_count(3)
    expect(page.locator(".am-numbers .ax-sentence")).to_be_empty()
    expect(page.locator(".ax-vectors")).to_be_hidden()


def test_a_number_waits_for_the_words_that_are_still_typed(play):
    page = play(f"#x-translator?at={NORM}&select=2,5")
    field(page).fill("Tom")
    expect(page.locator(LINE)).to_be_hidden()
    field(page).fill("Tom sees Jerry")
    done = passed("Tom sees Jerry", translated("Tom sees Jerry")[0][:-1])
    expect(page.locator(LINE)).to_have_text(workings(done, NORM, (2, 5)).text)
    field(page).fill("Tom")
    page.locator('.am-table [data-row="0"][data-col="1"]').click()
    field(page).fill("Tom sees Jerry")
    expect(page.locator(LINE)).to_contain_text(f"{NORM}[0, 1]")


@pytest.mark.parametrize("at", [NORM, CROSS])
def test_the_arithmetic_of_a_number_that_is_pressed_is_in_sight(play, at):
    page = play(f"#x-translator?at={at}", viewport={"width": 390, "height": 560})
    cell = page.locator('.am-numbers [data-row="0"][data-col="1"]')
    cell.scroll_into_view_if_needed()
    cell.click()
    expect(page.locator(LINE)).to_be_visible()
    assert is_in_sight(page, LINE)


def test_what_is_shown_while_a_word_is_refused_is_named_and_dim(play):
    page = play()
    dim = "() => getComputedStyle(document.querySelector('.am-written')).opacity < 1"
    field(page).fill("Tom chaes ")
    expect(page.locator(".am-still")).to_have_text(f"What is shown below is still for: {SAY}")
    assert page.evaluate(dim)
    field(page).fill("Tom sees Jerry")
    expect(page.locator(".am-still")).to_be_hidden()
    assert not page.evaluate(dim)


def test_a_word_that_none_is_like_has_all_words_to_choose_from(arcs):
    page = arcs()
    field(page).fill("Tom chases dinosaurs ")
    expect(page.locator(".am-fits button")).to_have_count(len(ENGLISH) - 3)
    said, fits = (page.locator(css).bounding_box()["y"] for css in (".am-said", ".am-fits"))
    assert said < fits, "the reason is nearest to the field"
    page.locator(".am-fits").get_by_text("Spike", exact=True).click()
    expect(field(page)).to_have_value("Tom chases Spike")


def test_a_translation_is_announced_where_it_is_not_drawn(arcs):
    page = arcs()
    status = page.get_by_role("status").filter(has_text="Translation")
    field(page).fill("Tom sees Jerry")
    expect(status).to_have_text(f"Translation: {' '.join(translated('Tom sees Jerry')[0])}")


def test_other_chances_than_on_the_words_have_their_reason(play):
    why = ".am-panel .am-why"
    page = play("#x-translator?at=probabilities")
    expect(page.locator(why)).to_be_hidden()
    page.get_by_label("temperature").fill("1")
    expect(page.locator(why)).to_contain_text("divided by 2")
    page = play("#x-translator?at=probabilities&off=mask_off:decoder.0.self_attention")
    expect(page.locator(why)).to_contain_text("the moment it was written")


def test_a_deep_number_is_read_at_full_width_below_its_path(play):
    page = play(f"#x-translator?at=probabilities&select=0,{CHINESE.index('汤姆')}")
    wide = page.locator(LINE).bounding_box()["width"]
    for _ in range(30):
        opens = page.locator(".am-opens")
        if not opens.count():
            break
        name = opens.last.locator(".ax-name").text_content()
        opens.last.click()
        expect(page.locator(f"{LINE} .ax-name")).to_have_text(name)
        assert page.evaluate(f"() => document.activeElement.matches('{LINE}')")
    assert page.locator(".am-crumb").count() == 6
    assert page.locator(LINE).bounding_box()["width"] == wide
    page.locator(".am-crumb").first.click()
    expect(page.locator(f"{LINE} .ax-name")).to_contain_text("probabilities[0")
    expect(page.locator(".am-trail")).to_be_hidden()


def test_a_link_reopens_a_number_as_far_as_it_was_opened(play):
    page = play("#x-translator?at=encoder.0.feed_forward.widen&select=1,5")
    page.get_by_role("button", name="more").click()
    opened_at = page.locator(".am-opens .ax-name")
    for nth in (20, 0, 0):
        name = opened_at.nth(nth).text_content()
        opened_at.nth(nth).click()
        expect(page.locator(f"{LINE} .ax-name")).to_have_text(name)
    tree = ".am-panel > .ax-tree"
    seen = page.locator(tree).inner_text()
    link = page.evaluate("location.hash")
    assert link.endswith("&select=1,5&trail=all,20,0,0")
    assert play(link).locator(tree).inner_text() == seen
    page.go_back()
    expect(page.locator(".am-crumb")).to_have_count(2)
    field(page).fill("Tom")
    expect(page.locator(tree)).to_be_hidden()
    field(page).fill(SAY)
    expect(page.locator(".am-crumb")).to_have_count(2)
    page.evaluate("location.hash = 'x-translator?at=encoder.0.feed_forward.widen&select=1,5'")
    expect(page.locator(".am-trail")).to_be_hidden()


def test_terms_that_a_sum_leaves_out_are_written_when_asked_for(play):
    done = passed(SAY, translated(SAY)[0][:-1])
    page = play("#x-translator?at=encoder.0.feed_forward.widen&select=1,5")
    shown = page.locator(".ax-parts > .am-led")
    expect(shown).to_have_count(13)
    page.get_by_role("button", name="more").click()
    width = done.value(NORM).shape[-1]
    expect(shown).to_have_count(width)
    assert page.locator(LINE).text_content().count("·") == width
    assert "more" not in page.locator(LINE).text_content()


def test_arcs_and_table_show_the_same_word(arcs):
    page = arcs("the big dog chases Jerry")
    pressed = page.locator('button.am-arc-word[aria-pressed="true"]')
    expect(pressed).to_have_text("big")
    page.locator("button.am-arc-word").nth(3).click()
    expect(page.locator(".am-explorer [aria-selected=true]")).to_have_attribute("data-row", "3")
    page.locator('.am-explorer [data-row="0"][data-col="2"]').click()
    expect(pressed).to_have_text("the")
    page.mouse.move(0, 0)
    expect(page.locator(".am-arc-said")).to_contain_text("the takes")
    expect(page.locator(".am-name")).to_have_text("The shares as numbers")
    page.evaluate("location.hash = '#x-translator?at=words_out'")
    expect(page.locator(".am-name")).to_have_text("writes: scores")


# The words, by place, at which each arc ends, and the rows of words that it crosses in between.
ENDS = """() => {
  const box = document.querySelector(".am-arcs-box").getBoundingClientRect();
  const words = [...document.querySelectorAll("button.am-arc-word")].map((word) => {
    const { left, width, top, bottom } = word.getBoundingClientRect();
    return [left + width / 2 - box.left, top - box.top, bottom - box.top];
  });
  const near = ({ x, y }) => words.findIndex(([a, top, bottom]) =>
    Math.abs(a - x) < 1 && Math.min(Math.abs(top - y), Math.abs(bottom - y)) < 1);
  const rows = [...new Map(words.map(([, top, bottom]) => [Math.round(top), bottom]))];
  return [...document.querySelectorAll(".am-arc:not(.am-arc-across)")].map((arc) => {
    const long = arc.getTotalLength();
    const ys = [...Array(41).keys()].map((n) => arc.getPointAtLength((n / 40) * long).y);
    const crossed = rows.filter(([top, bottom]) => ys.some((y) => y > top + 2 && y < bottom - 2));
    return [...[0, long].map((at) => near(arc.getPointAtLength(at))), crossed.length];
  });
}"""


def test_each_share_has_its_arc_between_the_words_of_both_rows(arcs):
    page = arcs("the big dog chases Jerry in the park", viewport={"width": 360, "height": 800})
    ends = page.evaluate(ENDS)
    done = passed("the big dog chases Jerry in the park", [])
    weights = done.value(INNER, "weights")[0, 2]
    seen = [(i, j) for i, row in enumerate(weights) for j, w in enumerate(row) if w >= 0.02]
    assert sorted((i, j) for i, j, _ in ends) == seen
    assert len({round(top) for top in tops_of(page)}) == 2, "the words fill two rows"
    assert {crossed for *_, crossed in ends} == {0}


def tops_of(page):
    words = page.locator("button.am-arc-word").all()
    return [word.bounding_box()["y"] for word in words]


def test_a_sentence_longer_than_those_of_training_is_said_to_be(play):
    page = play(view=opened(switched=counted(), longest_trained=5))
    note = page.locator(".am-long")
    expect(note).to_be_hidden()
    field(page).fill("the big dog chases Jerry in")
    expect(note).to_contain_text("has 6 words. The model was trained on sentences of up to 5")
