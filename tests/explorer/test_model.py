"""A model to play with as a visitor meets it: sentence, translation, machine, switches."""

import json
import re

import pytest
from playwright.sync_api import expect

from attn_core.digits import fixed
from attn_core.steps import Changes, backward, workings
from attn_core.translators.grammar import CHINESE, ENGLISH
from tests.explorer.conftest import faults
from tests.explorer.models import CROSS, SAY, opened, passed, percent, translated

HEAD = '.am-explorer select[aria-label="head"]'
NORM = "encoder.0.residuals.0.norm"


def words(page, css=".am-written .am-word bdi"):
    return page.locator(css).all_text_contents()


def shares(page):
    return page.locator(".am-written .am-word small").all_text_contents()


def station(page, name):
    return page.locator(f'.am-station[data-step="{name}"]')


def cells(page):
    return page.eval_on_selector_all(
        ".am-numbers .ax-grid tbody tr",
        "rows => rows.map((r) => [...r.cells].slice(1).map((c) => c.textContent))",
    )


def written(values):
    return [[fixed(x) for x in row] for row in values.tolist()]


def lines(page):
    return page.locator(
        ".am-panel > .ax-tree :is(.am-line, .am-opens, .ax-leaf)"
    ).all_text_contents()


def state(page):
    """What the address says of the model."""
    query = page.evaluate("() => decodeURIComponent(location.hash)").partition("?")[2]
    return dict(part.split("=", 1) for part in query.split("&") if part)


@pytest.mark.parametrize("over", [pytest.param("http", marks=pytest.mark.slow), "file"])
def test_a_typed_sentence_is_translated_as_python_does(play, over):
    page = play(over=over)
    say = "the grey cat sees Spike in the garden"
    page.get_by_label("your sentence").fill(say)
    translation, chances = translated(say)
    assert words(page) == translation
    assert shares(page) == [percent(share) for share in chances]
    page.wait_for_function("() => location.hash.includes('say=')")
    page.reload()
    expect(page.get_by_label("your sentence")).to_have_value(say)
    assert words(page) == translation


def test_words_are_pressed_and_written_as_people_write(play):
    page = play()
    page.locator(".am-all summary").click()
    for word in ("because", "Spike"):
        page.locator(".am-words").get_by_text(word, exact=True).click()
    expect(page.get_by_label("your sentence")).to_have_value(f"{SAY} because Spike")
    page.get_by_role("button", name="last word").click()
    expect(page.get_by_label("your sentence")).to_have_value(f"{SAY} because")
    page.get_by_label("your sentence").fill("The Cat  sees, tom.")
    assert words(page) == translated("the cat sees Tom")[0]


def test_an_unknown_word_is_said_in_its_place_with_those_that_fit(play):
    page = play()
    field, said = page.get_by_label("your sentence"), page.locator(".am-said")
    field.fill("Tom chaes ")
    expect(said).to_have_text("The model does not know the word chaes; it knows chases.")
    assert field.get_attribute("aria-invalid") == "true"
    assert words(page) == translated(SAY)[0], "what was there stays"
    page.locator(".am-fits button").first.click()
    expect(field).to_have_value("Tom chases")
    expect(said).to_be_empty()
    assert words(page) == translated("Tom chases")[0]
    field.fill("Tom chases xylophones")
    expect(said).to_be_empty()  # it may still become a word
    field.press("Enter")
    expect(said).to_have_text("The model does not know the word xylophones.")


def test_a_number_that_is_open_answers_another_sentence(play):
    page = play(f"#x-translator?at={NORM}&select=1,5")
    page.get_by_label("your sentence").fill("Tom sees Jerry")
    done = passed("Tom sees Jerry", translated("Tom sees Jerry")[0][:-1])
    assert lines(page)[0] == workings(done, NORM, (1, 5)).text
    page.get_by_label("your sentence").fill("Tom")
    expect(page.locator(".am-panel > .ax-tree")).to_be_hidden()  # there is no such row


def test_no_word_and_too_many_are_said(play):
    page = play()
    field, said = page.get_by_label("your sentence"), page.locator(".am-said")
    field.fill("")
    expect(said).to_have_text("A sentence must have a word.")
    field.fill(" ".join(["Tom"] * 65))
    expect(said).to_have_text("A sentence may have up to 64 words; this one has 65.")
    assert words(page) == translated(SAY)[0]
    field.fill(" ".join(["Tom"] * 64))
    expect(said).to_be_empty()


