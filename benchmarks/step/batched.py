"""The branches of all sources at once: parameters stacked over K, one batched call per scale.

Two versions of the same numbers. `last="all"` computes what the loop computes. `last="masked"` uses
that only masked patches are predicted: in the last layer, queries, feed-forward block and what
follows are computed there only.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .problem import Problem, Scale

NORM_EPSILON = 1e-5


class LocalAttention(torch.autograd.Function):
    """softmax(q k' / sqrt(d/H) - slope * distance) v with a backward pass by hand.

    Autograd would keep the penalty as a (K, H, N, N) tensor and reduce its gradient in several
    passes; the slope needs one product with the distances.

    q (K, H, Nq, d/H), k and v (K, H, N, d/H), slopes (K,), distance (1 or K, Nq, N).
    """

    @staticmethod
    def forward(ctx, q, k, v, slopes, distance):
        n_sources, n_heads, n_queries, d_head = q.shape
        batch = lambda x: x.reshape(n_sources * n_heads, x.shape[2], d_head)
        q, k, v = batch(q) * (1 / math.sqrt(d_head)), batch(k), batch(v)
        scores = torch.bmm(q, k.mT)
        penalty = (slopes[:, None, None] * distance)[:, None]  # (K, 1, Nq, N)
        scores.view(n_sources, n_heads, n_queries, -1).sub_(penalty)
        weights = torch.softmax(scores, -1)
        ctx.save_for_backward(q, k, v, weights, distance)
        ctx.n_sources = n_sources
        return torch.bmm(weights, v).view(n_sources, n_heads, n_queries, d_head)

    @staticmethod
    def backward(ctx, d_out):
        q, k, v, weights, distance = ctx.saved_tensors
        n_sources, (n_batch, n_queries, d_head) = ctx.n_sources, q.shape
        d_out = d_out.reshape(n_batch, n_queries, d_head)
        d_v = torch.bmm(weights.mT, d_out)
        d_scores = torch._softmax_backward_data(torch.bmm(d_out, v.mT), weights, -1, weights.dtype)
        d_q = torch.bmm(d_scores, k) * (1 / math.sqrt(d_head))
        d_k = torch.bmm(d_scores.mT, q)
        flat = d_scores.view(n_sources, n_batch // n_sources, -1)
        d_slopes = -torch.matmul(flat, distance.flatten(1)[..., None]).sum((1, 2))
        split = lambda x: x.view(n_sources, n_batch // n_sources, -1, d_head)
        return split(d_q), split(d_k), split(d_v), d_slopes, None


def attend(kind: str, q: Tensor, k: Tensor, v: Tensor, slopes: Tensor, distance: Tensor) -> Tensor:
    """Attention with the locality penalty, computed in one of three ways."""
    if kind == "custom":
        return LocalAttention.apply(q, k, v, slopes, distance)
    locality = -(slopes[:, None, None] * distance)[:, None]
    if kind == "sdpa":
        return F.scaled_dot_product_attention(q, k, v, attn_mask=locality)
    return torch.softmax((q / math.sqrt(q.shape[-1])) @ k.mT + locality, -1) @ v


def stack(scale: Scale, name: str) -> Tensor:
    """One tensor of all sources: (K, inputs, outputs), or (K, 1, n) for vectors.

    A vector broadcasts over patches.
    """
    stacked = torch.stack([network[name] for network in scale.networks])
    return stacked if stacked.ndim == 3 else stacked[:, None].contiguous()


class ScaleBranches(nn.Module):
    """The branches of all sources at one scale."""

    def __init__(self, scale: Scale, shape: dict[str, int], attention: str, last: str) -> None:
        super().__init__()
        self.n_heads, self.n_layers = shape["n_heads"], shape["n_layers"]
        self.attention, self.last = attention, last
        names = scale.networks[0]
        self.weights = nn.ParameterList(nn.Parameter(stack(scale, name)) for name in names)
        self.p = dict(zip(names, self.weights))  # looked up without the detours of nn.Module
        self.hidden, self.positions = scale.hidden, scale.positions
        (n_sources, n_masked), n = scale.masked.shape, scale.n_patches
        # In (K * N, ...).
        self.rows = (scale.masked + n * torch.arange(n_sources)[:, None]).flatten()
        self.n_masked = n_masked
        i = torch.arange(n, dtype=torch.float32)
        self.distance = (i[:, None] - i).abs()[None]  # (1, N, N)
        self.masked_distance = (scale.masked[..., None].float() - i).abs()  # (K, M, N)

    def _norm(self, x: Tensor, name: str) -> Tensor:
        normed = F.layer_norm(x, x.shape[-1:], eps=NORM_EPSILON)
        return torch.addcmul(self.p[f"{name}.bias"], normed, self.p[f"{name}.gain"])

    def _linear(self, x: Tensor, weight: str, bias: str) -> Tensor:
        return torch.baddbmm(self.p[bias], x, self.p[weight])

    def _masked(self, x: Tensor) -> Tensor:
        """Rows (K, M, ...) of the masked patches."""
        return x.flatten(0, 1).index_select(0, self.rows).view(x.shape[0], self.n_masked, -1)

    def _layer(self, x: Tensor, l: int, slopes: Tensor) -> Tensor:
        name = f"layers.{l}"
        normed = self._norm(x, f"{name}.norm1")
        qkv = self._linear(normed, f"{name}.attention.w_qkv", f"{name}.attention.b_qkv")
        q, k, v = qkv.chunk(3, -1)
        distance = self.distance
        if self.last == "masked" and l == self.n_layers - 1:
            q, x, distance = self._masked(q), self._masked(x), self.masked_distance
        heads = lambda t: t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (K, H, N, d/H)
        mixed = attend(self.attention, heads(q), heads(k), heads(v), slopes, distance)
        mixed = mixed.transpose(1, 2).flatten(2)
        x = x + self._linear(mixed, f"{name}.attention.w_o", f"{name}.attention.b_o")
        normed = self._norm(x, f"{name}.norm2")
        h = F.gelu(self._linear(normed, f"{name}.ffn.w_1", f"{name}.ffn.b_1"))
        return x + self._linear(h, f"{name}.ffn.w_2", f"{name}.ffn.b_2")

    def forward(self, patches: Tensor, slopes: Tensor) -> Tensor:
        """Energies (K,) of the sources from their patches (K, N, P)."""
        embedded = self._linear(patches, "embed.w_in", "embed.b_in")
        x = torch.where(self.hidden, self.p["embed.mask_token"], embedded) + self.positions
        for l in range(self.n_layers):
            x = self._layer(x, l, slopes)
        x = x if self.last == "masked" else self._masked(x)
        predicted = self._linear(self._norm(x, "norm"), "head.w_out", "head.b_out")
        return (predicted - self._masked(patches)).square().mean((1, 2))


class BatchedBranches(nn.Module):
    """All branches, scale by scale; the windows of all of them are cut out at once."""

    def __init__(self, problem: Problem, attention: str, last: str) -> None:
        super().__init__()
        shape = problem.config["branches"]
        scales = [ScaleBranches(scale, shape, attention, last) for scale in problem.scales]
        self.scales = nn.ModuleList(scales)
        self.index = torch.cat([scale.windows.flatten() for scale in problem.scales])
        self.shapes = [scale.windows.shape for scale in problem.scales]

    def forward(self, z: Tensor, slopes: Tensor) -> Tensor:
        lengths = [shape.numel() for shape in self.shapes]
        samples = z.flatten().index_select(0, self.index).split(lengths)
        energies = [
            branches(patches.view(shape), slopes)
            for branches, patches, shape in zip(self.scales, samples, self.shapes)
        ]
        return torch.stack(energies, 1)
