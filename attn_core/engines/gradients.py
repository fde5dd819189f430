"""Derivatives of one pass, of any order, whatever computes it and its backward pass."""

from collections.abc import Callable
from functools import partial
from itertools import groupby
from math import prod
from operator import itemgetter

import torch
from torch import Tensor

from attn_core.call import Call
from attn_core.checks import check_derivative
from attn_core.engines.formulas import whole
from attn_core.engines.tiles import HeadRows, Tile, cut
from attn_core.threads import parallel_map

SHARES = 4  # of a backward pass, at least: a number that does not depend on the machine


def needs_gradients(*tensors: Tensor) -> bool:
    """Whether what is computed from them now can be asked for gradients."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def with_gradients(one_pass: Callable, backward: Callable, call: Call) -> tuple[Tensor, ...]:
    """What a pass gives for a call; its first tensor, the output, has derivatives.

    one_pass(call): the output, and what is saved for the backward pass.
    backward(call, grad_output, output, *saved): the gradients of q, k and v.
    """
    call_of = partial(Call, keep=call.keep, scale=call.scale, dropout=call.dropout, lead=call.lead)
    return Pass.apply(one_pass, backward, call.q, call.k, call.v, call_of)


class ByItself(torch.autograd.Function):
    """Under torch.vmap each sample is computed by itself, as a loop over them would do it."""

    @classmethod
    def vmap(cls, info, in_dims, *inputs):
        made = []
        for sample in range(info.batch_size):
            batched = zip(inputs, in_dims, strict=True)
            made.append(cls.apply(*(x if d is None else x.select(d, sample) for x, d in batched)))
        return tuple(map(torch.stack, zip(*made, strict=True))), (0,) * len(made[0])


class Pass(ByItself):
    """One pass with its derivatives."""

    @staticmethod
    def forward(one_pass, backward, q, k, v, call_of):
        return one_pass(call_of(q, k, v))

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        _, ctx.backward_pass, q, k, v, ctx.call_of = inputs
        ctx.save_for_backward(q, k, v, *outputs)
        ctx.save_for_forward(q, k, v)
        ctx.mark_non_differentiable(*outputs[1:])
        ctx.dtype, ctx.constants = outputs[0].dtype, len(outputs) - 1

    @staticmethod
    def backward(ctx, grad_output, *_):
        q, k, v, *outputs = ctx.saved_tensors
        gradients = Backward.apply(q, k, v, grad_output, ctx.backward_pass, ctx.call_of, *outputs)
        return None, None, *gradients, None

    @staticmethod
    def jvp(ctx, _, __, tangent_q, tangent_k, tangent_v, *___):
        formulas = by_formulas(ctx.call_of)
        tangent = tangents(formulas, ctx.saved_tensors[:3], (tangent_q, tangent_k, tangent_v))
        return tangent.to(ctx.dtype), *[None] * ctx.constants


class Backward(ByItself):
    """The gradients of one pass.

    They have derivatives, too. These follow from the six formulas on whole maps, whose inputs are
    cut off from the caller's graph: where q, k and v are one tensor, or come from one, each is
    differentiated as if it stood alone, and the caller's graph adds up.
    """

    @staticmethod
    def forward(q, k, v, grad_output, backward, call_of, *outputs):
        with torch.autocast(q.device.type, enabled=False):
            return backward(call_of(q, k, v), grad_output, *outputs)

    @staticmethod
    def setup_context(ctx, inputs, _):
        *tensors, _, ctx.call_of = inputs[:6]
        ctx.others = len(inputs) - len(tensors)
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx, *grad_grads):
        with torch.autocast(grad_grads[0].device.type, enabled=False):
            vjp = torch.func.vjp(gradients_by_formulas(ctx.call_of), *ctx.saved_tensors)[1]
            return *vjp(grad_grads), *[None] * ctx.others

    @staticmethod
    def jvp(ctx, *steps):
        return tangents(gradients_by_formulas(ctx.call_of), ctx.saved_tensors, steps[:4])


def through_tiles(
    call: Call, grad_output: Tensor, output: Tensor, row_max: Tensor, row_sum: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of q, k and v: the weights are derived again, block by block.

    With w the weights, d what dropout leaves of them, g the gradient of the output: that of v is
    dᵀ @ g, that of a weight what dropout leaves of g·v, that of a masked score
    w · (the weight's − g·output), as the softmax demands.

    On a GPU torch.set_float32_matmul_precision holds for these products, as for all of torch's, and
    not for those of the pass.
    """
    grad_q = torch.zeros_like(call.q, dtype=output.dtype)
    sums, work = shares(call)
    grad_k, grad_v = (t.new_zeros(sums, *t.shape, dtype=output.dtype) for t in (call.k, call.v))

    def back(share: tuple[int, list[HeadRows]]) -> None:
        number, parts = share
        for tile in (Tile(call, part) for part in parts):
            grad = grad_output[tile.place]
            along = (grad * output[tile.place]).sum(-1, keepdim=True)
            for cols in tile.blocks():
                weights = tile.masked(cols).sub_(row_max[tile.place][..., None]).exp_()
                weights.div_(row_sum[tile.place][..., None])
                grad_weights = tile.drop_(grad @ tile.values(cols).mT, cols)
                grad_scores = weights * grad_weights.sub_(along) * call.scale
                grad_q[tile.place] += grad_scores @ tile.keys(cols)
                grad_k[number][tile.heads(cols)] += grad_scores.mT @ tile.queries
                grad_v[number][tile.heads(cols)] += tile.drop_(weights, cols).mT @ grad

    parallel_map(back, work, prod(call.shape), call.q.device)
    return grad_q.to(call.q.dtype), grad_k.sum(0).to(call.k.dtype), grad_v.sum(0).to(call.v.dtype)


def shares(call: Call) -> tuple[int, list[tuple[int, list[HeadRows]]]]:
    """How many sums of each key's gradient there are, and for each share its sum and its rows.

    No two shares write to one place: each has heads of its own or, where these are few, a sum.
    """
    by_heads = [list(rows) for _, rows in groupby(cut(call), key=itemgetter(slice(2)))]
    sums = SHARES if len(by_heads) < SHARES and call.q.is_cpu else 1
    return sums, [(n, rows[n::sums]) for rows in by_heads for n in range(sums)]


def by_formulas(call_of):
    """The output as a function of q, k and v, by the six formulas on whole maps."""

    def output(q, k, v):
        call = call_of(q, k, v)
        check_derivative(call.shape)
        return whole(q, k, v, call.keep, call.scale, call.dropout)[0]

    return output


def gradients_by_formulas(call_of):
    """The gradients of q, k and v as a function of the three and of the output's."""

    def gradients(q, k, v, grad_output):
        return torch.func.vjp(by_formulas(call_of), q, k, v)[1](grad_output)

    return gradients


def tangents(function, inputs, of_inputs):
    """What a small step of the inputs makes of a function's value.

    The vector-Jacobian product is linear, so its own one gives them: torch can't nest forward mode.
    """
    value, vjp, *_ = torch.func.vjp(function, *inputs)
    return torch.func.vjp(vjp, value)[1](of_inputs)[0]