def test_the_translation_is_written_word_by_word_and_played(play):
    page = play(alone=True)
    all_words, _ = translated(SAY)
    back, on = (page.get_by_role("button", name=name) for name in ("one word back", "next word"))
    expect(on).to_be_disabled()
    back.click()
    assert words(page) == all_words[:-1]
    back.click()
    assert words(page) == all_words[:-2]
    on.click()
    on.click()
    assert words(page) == all_words
    expect(on).to_be_disabled()
    expect(on).to_be_focused()
    page.clock.install()
    page.get_by_role("button", name="play").click()
    assert words(page) == all_words[:1]
    page.clock.run_for(950)
    assert words(page) == all_words[:2]
    page.get_by_role("button", name="pause").click()
    page.clock.run_for(5000)
    assert words(page) == all_words[:2]
    page.get_by_role("button", name="play").click()
    page.clock.run_for(9000)
    assert words(page) == all_words
    expect(page.get_by_role("button", name="play")).to_be_visible()


def test_another_word_is_taken_and_what_follows_changes(play):
    page = play()
    page.locator(".am-written .am-word").nth(1).click()
    choice = page.locator(".am-choice").nth(1)
    taken = choice.locator("bdi").text_content()
    choice.click()
    wanted, chances = translated(SAY, taken={1: CHINESE.index(taken)})
    assert words(page) == wanted
    assert shares(page) == [percent(share) for share in chances]
    expect(page.locator(".am-taken")).to_have_count(1)
    assert words(page, ".am-right bdi") == translated(SAY)[0]
    page.wait_for_function("() => location.hash.includes('taken=')")
    assert state(page)["taken"] == f"1:{taken}"
    page.locator(".am-choice").nth(0).click()
    assert words(page) == translated(SAY)[0]
    expect(page.locator(".am-right")).to_be_hidden()


def test_a_word_that_is_taken_keeps_those_before_it_alone(play):
    page = play("#x-translator?taken=0:猫,2:狗")
    page.locator(".am-written .am-word").nth(1).click()
    second = page.locator(".am-choice").nth(1)
    taken = second.locator("bdi").text_content()
    second.click()
    page.wait_for_function("(word) => decodeURIComponent(location.hash).includes(word)", arg=taken)
    assert state(page)["taken"] == f"0:猫,1:{taken}"
    wanted, _ = translated(SAY, taken={0: CHINESE.index("猫"), 1: CHINESE.index(taken)})
    assert words(page) == wanted


def test_the_temperature_changes_the_shares_and_not_the_order(play):
    page = play()
    page.locator(".am-written .am-word").nth(0).click()
    before = words(page, ".am-choice bdi")
    slider = page.get_by_label("temperature")
    slider.fill("2")
    wanted, chances = translated(SAY, temperature=4)
    assert (words(page), shares(page)) == (wanted, [percent(share) for share in chances])
    assert words(page, ".am-choice bdi") == before
    expect(page.locator(".am-likeliest .am-look")).to_contain_text("divided by 4")


def test_a_station_shows_pythons_numbers(play):
    done = passed(SAY, translated(SAY)[0][:-1])
    page = play()
    for name in ("source_words", "encoder.1.feed_forward.narrow", NORM, "words_out"):
        station(page, name).click()
        assert cells(page) == written(done.value(name)[0]), name
    station(page, NORM).click()
    for stage in ("mean", "variance", "normed"):
        page.locator(".am-stages").get_by_text(stage, exact=True).click()
        assert cells(page) == written(done.value(NORM, stage)[0]), stage
    station(page, "source").click()
    ids = [f"{word} {ENGLISH.index(word)}" for word in SAY.split()]
    expect(page.locator(".am-ids")).to_have_text(" · ".join(ids))


def test_an_attention_is_an_explorer_of_its_heads(play):
    done = passed(SAY, translated(SAY)[0][:-1])
    page = play()
    station(page, CROSS).click()
    for head in ("2", "0"):
        page.locator(HEAD).select_option(head)
        assert cells(page) == written(done.value(CROSS, "weights")[0, int(head)])
    page.locator(HEAD).select_option("3")
    page.locator('.am-explorer [data-row="1"][data-col="2"]').click()
    assert lines(page)[0] == workings(done, CROSS, (3, 1, 2), "weights").text
    assert state(page)["select"] == "3,1,2"
    page.reload()
    page.wait_for_selector(".am-explorer [aria-selected=true]")
    assert lines(page)[0] == workings(done, CROSS, (3, 1, 2), "weights").text


