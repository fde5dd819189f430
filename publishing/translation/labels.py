"""Words that the code of a page keeps before it prints them: in a tuple, a dict or a variable.

Nothing in the code says that they are words and not data, so they are listed here. Each is
exchanged wherever the page's code has it as a string. Words whose length also decides how a picture
is laid out are left out: the parts of chapter 10 and the twelve heads of chapter 11.
"""

LABELS = {
    "chapters/01_bottleneck": {"one fixed vector", "with attention"},
    "chapters/05_trainable_weights": {"before", "separate", "shared", "undivided", "divided"},
    "chapters/08_multi_head": {"right", "wrong"},
    "chapters/09_transformer": {"no mask", "its own mask"},
    "chapters/10_whole_model": {"names", "animals", "qualities", "verbs", "places"},
    "chapters/12_language_model": {
        "the token before",
        "what came next last time",
        "nothing",
        "18.6, the strongest induction head",
        "16.0, the strongest previous-token head",
        "16.1, another head of layer 16",
        "the four strongest induction heads",
        "four other heads of these layers",
        "all heads",
        "without 24.4",
        "without eight",
        "name is new",
    },
    "chapters/13_learning": {
        "causal",
        "no mask",
        "{first:.2f} (first-time), {repeats:.2f} (repeats)",
        "{values[0]:.2f}, others {values[1:].mean():.2f}",
        "this chapter's",
        "all of it",
        "maps made again",
        "only each layer's input",
    },
}


def labels_of(docname: str) -> set[str]:
    return LABELS.get(docname, set())
