"""A second device for a machine that has one: `pretend`, whose tensors lie in the CPU's memory.

torch keeps it apart from the CPU as it does a GPU, and refuses what mixes the two. Attention on it
is computed by Triton's kernels, in Triton's interpreter. `register` adds the device to torch;
`serve` has attn_core take it for a GPU.
"""

from __future__ import annotations

import os

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "pretend"
MAY_MIX = {"aten::_to_copy", "aten::copy_", "aten::_pack_padded_sequence"}


class Pretended(torch.Tensor):
    """A tensor of this device: a wrapper around one of the CPU."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, cells: torch.Tensor) -> Pretended:
        layout = {"strides": cells.stride(), "storage_offset": cells.storage_offset()}
        made = torch.Tensor._make_wrapper_subclass(
            cls, cells.shape, dtype=cells.dtype, device=f"{NAME}:0", **layout
        )
        made.cells = cells
        return made

    def __repr__(self, **kwargs) -> str:
        text = super().__repr__(**kwargs)
        # nn.Parameter marks a tensor of another class and leaves it as it is.
        is_bare = getattr(self, "_is_param", False) and not text.startswith("Parameter")
        return f"Parameter containing:\n{text}" if is_bare else text

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return run(operation, *args, **(kwargs or {}))


def unwrapped(value):
    if isinstance(value, Pretended):
        return value.cells
    is_here = isinstance(value, torch.device) and value.type == NAME
    return torch.device("cpu") if is_here else value


def wrapped(value):
    return Pretended(value) if isinstance(value, torch.Tensor) else value


def run(operation, *args, **kwargs):
    """One operation of torch, on the CPU's tensors behind the wrappers."""
    given = tree_leaves((args, kwargs))
    name = operation.name()
    # As on a GPU, indices may come from the CPU, and so may a tensor that is copied.
    may_mix = name in MAY_MIX or name.startswith("aten::index")
    others = [v for v in given if isinstance(v, torch.Tensor) and not isinstance(v, Pretended)]
    if not may_mix and any(tensor.ndim for tensor in others):
        raise RuntimeError(f"Expected all tensors to be on the same device, got two in {name}")
    result = OURS.get(name, operation)(*tree_map(unwrapped, args), **tree_map(unwrapped, kwargs))
    if name == "aten::copy_":
        return args[0]
    if name == "aten::_pack_padded_sequence":  # the sizes of its batches stay on the CPU
        return Pretended(result[0]), result[1]
    if name == "aten::_to_copy":
        goes_to = torch.device(kwargs.get("device") or args[0].device)
        return Pretended(result) if goes_to.type == NAME else result
    made = tree_map(wrapped, result)
    if not any(isinstance(value, Pretended) for value in given):
        return made
    return return_and_correct_aliasing(operation, args, kwargs, made)


def gru_step(input_gates, hidden_gates, hidden, input_bias=None, hidden_bias=None):
    """What a GPU has as one operation, and a CPU has not: the next state, and what leads back."""
    if input_bias is not None:
        input_gates, hidden_gates = input_gates + input_bias, hidden_gates + hidden_bias
    of_input, of_hidden = input_gates.chunk(3, 1), hidden_gates.chunk(3, 1)
    reset = torch.sigmoid(of_input[0] + of_hidden[0])
    update = torch.sigmoid(of_input[1] + of_hidden[1])
    new = torch.tanh(of_input[2] + reset * of_hidden[2])
    workspace = torch.cat((reset, update, new, of_hidden[2], hidden), 1)
    return (hidden - new) * update + new, workspace


def gru_step_back(pull, workspace, has_bias):
    """The gradients of both gates, of the state and of both biases."""
    reset, update, new, of_hidden, hidden = workspace.chunk(5, 1)
    of_new = pull * (1 - update) * (1 - new**2)
    of_update = pull * (hidden - new) * update * (1 - update)
    of_reset = of_new * of_hidden * reset * (1 - reset)
    gates = torch.cat((of_reset, of_update, of_new), 1)
    hidden_gates = torch.cat((of_reset, of_update, of_new * reset), 1)
    biases = (gates.sum(0), hidden_gates.sum(0)) if has_bias else (None, None)
    return gates, hidden_gates, pull * update, *biases


OURS = {
    "aten::_thnn_fused_gru_cell": gru_step,
    "aten::_thnn_fused_gru_cell_backward": gru_step_back,
}


class Workarounds(TorchFunctionMode):
    """What torch does to a device's tensors in ways that pass by one that is written in Python.

    It makes tensors of lists and of counts, and gives a tensor other numbers (`module.double()`).
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in (torch.tensor, torch.arange) and "device" in kwargs:
            device = kwargs.pop("device")
            return func(*args, **kwargs).to(device)
        if func in (torch.Tensor.__getitem__, torch.Tensor.__setitem__):
            index = args[1] if isinstance(args[1], tuple) else (args[1],)
            index = tuple(torch.tensor(i) if isinstance(i, (list, range)) else i for i in index)
            args = args[0], index, *args[2:]
        if func == torch.Tensor.data.__set__ and isinstance(args[1], Pretended):
            args[0].cells = args[1].cells
        return func(*args, **kwargs)


def register() -> list[torch.library.Library]:
    _setup_privateuseone_for_python_backend(NAME)
    getattr(torch, NAME).get_amp_supported_dtype = lambda: [torch.float16]
    every = torch.library.Library("_", "IMPL")
    every.fallback(run, "PrivateUse1")
    Workarounds().__enter__()
    return [every]


class Launch:
    """A kernel of Triton for tensors of this device: the interpreter writes into the CPU's."""

    def __init__(self, kernel) -> None:
        self.kernel = kernel

    def __getitem__(self, grid):
        launch = self.kernel[grid]
        return lambda *args, **kwargs: launch(
            *tree_map(unwrapped, args), **tree_map(unwrapped, kwargs)
        )


def serve(by_triton: bool = True) -> None:
    """attn_core takes the device for a GPU; attention by Triton's kernels or torch's operations."""
    from attn_core import api, call
    from attn_core.engines import choose, triton
    from attn_core.engines.formulas import Engine
    from attn_core.engines.triton import passes

    class Served(triton.Triton):
        """Maps are looked at by torch's operations: the interpreter would take minutes."""

        cells, overview = Engine.cells, Engine.overview

    call.DEVICES += (NAME,)
    passes.attend = Launch(passes.attend)
    chosen, ours = choose.engine_for, Served()

    def engine_for(call, output_alone=False):
        is_ours = by_triton and call.q.device.type == NAME and choose.is_tritons(call)
        return ours if is_ours else chosen(call, output_alone)

    api.engine_for = engine_for


if os.environ.get("ATTN_DEVICE") == NAME:
    LIBRARIES = register()