def test_a_number_leads_down_to_the_word_that_it_began_as(play):
    done = passed(SAY, translated(SAY)[0][:-1])
    page = play(f"#x-translator?at={NORM}")
    page.locator('.am-table [data-row="1"][data-col="5"]').click()
    assert lines(page)[:1] == [workings(done, NORM, (1, 5)).text]
    expect(page.locator(".am-sentence")).to_contain_text("In the row of chases, column 5 is")
    at = []
    while page.locator(".am-panel > .ax-tree .am-lead").count() and len(at) < 40:
        page.locator(".am-panel > .ax-tree .am-lead").first.click()
        at.append(state(page)["at"])
        if at[-1] == "source":
            break
    assert at[:3] == [NORM, "encoder.0.residuals.0.sum", "source_places"]
    assert at[-1] == "source"
    page.go_back()
    expect(page.locator(".am-name")).to_contain_text("embedding")
    for _ in at[1:]:
        page.go_back()
    expect(page.locator(".am-name")).to_contain_text("norm")
    expect(page.locator('.am-table [aria-selected="true"]')).to_have_attribute("data-col", "5")


def test_the_heads_side_by_side_lead_to_the_head(play):
    done = passed(SAY, translated(SAY)[0][:-1])
    page = play("#x-translator?at=encoder.0.attention&select=1,21")
    assert lines(page)[0] == workings(done, "encoder.0.attention", (1, 21)).text
    expect(page.locator(HEAD)).to_have_value("2")
    expect(page.locator(".am-explorer [aria-selected=true]")).to_have_attribute("data-col", "5")


def gradients_shown(page, name, index):
    """Python's gradients of a number of the pass that is shown."""
    return backward(passed(SAY, words(page)[:-1]), (name, index))


def test_a_number_shows_what_would_change_it(play):
    page = play("#x-translator?at=words_out&select=1,17")
    page.get_by_role("button", name="What would change this number?").click()
    back = gradients_shown(page, "words_out", (1, 17))
    expect(page.locator(".am-followed")).to_contain_text("words_out[1, 17] = 11.4683")
    station(page, NORM).click()
    wanted = written(back.of(NORM)[0])
    assert cells(page) == wanted
    page.locator('.am-table [data-row="1"][data-col="3"]').click()
    expect(page.locator(".am-sentence")).to_contain_text(f"The gradient is {wanted[1][3]}: if")
    term = workings(back, *back_address(back, NORM))
    assert lines(page)[0] == term.written(0)
    assert state(page)["loss"] == "words_out:1,17"
    page.reload()
    assert cells(page) == wanted
    page.get_by_role("button", name="Back to the numbers").click()
    assert cells(page) == written(passed(SAY, words(page)[:-1]).value(NORM)[0])
    expect(page.locator(".am-followed")).to_be_hidden()


def back_address(back, name, index=(1, 3)):
    """What `workings` takes for a gradient of a step's output."""
    step, stage = back.address(name)
    return step, index, stage


def test_a_weight_has_its_gradient_and_leads_down_to_it(play):
    page = play("#x-translator?at=source_words&loss=words_out:1,17")
    page.get_by_role("button", name="grad_weight").click()
    back = gradients_shown(page, "words_out", (1, 17))
    assert cells(page) == written(back.value("source_words.backward", "grad_weight")[0])
    page.locator('.am-table [data-row="4"][data-col="5"]').click()
    [line, part] = lines(page)
    assert line.startswith("source_words.backward.grad_weight[4, 5] = ")
    page.locator(".am-lead").click()
    expect(page.locator(".am-name")).to_contain_text("+ place")
    assert lines(page)[0] == part
    station(page, "words_out").click()
    page.get_by_role("button", name="grad_bias").click()
    page.locator('.am-table [data-row="0"][data-col="17"]').click()
    assert lines(page)[0] == "words_out.backward.grad_bias[17] = 0 + 1 + 0 + 0 = 1"


def test_the_explorer_of_an_attention_shows_the_way_back(play):
    page = play(f"#x-translator?at={CROSS}&loss=words_out:1,17")
    back = gradients_shown(page, "words_out", (1, 17))
    shown = page.locator(".am-explorer")
    expect(shown.get_by_role("radio", name="grad_scores")).to_be_checked()
    for stage, index in (("grad_scores", (0, 1, 1)), ("grad_k", (1, 1)), ("grad_q", (1, 1))):
        shown.get_by_role("radio", name=stage).check(force=True)
        shown.locator('[data-row="1"][data-col="1"]').first.click()
        assert lines(page)[0] == workings(back, f"{CROSS}.backward", index, stage).written(0)
    shown.get_by_role("radio", name="weights", exact=True).check(force=True)
    assert "grad" not in state(page).get("stage", "")


