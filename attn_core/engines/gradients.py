"""Derivatives of one pass, of any order, whatever computes it and its backward pass."""

from collections.abc import Callable
from functools import partial
from itertools import groupby
from math import prod
from operator import itemgetter

import torch
from torch import Tensor
from torch.autograd.forward_ad import unpack_dual

from attn_core.call import Call
from attn_core.checks import check_derivative, is_transformed
from attn_core.engines.formulas import whole
from attn_core.engines.tiles import HeadRows, Tile, cut
from attn_core.masks import as_slice
from attn_core.threads import parallel_map

SHARES = 4  # of a backward pass, at least: a number that does not depend on the machine


def needs_gradients(*tensors: Tensor) -> bool:
    """Whether what is computed from them now can be asked for gradients."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def with_gradients(one_pass: Callable, backward: Callable, call: Call) -> tuple[Tensor, ...]:
    """What a pass gives for a call; its first tensor, the output, has derivatives.

    one_pass(call): the output, and what is saved for the backward pass.
    backward(call, grad_output, output, *saved): the gradients of q, k and v, and of what else of
    the call asks for one.
    """
    if not any(map(is_followed, (call.q, call.k, call.v, *call.added().values()))):
        # Without autograd's part, which takes as long as a short pass.
        with torch.no_grad():
            return one_pass(call)
    added = asking(call)
    call_of = partial(with_tensors, call, list(added))
    return Pass.apply(one_pass, backward, call_of, call.q, call.k, call.v, *added.values())


def is_followed(tensor: Tensor) -> bool:
    """Whether a derivative, back or forward, or a sample can be asked of what is made of it."""
    return (
        needs_gradients(tensor) or is_transformed(tensor) or unpack_dual(tensor).tangent is not None
    )


def asking(call: Call) -> dict[str, Tensor]:
    """The tensors of the bias and the sinks that ask for a derivative, back or forward."""
    return {name: x for name, x in call.added().items() if x.requires_grad or is_followed(x)}


def with_tensors(call: Call, names: list[str], q, k, v, *added: Tensor) -> Call:
    """The call of other tensors; those of the names ask for a gradient, as before."""
    # torch.func hands on tensors that do not say so.
    asking = (x if x.requires_grad else x.detach().requires_grad_() for x in added)
    return call.with_added(**dict(zip(names, asking, strict=True))).call_with(q=q, k=k, v=v)


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
    """One pass with its derivatives; call_of(*tensors) is the call of these tensors."""

    @staticmethod
    def forward(one_pass, backward, call_of, *tensors):
        return one_pass(call_of(*tensors))

    @staticmethod
    def setup_context(ctx, inputs, outputs):
        _, ctx.backward_pass, ctx.call_of, *tensors = inputs
        ctx.save_for_backward(*tensors, *outputs)
        ctx.save_for_forward(*tensors)
        ctx.mark_non_differentiable(*outputs[1:])
        ctx.dtype, ctx.constants, ctx.count = outputs[0].dtype, len(outputs) - 1, len(tensors)

    @staticmethod
    def backward(ctx, grad_output, *_):
        tensors, outputs = ctx.saved_tensors[: ctx.count], ctx.saved_tensors[ctx.count :]
        gradients = Backward.apply(
            ctx.backward_pass, ctx.call_of, ctx.count, *tensors, grad_output, *outputs
        )
        return None, None, None, *gradients

    @staticmethod
    def jvp(ctx, _, __, ___, *steps):
        formulas = by_formulas(ctx.call_of)
        tangent = tangents(formulas, ctx.saved_tensors[: ctx.count], steps)
        return tangent.to(ctx.dtype), *[None] * ctx.constants


class Backward(ByItself):
    """The gradients of one pass.

    They have derivatives, too. These follow from the six formulas on whole maps, whose inputs are
    cut off from the caller's graph: where q, k and v are one tensor, or come from one, each is
    differentiated as if it stood alone, and the caller's graph adds up.
    """

    @staticmethod
    def forward(backward, call_of, count, *tensors):
        with torch.autocast(tensors[0].device.type, enabled=False):
            return backward(call_of(*tensors[:count]), *tensors[count:])

    @staticmethod
    def setup_context(ctx, inputs, _):
        _, ctx.call_of, count, *tensors = inputs
        ctx.inputs, ctx.others = count + 1, len(tensors) - count - 1
        ctx.save_for_backward(*tensors[: count + 1])
        ctx.save_for_forward(*tensors[: count + 1])

    @staticmethod
    def backward(ctx, *grad_grads):
        with torch.autocast(grad_grads[0].device.type, enabled=False):
            vjp = torch.func.vjp(gradients_by_formulas(ctx.call_of), *ctx.saved_tensors)[1]
            return None, None, None, *vjp(grad_grads), *[None] * ctx.others

    @staticmethod
    def jvp(ctx, _, __, ___, *steps):
        of_inputs = steps[: ctx.inputs]
        return tangents(gradients_by_formulas(ctx.call_of), ctx.saved_tensors, of_inputs)


def through_tiles(
    call: Call, grad_output: Tensor, output: Tensor, row_max: Tensor, row_sum: Tensor
) -> tuple[Tensor, ...]:
    """The gradients of the call's tensors: the weights are derived again, block by block.

    With w the weights, d what dropout leaves of them, g the gradient of the output: that of v is
    dᵀ @ g, that of a weight what dropout leaves of g·v, that of a masked score
    w · (the weight's − g·output), as the softmax demands. The bias has the gradient of the masked
    score, a sink −(its share of the row) · g·output.

    On a GPU, torch.set_float32_matmul_precision applies to these products, as to all of torch's,
    but not to those of the pass.
    """
    grad_q = torch.zeros_like(call.q, dtype=output.dtype)
    sums, work = shares(call)
    # Of each head of the queries, so that no two shares write to one place.
    heads = call.shape[0], call.shape[1], call.shape[3]
    grad_k, grad_v = (
        output.new_zeros(sums, *heads, width) for width in (call.k.shape[-1], call.v.shape[-1])
    )
    added = asking(call)
    grads = {name: torch.zeros_like(x, dtype=output.dtype) for name, x in added.items()}

    def back(share: tuple[int, list[HeadRows]]) -> None:
        number, parts = share
        for tile in (Tile(call, part) for part in parts):
            grad = grad_output[tile.place]
            along = (grad * output[tile.place]).sum(-1, keepdim=True)
            shift, total = (each[tile.place][..., None] for each in (row_max, row_sum))
            for cols in tile.blocks():
                capped = tile.capped(cols)
                slope = None if call.softcap is None else 1 - (capped / call.softcap).square_()
                weights = tile.mask_(capped, cols).sub_(shift).exp_().div_(total)
                grad_weights = tile.drop_(grad @ tile.values(cols).mT, cols)
                grad_scores = weights * grad_weights.sub_(along)
                if grads and call.bias is not None:
                    call.bias.add_gradients_(grad_scores, tile.part(cols), call.size, grads)
                if slope is not None:
                    grad_scores.mul_(slope)
                grad_scores.mul_(call.scale)
                grad_q[tile.place] += grad_scores @ tile.keys(cols)
                grad_k[number][tile.heads(cols)] += grad_scores.mT @ tile.queries
                grad_v[number][tile.heads(cols)] += tile.drop_(weights, cols).mT @ grad
            if tile.sinks is not None and "sinks" in grads:
                of_sink = (tile.sinks[..., None] - shift).exp_().div_(total)
                grads["sinks"][as_slice(tile.head_range)] -= (of_sink * along).sum((0, 2, 3))

    if grads:  # all shares add to them: one after another, so that the order is always the same
        for share in work:
            back(share)
    else:
        parallel_map(back, work, prod(call.shape), call.q.device)
    by_head = [grad.sum(0) for grad in (grad_k, grad_v)]
    if call.group > 1:
        by_head = [grad.unflatten(1, (-1, call.group)).sum(2) for grad in by_head]
    tensors = call.q, call.k, call.v, *added.values()
    made = grad_q, *by_head, *grads.values()
    return tuple(grad.to(tensor.dtype) for grad, tensor in zip(made, tensors, strict=True))


def shares(call: Call) -> tuple[int, list[tuple[int, list[HeadRows]]]]:
    """How many sums of each key's gradient there are, and for each share its sum and its rows.

    No two shares write to one place: each has heads of its own or, where these are few, a sum.
    """
    by_heads = [list(rows) for _, rows in groupby(cut(call), key=itemgetter(slice(2)))]
    sums = SHARES if len(by_heads) < SHARES and call.q.is_cpu else 1
    return sums, [(n, rows[n::sums]) for rows in by_heads for n in range(sums)]


def by_formulas(call_of):
    """The output as a function of the tensors, by the six formulas on whole maps."""

    def output(*tensors):
        call = call_of(*tensors)
        check_derivative(call.shape)
        return whole(call)

    return output


def gradients_by_formulas(call_of):
    """The gradients of the tensors as a function of them and, at the end, of the output's."""

    def gradients(*tensors):
        *inputs, grad_output = tensors
        return torch.func.vjp(by_formulas(call_of), *inputs)[1](grad_output)

    return gradients


def tangents(function, inputs, of_inputs):
    """What a small step of the inputs makes of a function's value.

    The vector-Jacobian product is linear, so its own one gives them: torch can't nest forward mode.
    """
    value, vjp, *_ = torch.func.vjp(function, *inputs)
    return torch.func.vjp(vjp, value)[1](of_inputs)[0]
