"""What a page gets of a byte-level vocabulary: each merge as the ids of the two that it joins."""

import base64
from collections.abc import Sequence

import numpy as np

MOST = 2**16  # ids of 16 bits


def vocabulary_payload(
    tokens: Sequence[str], merges: Sequence[tuple[str, str]], marks: int
) -> dict[str, object]:
    """The vocabulary as a dict that JSON can hold: 4 bytes a token before base64.

    >>> vocabulary_payload(["<|end|>", "a", "b", "ab"], [("a", "b")], marks=1)
    {'marks': ['<|end|>'], 'signs': ['a', 'b'], 'merges': 'AQACAA=='}

    tokens: by their ids: the marks, then a sign for each byte, as GPT-2 writes it, then what each
        merge makes, in their order.
    merges: the two tokens that each joins, the merge that is tried first at the beginning.
    marks: how many of the tokens are marks, which are found in a text before it is cut.

    ValueError if the tokens are in another order, or more than 65,536.
    """
    if len(tokens) > MOST:
        raise ValueError(f"tokens must be at most {MOST}, got {len(tokens)}")
    ids = {token: n for n, token in enumerate(tokens)}
    made = ["".join(pair) for pair in merges]
    signs = list(tokens[marks : len(tokens) - len(made)])
    is_right = list(tokens[marks + len(signs) :]) == made and all(len(sign) == 1 for sign in signs)
    if not is_right or not {part for pair in merges for part in pair} <= ids.keys():
        raise ValueError(
            "tokens must be the marks, then single signs, then what each merge makes, in order"
        )
    pairs = np.array([[ids[first], ids[second]] for first, second in merges], dtype="<u2")
    return {
        "marks": list(tokens[:marks]),
        "signs": signs,
        "merges": base64.b64encode(pairs.tobytes()).decode("ascii"),
    }