def test_what_the_number_does_not_depend_on_and_what_is_not_there_is_said(play):
    page = play("#x-translator?at=probabilities&loss=words_out:1,17")
    expect(page.locator(".am-why")).to_contain_text("words_out[1, 17] does not depend on")
    page = play("#x-translator?at=words_out&loss=words_out:9,17")
    expect(page.locator(".am-root > .ax-notice")).to_contain_text("there is no words_out 9,17")
    expect(page.locator(".am-followed")).to_be_hidden()
    page = play("#x-translator?loss=source:0,0")
    expect(page.locator(".am-root > .ax-notice")).to_contain_text("loss must name a number")


def test_the_drawing_is_one_tab_stop(play):
    page = play(f"#x-translator?at={NORM}")
    assert page.locator('.am-plan [tabindex="0"]').count() == 1
    focused = "() => document.activeElement.dataset.step"
    station(page, NORM).focus()
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(focused) == "encoder.0.residuals.0.sum"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused).startswith("encoder.0.residuals.1."), "the row below"
    page.keyboard.press("Home")
    assert page.evaluate(focused) == "source"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "target"
    page.keyboard.press("End")
    assert page.evaluate(focused) == "probabilities"
    page.keyboard.press("Enter")
    expect(page.locator(".am-name")).to_have_text("writes: chances")
    assert page.evaluate(focused) == "probabilities"
    page.keyboard.press("Tab")
    assert page.evaluate("() => !document.activeElement.closest('.am-plan')")


def test_a_row_is_followed_through_its_side(play):
    page = play(f"#x-translator?at={NORM}")
    page.locator('.am-table [data-row="2"][data-col="3"]').hover()
    marks = page.eval_on_selector_all(
        ".am-own.am-mark", "all => all.map((m) => [m.closest('button').dataset.step, m.style.top])"
    )
    own = {name for name, _ in marks}
    assert {top for _, top in marks} == {"66.6667%"}
    assert {"source_words", "encoder.1.feed_forward.widen", f"{CROSS}.w_key"} <= own
    assert f"{CROSS}.w_query" not in own
    station(page, "decoder.0.residuals.0.norm").locator("canvas").hover(position={"x": 4, "y": 2})
    expect(page.locator(".ax-tip").last).to_contain_text("<start>")


def test_the_rows_that_a_number_is_made_of_are_lit(play):
    own = "decoder.0.self_attention"
    page = play(f"#x-translator?at={own}&stage=weights&select=0,1,0")
    fed = page.eval_on_selector_all(
        ".am-fed", "all => all.map((m) => [m.closest('button').dataset.step, m.style.height])"
    )
    rows = len(translated(SAY)[0])
    one, two = (f"{100 * n / rows:g}%" for n in (1, 2))
    assert dict(fed) == {f"{own}.w_query": one, f"{own}.w_key": two, f"{own}.w_value": two}


def test_a_switch_breaks_what_python_breaks_beside_the_right_one(play):
    say, off = "Tom chases Jerry", "positions_off:source_places"
    change = Changes(positions_off=["source_places"])
    page = play("#x-translator?at=source_places")
    box = page.get_by_label("positions")
    expect(page.locator(".am-offs")).to_be_hidden()
    box.click()
    wanted, chances = translated(say, change)
    right, _ = translated(say)
    assert wanted != right
    assert (words(page), shares(page)) == (wanted, [percent(share) for share in chances])
    assert words(page, ".am-right bdi") == right
    different = [a != b for a, b in zip(wanted, right, strict=True)]
    marked = page.eval_on_selector_all(
        ".am-written .am-word", "all => all.map((w) => w.classList.contains('am-other'))"
    )
    assert marked == different
    assert state(page)["off"] == off
    done, plain = (passed(say, wanted[:-1], changes) for changes in (change, Changes()))
    assert cells(page) == written(done.value("source_places")[0])
    differing = (done.value("source_places") != plain.value("source_places"))[0]
    assert page.locator(".am-table .ax-differs").count() == differing.sum()
    expect(station(page, "source_places")).to_have_attribute("aria-label", re.compile("is off"))
    expect(station(page, "source_words")).not_to_have_attribute(
        "aria-label", re.compile("different")
    )
    expect(station(page, "words_out")).to_have_attribute(
        "aria-label", re.compile("different numbers")
    )
    page.locator(".am-offs").get_by_role("button", name="on again").click()
    assert words(page) == right
    expect(box).to_be_checked()
    expect(page.locator(".am-offs")).to_be_hidden()
    page.go_back()
    assert words(page) == wanted


