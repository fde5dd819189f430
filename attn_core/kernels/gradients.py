"""The way back through one pass over tiles, in torch's own operations, on any device."""

import torch
from torch import Tensor

from attn_core.kernels.tiles import tiles
from attn_core.kernels.whole_maps import whole


def is_live(*tensors: Tensor) -> bool:
    """Whether what is computed from them now can be asked for gradients."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


class Derived(torch.autograd.Function):
    """One pass with its gradients: the weights are derived again, block by block, on the way back.

    one_pass(q, k, v, keep, scale, dropout) gives the output, row_max and row_sum.

    With w the weights, d what dropout leaves of them, g the gradient of the output: that of v is
    dᵀ @ g, that of a weight what dropout leaves of g·v, that of a masked score
    w · (the weight's − g·output), as the softmax demands. Whoever asks for a graph of the
    gradients, to differentiate them again, gets it through whole maps.

    On a GPU torch.set_float32_matmul_precision holds for these products, as for all of torch's, and
    not for those of one_pass.
    """

    @staticmethod
    def forward(one_pass, q, k, v, keep, scale, dropout):
        return one_pass(q, k, v, keep, scale, dropout)

    @staticmethod
    def setup_context(ctx, inputs, found):
        _, q, k, v, *ctx.settings = inputs
        ctx.save_for_backward(q, k, v, *found)
        ctx.mark_non_differentiable(*found[1:])

    @staticmethod
    def backward(ctx, of_output, *_):
        way_back = through_whole_maps if torch.is_grad_enabled() else through_tiles
        q, *_ = saved = ctx.saved_tensors
        with torch.autocast(q.device.type, enabled=False):
            return None, *way_back(*saved, ctx.settings, of_output), None, None, None


def through_whole_maps(q, k, v, output, row_max, row_sum, settings, of_output):
    """Gradients that have gradients."""
    live = [tensor for tensor in (q, k, v) if tensor.requires_grad]
    made = whole(q, k, v, *settings)[0]
    found = iter(torch.autograd.grad(made, live, of_output, create_graph=True))
    return [next(found) if tensor.requires_grad else None for tensor in (q, k, v)]


def through_tiles(q, k, v, output, row_max, row_sum, settings, of_output):
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
