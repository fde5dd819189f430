"""The likeliest next tokens of a text, as they are written."""

import html

from attn_core.digits import fixed


def said(prompts: dict, text: dict) -> str:
    """For a page without scripts: the text, and what may come next."""
    layer, head = prompts["head"]
    lines = [
        (f"{text['text']} …", likeliest(text, "on", prompts["count"])),
        (f"without head {head} of layer {layer}", likeliest(text, "off", prompts["count"])),
    ]
    return "".join(
        f"<p>{html.escape(first)}: "
        + ", ".join(f"{html.escape(word.strip())} {percent(chance)}" for word, chance in words)
        + "</p>\n"
        for first, words in lines
    )


def likeliest(text: dict, side: str, count: int) -> list[tuple[str, float]]:
    """The likeliest words with the head ("on") or without it ("off"), and their chances."""
    pairs = zip(text["next"], text[side]["chances"], strict=True)
    return sorted(pairs, key=lambda pair: -pair[1])[:count]


def best_of(text: dict) -> tuple[str, float, float]:
    """The likeliest word, and its chances with the head and without it."""
    word, chance = likeliest(text, "on", 1)[0]
    return word, chance, text["off"]["chances"][text["next"].index(word)]


def percent(share: float) -> str:
    """
    >>> percent(0.7726), percent(0.00002)
    ('77.3 %', 'under 0.1 %')
    """
    return "under 0.1 %" if share < 0.0005 else f"{fixed(100 * share, 1)} %"