SWITCHES = [
    ("heads_off", CROSS, "head 3"),
    ("mask_off", "decoder.0.self_attention", "mask"),
    ("scale_off", CROSS, "scale"),
    ("residuals_off", "decoder.0.residuals.0.sum", "residual"),
    ("norms_off", NORM, "norm"),
]


def test_each_switch_is_attn_cores(play):
    say = "the big dog follows the old cat"
    page = play(f"#x-translator?say={say.replace(' ', '+')}")
    for kind, step, name in SWITCHES:
        station(page, step).click()
        switch = page.locator(".am-switches").get_by_label(name)
        switch.click()
        wanted = [(step, 3)] if kind == "heads_off" else [step]
        translation, chances = translated(say, Changes(**{kind: wanted}))
        assert words(page) == translation, kind
        assert shares(page) == [percent(share) for share in chances], kind
        switch.click()
    assert words(page) == translated(say)[0]


def test_each_switch_says_what_to_look_for(play):
    page = play()
    for step, named in (
        ("decoder.0.self_attention", ["head", "mask", "scale"]),
        (CROSS, ["head", "scale"]),
        (NORM, ["norm"]),
        ("decoder.0.residuals.0.sum", ["residual"]),
        ("source_places", ["positions"]),
    ):
        station(page, step).click()
        looks = page.locator(".am-switches .am-look").all_text_contents()
        found = [re.match(r"Switch (?:a|the) (\w+) off: ", look)[1] for look in looks]
        assert found == named, step


def test_what_was_counted_of_a_switch_is_said_and_shown(play):
    page = play(f"#x-translator?at={CROSS}")
    counts = page.locator(".am-counts")
    counted = "Switched off alone, it changes 52 of 300 translations: the words are different."
    expect(counts).to_contain_text(counted)
    counts.get_by_role("button", name="Tyke follows Tom in the garden").click()
    expect(page.get_by_label("your sentence")).to_have_value("Tyke follows Tom in the garden")
    assert words(page) != words(page, ".am-right bdi")
    switch = page.locator(".am-switches").get_by_label("head 2")
    described = switch.get_attribute("aria-describedby")
    expect(page.locator(f"#{described}")).to_contain_text("52 of 300")


def test_a_link_is_copied_or_shown_beside_its_button(play):
    page = play(f"#x-translator?at={NORM}", permissions=["clipboard-read", "clipboard-write"])
    share, said = (
        page.get_by_role("button", name="Share this view"),
        page.locator(".am-root > .ax-foot > .ax-shared"),
    )
    share.click()
    expect(said).to_have_text("The link is copied.")
    gap = said.bounding_box()["y"] - share.bounding_box()["y"]
    assert 0 < gap < 100
    assert page.evaluate("navigator.clipboard.readText()").endswith(f"#x-translator?at={NORM}")
    station(page, CROSS).click()
    expect(said).to_be_empty()
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    share.click()
    text = page.get_by_label("This link opens")
    expect(text).to_have_value(re.compile(r"#x-translator$"))
    expect(text).to_be_focused()
    page.set_viewport_size({"width": 390, "height": 800})
    assert text.bounding_box()["width"] > 250


def test_texts_are_in_the_middle_of_their_boxes(play):
    page = play(f"#x-translator?at={CROSS}&select=", has_touch=True, is_mobile=True)
    middle = """(box, [css, from, size]) => {
      const range = document.createRange();
      range.selectNodeContents(box.querySelector(css));
      const [inside, around] = [range, box].map((each) => each.getBoundingClientRect());
      return inside[from] + inside[size] / 2 - around[from] - around[size] / 2;
    }"""
    waiting = page.locator(".am-explorer .ax-inside")
    assert waiting.evaluate(middle, [".ax-hint", "x", "width"]) == pytest.approx(0, abs=2)
    fold = page.locator(".am-all")
    assert fold.evaluate(middle, ["summary", "y", "height"]) == pytest.approx(0, abs=4)


