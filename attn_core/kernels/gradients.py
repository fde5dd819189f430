"""Derivatives of one pass over tiles, in torch's own operations, on any device."""

import torch
from torch import Tensor

from attn_core.checks import check_derivative
from attn_core.kernels.tiles import tiles
from attn_core.kernels.whole_maps import whole
from attn_core.record import everything


def is_live(*tensors: Tensor) -> bool:
    """Whether what is computed from them now can be asked for gradients."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


class ByItself(torch.autograd.Function):
    """Under torch.vmap each sample is computed by itself, as a loop over them would do it."""

    @classmethod
    def vmap(cls, info, in_dims, *inputs):
        found = []
        for sample in range(info.batch_size):
            given = zip(inputs, in_dims, strict=True)
            found.append(cls.apply(*(x if d is None else x.select(d, sample) for x, d in given)))
        return tuple(map(torch.stack, zip(*found, strict=True))), (0,) * len(found[0])


class Pass(ByItself):
    """One pass with its derivatives, of any order.

    one_pass(q, k, v, keep, scale, dropout) gives a tuple: the output and, if they are on its way,
    row_max and row_sum. row_statistics(q, k, keep, scale, batches, heads) gives the two where they
    are not.
    """

    @staticmethod
    def forward(one_pass, row_statistics, q, k, v, keep, scale, dropout):
        return one_pass(q, k, v, keep, scale, dropout)

    @staticmethod
    def setup_context(ctx, inputs, found):
        _, ctx.row_statistics, q, k, v, *ctx.settings = inputs
        ctx.save_for_backward(q, k, v, *found)
        ctx.save_for_forward(q, k, v)
        ctx.mark_non_differentiable(*found[1:])
        ctx.dtype, ctx.constants = found[0].dtype, len(found) - 1

    @staticmethod
    def backward(ctx, of_output, *_):
        q, k, v, output, *statistics = ctx.saved_tensors
        statistics = statistics or (None, None)
        found = WayBack.apply(
            q, k, v, of_output, output, *statistics, ctx.row_statistics, *ctx.settings
        )
        return None, None, *found, None, None, None

    @staticmethod
    def jvp(ctx, _, __, of_q, of_k, of_v, *___):
        formulas = by_formulas(*ctx.settings)
        tangent = tangents(formulas, ctx.saved_tensors[:3], (of_q, of_k, of_v))
        return tangent.to(ctx.dtype), *[None] * ctx.constants


class WayBack(ByItself):
    """The gradients of one pass: the weights are derived again, block by block.

    It has derivatives, too. They follow from the six formulas on whole maps, whose inputs are cut
    off from the caller's graph: where q, k and v are one tensor, or come from one, each is
    differentiated as if it stood alone, and the caller's graph adds up.
    """

    @staticmethod
    def forward(q, k, v, of_output, output, row_max, row_sum, row_statistics, keep, scale, dropout):
        settings = keep, scale, dropout
        if row_max is None:
            row_max, row_sum = row_statistics(q, k, keep, scale, *everything(q))
        with torch.autocast(q.device.type, enabled=False):
            return through_tiles(q, k, v, of_output, output, row_max, row_sum, settings)

    @staticmethod
    def setup_context(ctx, inputs, _):
        *inputs, _, _, _, _, keep, scale, dropout = inputs
        ctx.settings = keep, scale, dropout
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, *of_gradients):
        with torch.autocast(of_gradients[0].device.type, enabled=False):
            pull = torch.func.vjp(gradients_by_formulas(*ctx.settings), *ctx.saved_tensors)[1]
            return *pull(of_gradients), *[None] * 7

    @staticmethod
    def jvp(ctx, *steps):
        return tangents(gradients_by_formulas(*ctx.settings), ctx.saved_tensors, steps[:4])


def through_tiles(q, k, v, of_output, output, row_max, row_sum, settings):
    """The gradients of q, k and v, in tiles.

    With w the weights, d what dropout leaves of them, g the gradient of the output: that of v is
    dᵀ @ g, that of a weight what dropout leaves of g·v, that of a masked score
    w · (the weight's − g·output), as the softmax demands.

    On a GPU torch.set_float32_matmul_precision holds for these products, as for all of torch's, and
    not for those of the pass.
    """
    of_q, of_k, of_v = (torch.zeros_like(t, dtype=output.dtype) for t in (q, k, v))
    for tile in tiles(q, k, v, *settings):
        pull = of_output[tile.place]
        along = (pull * output[tile.place]).sum(-1, keepdim=True)
        for cols in tile.blocks():
            weights = tile.masked(cols).sub_(row_max[tile.place][..., None]).exp_()
            weights.div_(row_sum[tile.place][..., None])
            of_weights = tile.drop_(pull @ tile.values(cols).mT, cols)
            of_scores = weights * of_weights.sub_(along) * tile.scale
            of_q[tile.place] += of_scores @ tile.keys(cols)
            of_k[tile.heads(cols)] += of_scores.mT @ tile.queries
            of_v[tile.heads(cols)] += tile.drop_(weights, cols).mT @ pull
    return of_q.to(q.dtype), of_k.to(k.dtype), of_v.to(v.dtype)


def by_formulas(keep, scale, dropout):
    """The output as a function of q, k and v, by the six formulas on whole maps."""

    def output(q, k, v):
        check_derivative((*q.shape[:3], k.shape[2]))
        return whole(q, k, v, keep, scale, dropout)[0]

    return output


def gradients_by_formulas(keep, scale, dropout):
    """The gradients of q, k and v as a function of the three and of the output's."""

    def gradients(q, k, v, of_output):
        return torch.func.vjp(by_formulas(keep, scale, dropout), q, k, v)[1](of_output)

    return gradients


def tangents(function, inputs, of_inputs):
    """What a small step of the inputs makes of a function's value; None: no step.

    By the way back of the way back, which is linear: torch nests no forward mode in its own.
    """
    pairs = zip(inputs, of_inputs, strict=True)
    steps = tuple(torch.zeros_like(x) if step is None else step for x, step in pairs)
    value, pull, *_ = torch.func.vjp(function, *inputs)
    return torch.func.vjp(pull, value)[1](steps)[0]
