"""A notebook's tensors on another device: set ATTN_DEVICE=cuda before it imports attn_core."""

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

MADE = {torch.tensor, torch.as_tensor, torch.arange, torch.linspace, torch.empty, torch.zeros}
MADE |= {torch.ones, torch.full, torch.eye, torch.rand, torch.randn, torch.randint, torch.randperm}
DRAWN_INTO = {Tensor.bernoulli_, Tensor.normal_, Tensor.random_, Tensor.uniform_}
READ = {Tensor.__format__, Tensor.__array__, Tensor.numpy, Tensor.tolist}


class On(TorchFunctionMode):
    """Tensors that are made without a device are made on this one.

    >>> with On("cpu"):
    ...     torch.ones(2)
    tensor([1., 1.])

    Random numbers are drawn on the CPU and then moved, so that they are the same on every device;
    what is printed, or read by NumPy and by figures, is a copy on the CPU.
    """

    def __init__(self, device: str) -> None:
        super().__init__()
        self.device = torch.device(device)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in MADE and kwargs.get("device") is None:
            is_live = kwargs.pop("requires_grad", False)
            made = func(*args, **kwargs).to(self.device)
            return made.requires_grad_() if is_live else made
        if func in DRAWN_INTO or getattr(func, "__module__", "") == "torch.nn.init":
            return drawn_into(func, *args, **kwargs)
        if func is Tensor.__repr__:
            return printed(args[0])
        if func in READ:
            args = args[0].cpu(), *args[1:]
        return func(*args, **kwargs)


def drawn_into(func, *args, **kwargs) -> Tensor:
    """What an operation in place writes into a tensor, drawn by the generator of the CPU."""
    tensor, *others = args or [kwargs.pop("tensor")]
    drawn = func(torch.empty_like(tensor, device="cpu"), *others, **kwargs)
    with torch.no_grad():
        return tensor.copy_(drawn)


def printed(tensor: Tensor) -> str:
    """As it would be printed on the CPU."""
    with torch.enable_grad():  # or the copy would come from nothing
        copy = tensor.cpu()
    if tensor.grad_fn is None or copy.grad_fn is None:
        return repr(tensor.detach().cpu().requires_grad_(tensor.requires_grad))
    return repr(copy).replace(copy.grad_fn.name(), tensor.grad_fn.name())


def put_tensors_on(device: str) -> None:
    """From now on; `import attn_core` does so where ATTN_DEVICE names a device."""
    check_device("ATTN_DEVICE", device)
    On(device).__enter__()


def check_device(name: str, device: str) -> None:
    """A device of torch on which a number can be put."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError):
        can = "cpu or cuda" if torch.cuda.is_available() else "cpu, as torch finds no GPU here"
        raise ValueError(f"{name} must be {can}, got {device!r}") from None