def test_all_is_on_again_at_once(play):
    page = play(f"#x-translator?off=heads_off:{CROSS}.1,norms_off:{NORM}")
    assert page.locator(".am-offs li").count() == 3
    page.get_by_role("button", name="all on again").click()
    assert words(page) == translated(SAY)[0]


# What an address asks for that cannot be: what is said of it.
CRAFTED = [
    ("say=Tom+barks", "the model does not know the word barks"),
    ("say=", "a sentence must have a word"),
    ("off=heads_off:nowhere.1", "there is nothing to switch called heads_off nowhere"),
    ("off=norms_off:source", "there is nothing to switch called norms_off source"),
    ("taken=1:cat", "taken must be places with words"),
    ("temperature=0", "temperature must be a number above 0"),
    ("temperature=nan", "temperature must be a number above 0"),
    ("trail=0,some", "trail must be places of parts, with “all” for a sum"),
    ("at=nowhere", "at must be the name of a step"),
    ("written=-1", "written must be a whole number up to 64"),
    ("head=4", "head must be a whole number below 4"),
    ("select=1,x", "select must be two or three whole numbers"),
    ("colour=red", "there is no setting called colour"),
]


def test_a_crafted_address_is_said_and_loses_nothing(play, bare):
    """A place that a station has not is left out without a word."""
    page = play(f"#x-translator?{CRAFTED[0][0]}")
    notice = page.locator(".am-root > .ax-notice")
    for n, (fragment, said) in enumerate(CRAFTED):
        if n:  # the first stood there when the page was opened
            page.evaluate("(hash) => { location.hash = hash; }", f"#x-translator?{fragment}")
        expect(notice).to_contain_text(said)
        expect(notice).to_contain_text("The rest is shown.")
        assert words(page) == translated(SAY)[0], fragment
    for fragment in ("select=99,99", "select=0", "stage=weights", "head=3"):
        bare.show(page, f"#x-translator?at={NORM}&{fragment}")
        page.wait_for_selector(".am-root")
        assert words(page) == translated(SAY)[0], fragment
        assert page.locator(".am-panel > .ax-tree").is_hidden(), fragment


def changed(change):
    view = opened()
    payload = json.loads(json.dumps(view.payload))
    change(payload)
    view.payload = payload
    return view


MALFORMED = [
    (lambda p: p.update(version=2), "its version must be 1"),
    (lambda p: p.pop("view"), "its view must name a sentence"),
    (lambda p: p["view"].update(at="nowhere"), "its view must name a sentence"),
    (lambda p: p["view"].update(say=3), "its view must name a sentence"),
    (lambda p: p["view"].update(say="Tom barks"), "does not know the word barks"),
    (lambda p: p["view"].update(head=9), "its view cannot have the head 9"),
    (lambda p: p["view"].update(examples="Tom"), "its view must name a sentence"),
    (lambda p: p["view"].update(arcs={"within": {"step": "source", "head": 0}}), "view"),
    (lambda p: p["steps"].clear(), "it must have 1 to 1000 steps"),
    (lambda p: p["steps"].pop(), "must be a softmax"),
    (lambda p: p["steps"][3].update(operation="eval"), "a known operation"),
    (lambda p: p["weights"].clear(), "a weight"),
]


def test_a_crafted_payload_is_said_and_what_stands_there_stays(bare):
    good = opened().html
    start, end = '<script type="application/json">', "</script></attention-model>"
    good = good[: good.index(start)]
    payloads = [json.dumps(changed(change).payload) for change, _ in MALFORMED]
    bodies = [f"{good}{start}{text.replace('<', chr(92) + 'u003c')}{end}" for text in payloads]
    page = bare.open(*bodies, script="classic")
    models = page.locator("attention-model")
    for model, (_, said) in zip(models.all(), MALFORMED, strict=True):
        model.scroll_into_view_if_needed()
        expect(model.locator("> .ax-notice")).to_contain_text(said)
        assert model.locator(".ax-notice").count() == 1
        expect(model.locator("> table")).to_be_visible()


def test_nothing_is_wider_than_the_screen(play):
    say = "say=the+big+old+dog+sees+Tom"
    page = play(f"#x-translator?{say}&at=words_out&select=1,30&off=norms_off:{NORM}")
    for name in ("words_out", CROSS, "probabilities"):
        station(page, name).click()
        for width in (320, 390, 450, 1200):
            page.set_viewport_size({"width": width, "height": 800})
            fits = "() => document.documentElement.scrollWidth <= innerWidth"
            assert page.evaluate(fits), (name, width)


