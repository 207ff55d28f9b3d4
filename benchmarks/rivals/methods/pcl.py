"""Permutation-contrastive learning (Hyvärinen and Morioka, AISTATS 2017).

A network h tells pairs (x(t), x(t-1)) from pairs whose second member is taken from a random time,
by logistic regression on Σ_i B_i(h_i(x(t)), h_i(x(t-1))). Where sources are independent, stationary
and their pairs are not Gaussian, h is then the sources, each up to a function of its own (theorem
1).

`pcl` has the B of the paper's simulations, -|w₁u + w₂v + b| + a·u² + m with a ≥ 0, which is that of
autoregressive sources with Laplace innovations. `pcl-mlp` has a small network for every B_i, which
is all that the theorem asks for and assumes nothing about the sources.
"""

import torch
from torch import Tensor, nn

from ..interface import DEPTH, Check, Found, Given, Method
from ..networks import numbers, perceptron, start, train, whitened

STEPS, BATCH, DECAY, HIDDEN = 20_000, 512, 1e-5, 16
PAPER = "Hyvärinen and Morioka, AISTATS 2017"


class Laplace(nn.Module):
    """-Σ|w₁u + w₂v + b| + a·Σu² + m."""

    def __init__(self, k: int):
        super().__init__()
        self.weights = nn.Parameter(torch.stack([torch.ones(k), -torch.ones(k)]))
        self.bias = nn.Parameter(torch.zeros(k))
        self.square = nn.Parameter(torch.ones(()))  # a = its square, so never negative
        self.offset = nn.Parameter(torch.zeros(()))

    def forward(self, u: Tensor, v: Tensor) -> Tensor:
        jump = (self.weights[0] * u + self.weights[1] * v + self.bias).abs().sum(-1)
        return -jump + self.square**2 * (u**2).sum(-1) + self.offset


class Free(nn.Module):
    """Σ_i B_i(u_i, v_i) with a network of one hidden layer for every i."""

    def __init__(self, k: int):
        super().__init__()
        self.inner = nn.Parameter(torch.randn(k, 2, HIDDEN))
        self.bias = nn.Parameter(torch.randn(k, HIDDEN))
        self.outer = nn.Parameter(torch.randn(k, HIDDEN) / HIDDEN)
        self.offset = nn.Parameter(torch.zeros(()))

    def forward(self, u: Tensor, v: Tensor) -> Tensor:
        pair = torch.stack([u, v], -1)
        hidden = torch.einsum("bkp,kph->bkh", pair, self.inner) + self.bias
        return (nn.functional.leaky_relu(hidden, 0.1) * self.outer).sum((1, 2)) + self.offset


def run(given: Given, form: type[nn.Module]) -> Found:
    device = start(given.seed, given.device)
    x = torch.as_tensor(whitened(given.channels), device=device)
    times = torch.as_tensor(given.pairs(), device=device)
    k, depth = given.n_sources, given.depth or 3
    network = perceptron([x.shape[1]] + [2 * k] * (depth - 1) + [k], "maxout")
    features = nn.Sequential(network, nn.BatchNorm1d(k)).to(device)
    regression = form(k).to(device)
    real = torch.cat([torch.ones(BATCH), torch.zeros(BATCH)]).to(device)

    def loss():
        now = times[torch.randint(len(times), (BATCH,), device=device)]
        any_time = torch.randint(len(x), (BATCH,), device=device)
        h = features(torch.cat([x[now], x[now - 1], x[any_time]]))
        u, v, other = h.split(BATCH)
        score = regression(torch.cat([u, u]), torch.cat([v, other]))
        return nn.functional.binary_cross_entropy_with_logits(score, real)

    parameters = [*features.parameters(), *regression.parameters()]
    train(parameters, loss, given.steps(STEPS), 5e-3, decay=DECAY)
    features.eval()
    return Found(numbers(features(x)))


def method(name: str, form: type[nn.Module]) -> Method:
    return Method(
        name=name,
        paper=PAPER,
        run=lambda given: run(given, form),
        settings=f"adam 5e-3, {STEPS} steps of {BATCH}",
        told=(DEPTH,),
        check=Check(
            problem="pcl L2",
            score="mcc",
            at_least=0.9,
            shown="sources recovered behind nonlinear mixing, where linear methods fail",
        ),
    )


METHODS = (method("pcl", Laplace), method("pcl-mlp", Free))
