"""Every way of asking torch for a derivative, and every way in which q, k and v can share tensors.

What attention gives is compared with the formula, written in torch's operations on whole maps.
"""

from functools import partial

import torch
from torch.autograd import forward_ad, gradcheck, gradgradcheck

from tests.attn_core.reference import drawn


def by_formula(q, k, v, keep=None, scale=None):
    """keep: bool cells that leave something to each query, or None."""
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
    if keep is not None:
        scores = scores.masked_fill(~keep, -torch.inf)
    return scores.softmax(-1) @ v


# From one tensor [T, 3·D] or, for `one tensor`, its first D columns: what a caller hands in.
SHARED = {
    "one tensor": lambda x, width: (x[..., :width],) * 3,
    "views": lambda x, width: tuple(x[..., :width].view_as(x[..., :width]) for _ in range(3)),
    "chunks": lambda x, width: x.chunk(3, -1),
    "copies": lambda x, width: tuple(x[..., :width].clone() for _ in range(3)),
    "products": lambda x, width: (x[..., :width], x[..., :width] * 1, x[..., :width] * 2),
    "q and k alike": lambda x, width: (x[..., :width], x[..., :width], x[..., width : 2 * width]),
    "k made of q": lambda x, width: (x[..., :width], x[..., :width].sin(), x[..., -width:]),
}


def loss(attend, shared, width, x):
    """One number in which each output counts differently."""
    output = attend(*SHARED[shared](x, width))
    return (output * drawn(7, *output.shape).to(output) + output.square()).sum()


def plain(loss, x):
    live = x.clone().requires_grad_()
    loss(live).backward()
    return live.grad


def create_graph(loss, x):
    live = x.clone().requires_grad_()
    return torch.autograd.grad(loss(live), live, create_graph=True)[0].detach()


def second(loss, x):
    """The gradient of the gradient's square."""
    live = x.clone().requires_grad_()
    first = torch.autograd.grad(loss(live), live, create_graph=True)[0]
    return torch.autograd.grad(first.square().sum(), live)[0]


def func_second(loss, x):
    return torch.func.grad(lambda x: torch.func.grad(loss)(x).square().sum())(x)


def jacrev(loss, x):
    """Of two losses at once: vmap over the way back."""

    def losses(x):
        value = loss(x)
        return torch.stack([value, value.square()])

    return torch.func.jacrev(losses)(x)


def forward_mode(loss, x):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(loss(forward_ad.make_dual(x, x.cos()))).tangent


def jvp(loss, x):
    return torch.func.jvp(loss, (x,), (x.cos(),))[1]


def forward_over_reverse(loss, x):
    return torch.func.jvp(torch.func.grad(loss), (x,), (x.cos(),))[1]


def reverse_over_forward(loss, x):
    return torch.func.grad(partial(jvp, loss))(x)


def per_sample(loss, x):
    """vmap over the gradient, as per-sample gradients are taken."""
    return torch.func.vmap(torch.func.grad(loss))(torch.stack([x, x.cos()]))


def of_samples(loss, x):
    """The gradient through vmap."""
    losses = torch.func.vmap(loss)
    return torch.func.grad(lambda x: losses(torch.stack([x, x.cos()])).square().sum())(x)


WAYS = (
    plain,
    create_graph,
    second,
    torch.func.grad,
    func_second,
    jacrev,
    forward_mode,
    jvp,
    forward_over_reverse,
    reverse_over_forward,
    per_sample,
    of_samples,
)


def derivative(way, loss, x):
    return torch.func.grad(loss)(x) if way is torch.func.grad else way(loss, x)


def numerical(attend, shared, width, x):
    """torch's own comparison of gradients, and of theirs, with differences."""
    live = x.clone().requires_grad_()

    def output(x):
        return attend(*SHARED[shared](x, width))

    return gradcheck(output, live, fast_mode=True, check_forward_ad=True) and gradgradcheck(
        output, live, fast_mode=True
    )