def test_a_number_that_was_led_to_is_in_sight(play):
    page = play("#x-translator?at=words_out&select=1,30", viewport={"width": 390, "height": 800})
    box = page.locator(".am-table .ax-scroll").bounding_box()
    chosen = page.locator('.am-table [aria-selected="true"]').bounding_box()
    side = page.locator(".am-table .ax-side").first.bounding_box()
    assert side["x"] + side["width"] <= chosen["x"] + 1
    assert chosen["x"] + chosen["width"] <= box["x"] + box["width"] + 1


@pytest.mark.parametrize("width", [390, 1000])
def test_a_finger_finds_every_target_and_an_eye_every_letter(play, width):
    page = play(
        f"#x-translator?at={NORM}&select=1,5&off=norms_off:{NORM}",
        viewport={"width": width, "height": 900},
    )
    page.locator(".am-all summary").click()
    small = page.eval_on_selector_all(
        ".am-root :is(button, select, summary, input, .am-switch, td)",
        """all => all.filter((one) => one.checkVisibility()).map((one) => {
          const { width, height } = (one.closest("label.am-switch") ?? one).getBoundingClientRect();
          return [one.className, one.textContent, width, height];
        }).filter(([, , width, height]) => Math.min(width, height) < 24)""",
    )
    assert small == []
    tiny = page.eval_on_selector_all(
        ".am-root *",
        """all => all.filter((one) => one.checkVisibility() && parseFloat(getComputedStyle(one)
          .fontSize) < 11).map((one) => [one.className, getComputedStyle(one).fontSize])""",
    )
    assert tiny == []


@pytest.mark.gate
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(play, theme):
    page = play(f"#x-translator?at={NORM}&select=1,5&off=norms_off:{NORM}", theme=theme)
    for name in (NORM, CROSS):
        station(page, name).click()
        assert faults(page, "main") == [], name


def test_dark_ink_is_other_ink(play):
    # Read from a copy: a canvas that is read again and again makes the browser complain.
    ink = """() => {
      const copy = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
      const context = copy.getContext("2d", { willReadFrequently: true });
      context.drawImage(document.querySelector('[data-step="source_words"] canvas'), 0, 0);
      return [...context.getImageData(0, 0, 1, 1).data];
    }"""
    page = play()
    light = page.evaluate(ink)
    page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
    page.wait_for_function(f"(light) => String(({ink})()) !== String(light)", arg=light)


def test_forced_colours_keep_the_bars_and_the_marks(play):
    page = play(f"#x-translator?at={NORM}&select=1,5&off=norms_off:{NORM}", forced_colors="active")
    paper = "(one) => getComputedStyle(one).backgroundColor"
    bar, around = (page.locator(css).first.evaluate(paper) for css in (".am-share", ".am-choice"))
    assert bar != around
    expect(page.locator(".am-mark").first).to_have_css("outline-style", "solid")
    # All that is pressed has one ground, and all in it one other colour.
    pressed = """(all) => all.flatMap((one) => {
      const { backgroundColor } = getComputedStyle(one);
      return [one, ...one.querySelectorAll("small, bdi, .am-label")].map(
        (part) => backgroundColor + getComputedStyle(part).color);
    })"""
    [colours] = set(page.locator('[aria-pressed="true"]').evaluate_all(pressed))
    assert len(set(re.findall(r"rgba?\(.*?\)", colours))) == 2


def test_on_a_page_from_right_to_left_nothing_is_turned_round(play):
    page = play()
    page.evaluate("() => { document.documentElement.dir = 'rtl'; }")
    first, second = (page.locator(".am-written .am-word").nth(n).bounding_box() for n in (0, 1))
    assert first["x"] < second["x"]
    read, write = (
        page.locator(f'[data-side="{side}"]').bounding_box() for side in ("read", "write")
    )
    assert read["x"] < write["x"]


def test_who_does_not_see_hears(play):
    page = play(f"#x-translator?at={NORM}")
    heard = page.locator(".am-root > .ax-unseen[role=status]")
    expect(heard).to_have_text("Translation: 汤姆 追逐 杰瑞 <end>")
    page.get_by_label("your sentence").fill("Tom sees Jerry")
    expect(heard).to_have_text(f"Translation: {' '.join(translated('Tom sees Jerry')[0])}")
    expect(page.locator("[role=status] > .am-name")).to_have_count(1)
    expect(page.locator(".am-name")).to_have_text("encoder, layer 1, self-attention: norm")
    page.locator('.am-table [data-row="0"][data-col="0"]').click()
    expect(page.locator(".am-sentence[role=status]")).to_have_text(
        re.compile(r"^In the row of Tom, column 0 is -?\d\.\d{4}\.$")
    )


