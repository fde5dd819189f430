"""Compiles the kernels for GPUs that need not be there; prints the shared memory that each takes.

python tests/triton/compiled.py 80
"""

import json
import os
import sys

import torch
from triton import compile as compiled
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from attn_core.engines.triton import launch, parts, passes

POINTERS = {
    "row_max": "*fp32",
    "row_sum": "*fp32",
    "into": "*fp32",
    "dense": "*u8",
    "lengths": "*i64",
}
NUMBERS = {"scale": "fp32", "survivor_scale": "fp32", "seed": "i64", "threshold": "i64"}
FLOATS = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}


def shared(kernel, dtype: str, target: GPUTarget, **constants) -> int:
    """Bytes of a multiprocessor's shared memory that a tile takes."""
    widest = constants["D_PAD"]
    tiling = launch.tiling(FLOATS[dtype], widest)
    constants = constants | {"D": widest, "M": tiling.M, "N": tiling.N, "as_float32": False}
    types = POINTERS | NUMBERS | dict.fromkeys(("q", "k", "v", "output"), f"*{dtype}")
    signature = {
        name: "constexpr" if name in constants else types.get(name, "i32")
        for name in kernel.arg_names
    }
    places = [n for n, kind in enumerate(signature.values()) if kind.startswith("*")]
    aligned = {(n,): [["tt.divisibility", 16]] for n in places}
    options = {"num_warps": tiling.num_warps, "num_stages": tiling.num_stages}
    source = ASTSource(kernel, signature, constants, aligned)
    return compiled(source, target=target, options=options).metadata.shared


NO_MASK = {"banded": False, "padded_keys": False, "has_dense": False}
BAND = {"banded": True, "padded_keys": False, "has_dense": False}
EVERY_MASK = dict.fromkeys(BAND, True)


def main(capability: int) -> None:
    target = GPUTarget("cuda", capability, 32)

    def of_output(widest: int, dtype: str, masks: dict, drops: bool = False) -> int:
        values = {"Dv": widest, "DV_PAD": widest, "drops": drops}
        return shared(passes.attend, dtype, target, D_PAD=widest, **masks, **values)

    sizes = {"attend, bf16": of_output(64, "bf16", BAND)}
    # Triton compiles a number that is 1 as a constant.
    sizes["attend, fp16, no mask"] = of_output(64, "fp16", NO_MASK | {"H": 1, "L": 1, "S": 1})
    for dtype in ("fp16", "fp32"):
        for widest in launch.HALF:
            sizes[f"attend, {dtype}, {widest} wide"] = of_output(widest, dtype, BAND)
        sizes[f"attend, {dtype}, all masks and dropout"] = of_output(64, dtype, EVERY_MASK, True)
        for name, kernel, constants in (
            ("overview", parts.overview, {"stage": 4, "takes_max": True}),
            ("part of a stage", parts.part_of_stage, {"stage": 3}),
        ):
            size = shared(kernel, dtype, target, D_PAD=64, **EVERY_MASK, **constants)
            sizes[f"{name}, {dtype}"] = size
    print(json.dumps(sizes))


if __name__ == "__main__":
    # Else Triton 3.9 warns of its next default.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    main(int(sys.argv[1]))
