"""The branches as a person would write them first: one nn.Module per (source, scale), in turn."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .problem import Problem, Scale

NORM_EPSILON = 1e-5


def _linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    layer = nn.Linear(*weight.shape)
    layer.weight.data, layer.bias.data = weight.T.contiguous(), bias.clone()
    return layer


def _norm(gain: Tensor, bias: Tensor) -> nn.LayerNorm:
    layer = nn.LayerNorm(len(gain), NORM_EPSILON)
    layer.weight.data, layer.bias.data = gain.clone(), bias.clone()
    return layer


class Layer(nn.Module):
    """Pre-norm encoder layer with a locality bias on its attention."""

    def __init__(self, p: dict[str, Tensor], prefix: str, n_heads: int, attention: str) -> None:
        super().__init__()
        self.n_heads, self.attention = n_heads, attention
        t = lambda name: p[f"{prefix}.{name}"]
        self.norm1, self.norm2 = (_norm(t(f"{n}.gain"), t(f"{n}.bias")) for n in ("norm1", "norm2"))
        self.qkv = _linear(t("attention.w_qkv"), t("attention.b_qkv"))
        self.out = _linear(t("attention.w_o"), t("attention.b_o"))
        self.ffn1 = _linear(t("ffn.w_1"), t("ffn.b_1"))
        self.ffn2 = _linear(t("ffn.w_2"), t("ffn.b_2"))

    def forward(self, x: Tensor, locality: Tensor) -> Tensor:
        n, d = x.shape
        qkv = self.qkv(self.norm1(x)).view(n, 3, self.n_heads, -1)
        q, k, v = qkv.permute(1, 2, 0, 3)  # (H, N, d/H)
        if self.attention == "sdpa":
            mixed = F.scaled_dot_product_attention(q[None], k[None], v[None], attn_mask=locality)[0]
        else:
            mixed = torch.softmax(q @ k.mT / math.sqrt(d // self.n_heads) + locality, -1) @ v
        x = x + self.out(mixed.transpose(0, 1).reshape(n, d))
        return x + self.ffn2(F.gelu(self.ffn1(self.norm2(x))))


class Branch(nn.Module):
    """Masked patch energy of one source at one scale."""

    def __init__(self, scale: Scale, k: int, shape: dict[str, int], attention: str) -> None:
        super().__init__()
        p = scale.networks[k]
        self.embed = _linear(p["embed.w_in"], p["embed.b_in"])
        self.mask_token = nn.Parameter(p["embed.mask_token"].clone())
        self.layers = nn.ModuleList(
            Layer(p, f"layers.{l}", shape["n_heads"], attention) for l in range(shape["n_layers"])
        )
        self.norm = _norm(p["norm.gain"], p["norm.bias"])
        self.head = _linear(p["head.w_out"], p["head.b_out"])
        first = scale.windows[k, 0, 0].item()
        self.stride = int(scale.windows[k, 1, 0].item() - first)
        self.patch, self.span = scale.patch, (scale.n_patches - 1) * self.stride + scale.patch
        self.first, self.hidden, self.masked = first, scale.hidden[k], scale.masked[k]
        self.positions = scale.positions[k].clone()
        i = torch.arange(scale.n_patches, dtype=torch.float32)
        self.distance = (i[:, None] - i).abs()  # (N, N)

    def forward(self, flat_sources: Tensor, slope: Tensor) -> Tensor:
        window = flat_sources[self.first : self.first + self.span]
        patches = window.unfold(0, self.patch, self.stride)  # (N, P)
        x = torch.where(self.hidden, self.mask_token, self.embed(patches)) + self.positions
        locality = -slope * self.distance
        for layer in self.layers:
            x = layer(x, locality)
        predicted = self.head(self.norm(x[self.masked]))
        return F.mse_loss(predicted, patches[self.masked])  # the targets carry gradient too


class LoopBranches(nn.Module):
    """All branches, one after the other."""

    def __init__(self, problem: Problem, attention: str) -> None:
        super().__init__()
        shape, sources = problem.config["branches"], range(problem.n_sources)
        self.table = nn.ModuleList(
            nn.ModuleList(Branch(scale, k, shape, attention) for scale in problem.scales)
            for k in sources
        )

    def forward(self, z: Tensor, slopes: Tensor) -> Tensor:
        flat = z.flatten()
        energies = [[branch(flat, slopes[k]) for branch in row] for k, row in enumerate(self.table)]
        return torch.stack([torch.stack(row) for row in energies])