def test_the_focus_stays_where_it_was(play):
    page = play(f"#x-translator?at={CROSS}")
    focused = "() => document.activeElement.textContent || document.activeElement.type"
    page.locator(".am-switches input").nth(1).focus()
    page.keyboard.press("Space")
    assert page.evaluate(focused) == "checkbox"
    page.locator(".am-choice").nth(2).focus()
    page.keyboard.press("Enter")
    assert page.locator(".am-choice:focus").count() == 1
    station(page, NORM).click()
    page.locator('.am-table [data-row="1"][data-col="5"]').click()
    page.locator(".am-lead").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".am-line:focus").count() == 1


def test_it_speaks_chinese(play):
    view = opened()
    view.payload = view.payload | {"lang": "zh-Hans"}
    page = play(f"#x-translator?at={CROSS}", view=view)
    expect(page.locator(".am-name")).to_have_text("解码器，第 2 层，交叉注意力：头")
    expect(page.get_by_label("你的句子")).to_have_value(SAY)
    page.get_by_label("你的句子").fill("Tom barks ")
    expect(page.locator(".am-said")).to_have_text("模型不认识 barks 这个词；它认识 park。")
    expect(page.locator(".am-counts")).to_contain_text("300 句译文中有 52 句改变")


def test_a_short_form_has_arcs(play):
    view = opened(arcs=(("encoder.0.attention", 1), (CROSS, 3)), at="encoder.0.attention")
    done = passed(SAY, translated(SAY)[0][:-1])
    page = play(view=view)
    assert page.locator(".am-plan").is_hidden()
    assert words(page, ".am-arc-below .am-arc-word") == translated(SAY)[0][:-1]
    page.get_by_role("button", name="chases", exact=True).click()
    weights = done.value("encoder.0.attention", "weights")[0, 1, 1]
    expect(page.locator(".am-arc-said")).to_contain_text(f"{weights.max():.2f}")


def test_models_that_belong_together_read_the_same_sentence(bare):
    """The others keep their states."""
    first = opened(together="pair")
    shown = ["translation", "station"]
    second = opened(name="second", together="pair", show=shown, at="words_out")
    alone = opened(name="alone")
    page = bare.open(first, second, alone, fragment="#x-translator", script="classic")
    for name in ("second", "alone"):
        page.locator(f"[name={name}]").scroll_into_view_if_needed()
        page.wait_for_selector(f"[name={name}] .am-root")
    page.locator("[name=translator] .am-input").fill("Jerry helps Tom")
    wanted, _ = translated("Jerry helps Tom")

    def written_by(name):
        return words(page, f"[name={name}] .am-written bdi")

    assert written_by("second") == wanted
    assert written_by("alone") == translated(SAY)[0]
    page.locator("[name=alone] .am-input").fill("Jerry sees Tom")
    page.wait_for_function("() => location.hash.includes('x-alone')")
    assert written_by("alone") == translated("Jerry sees Tom")[0]
    assert written_by("translator") == written_by("second") == wanted
    expect(page.locator("[name=second] .am-read")).to_have_text("Jerry helps Tom")
    for css in (".am-input", ".am-plan", ".am-likeliest", ".am-steps", ".am-all"):
        assert page.locator(f"[name=second] {css}").is_hidden(), css
    expect(page.locator("[name=second] .am-name")).to_have_text("writes: scores")


def test_a_translation_without_an_end_is_cut_and_says_so(play):
    say, step = "the mouse follows Jerry in the house", "decoder.1.residuals.0.sum"
    wanted, _ = translated(say, Changes(residuals_off=[step]), most=32)
    assert "<end>" not in wanted
    page = play(f"#x-translator?say={say.replace(' ', '+')}&off=residuals_off:{step}")
    assert words(page) == wanted
    expect(page.locator(".am-written")).to_contain_text("no end mark")


def test_its_parts_have_headings(play):
    page = play()
    station(page, NORM).click()
    name = page.locator(".am-name").text_content()
    expect(page.get_by_role("heading", level=2)).to_have_text(["reads", "writes", name])
