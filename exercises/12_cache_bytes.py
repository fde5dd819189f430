"""Chapter 12, level 1: how many bytes a text takes in the cache of a real model."""

from exercises import Clue, Draws, Exercise, Field, change, whole

# Layers, heads of queries, heads of keys, numbers a head: from the config.json of each.
MODELS = {
    "Llama-3-8B": (32, 32, 8, 128),
    "Llama-3-70B": (80, 64, 8, 128),
    "Qwen3-8B": (36, 32, 8, 128),
    "SmolLM2-135M": (30, 9, 3, 64),
}
NAMES = "layers", "heads", "kv_heads", "head_dim"


def parameters(seed):
    draw, model = Draws(seed), "Llama-3-8B"
    tokens, bytes_each = 8192, 2
    if seed != 0:
        model = draw.choice([*MODELS])
        tokens, bytes_each = draw.integer(100, 100_000), draw.choice((1, 2, 4))
    sizes = dict(zip(NAMES, MODELS[model], strict=True))
    return {"model": model, **sizes, "tokens": tokens, "bytes_each": bytes_each}


def right(layers, heads, kv_heads, head_dim, tokens, bytes_each):
    return 2 * layers * kv_heads * head_dim * tokens * bytes_each


def checks(names, parameters):
    answer = names["cache_bytes"]
    _, *sizes, tokens, bytes_each = parameters.values()

    def is_right(*cases):
        return all(whole(answer(*case)) == right(*case) for case in cases)

    small, large = MODELS["SmolLM2-135M"], MODELS["Llama-3-70B"]
    return [
        Clue(
            "it gives one whole number",
            whole(answer(*sizes, tokens, bytes_each)) is not None,
        ),
        (
            "the function is right for one token of a small model and of a large one",
            is_right((*small, 1, 2), (*large, 1, 2)),
        ),
        (
            "a longer text takes more bytes, shorter numbers take fewer",
            is_right((*small, 1000, 2), (*small, 3000, 2), (*small, 1000, 1)),
        ),
        (
            "it is right for these sizes",
            is_right((*sizes, tokens, bytes_each), (*sizes, 2 * tokens, bytes_each)),
        ),
    ]


EXERCISE = Exercise(
    id="12-cache-bytes",
    chapter="12",
    title="What the cache takes",
    level=1,
    points=1,
    text="""\
Write `cache_bytes(layers, heads, kv_heads, head_dim, tokens, bytes_each)`, which returns how many
bytes the cache of a language model takes for a text. Each layer of the model has `heads` heads of
queries and `kv_heads` heads of keys and values; a head has `head_dim` numbers for each token, and a
number takes `bytes_each` bytes. Try it with {% if chapter %}Llama-3-8B, which has 32 layers, 32
heads of queries, 8 heads of keys and values, and 128 numbers per head, for 8,192 tokens in
bfloat16, 2 bytes per number {%- else %}the sizes of {{ model }}:
`cache_bytes(layers, heads, kv_heads, head_dim, tokens, bytes_each)`{% endif %}. *Expected: one line
in the function.*""",
    starter="""\
def cache_bytes(layers, heads, kv_heads, head_dim, tokens, bytes_each):
    return ...""",
    solution="""\
def cache_bytes(layers, heads, kv_heads, head_dim, tokens, bytes_each):
    return 2 * layers * kv_heads * head_dim * tokens * bytes_each""",
    parameters=parameters,
    checks=checks,
    mistakes=(
        change(
            "* kv_heads *",
            "* heads *",
            hint="You counted the query heads. Only keys and values are cached.",
        ),
        change("2 * layers", "layers", hint="Half is missing: both keys and values are cached."),
        change(
            "2 * layers *",
            "2 *",
            hint="That is one layer. Each layer caches its own keys and values.",
        ),
        change(
            " * bytes_each",
            "",
            hint="You counted numbers. Each number takes `bytes_each` bytes.",
        ),
        change(
            "* tokens *",
            "* tokens * tokens *",
            hint=(
                "The cache contains no map of weights. Each token adds one key and one value for "
                "each head."
            ),
        ),
    ),
    probes=lambda parameters: [(1, 4, 1, 8, 7, 2), (48, 40, 10, 96, 4096, 4)],
    fields=(
        Field(
            "cache_bytes(32, 32, 8, 128, 1, 2)",
            label="bytes for one token of Llama-3-8B in bfloat16",
            places=0,
        ),
        Field(
            "cache_bytes(32, 32, 8, 128, 8192, 2) / 2**20",
            label="for 8,192 tokens, in MiB: divided by $2^{20}$",
            places=0,
        ),
        Field(
            "cache_bytes(30, 9, 3, 64, 1, 2)",
            label=(
                "bytes for one token of SmolLM2-135M: 30 layers, 9 heads of queries, 3 heads of "
                "keys and values, 64 numbers per head"
            ),
            places=0,
        ),
    ),
)
