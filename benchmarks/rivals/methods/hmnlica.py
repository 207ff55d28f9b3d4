"""HM-NLICA: nonlinear ICA with hidden Markov states (Hälvä and Hyvärinen, UAI 2020), the
predecessor of SNICA.

One hidden Markov chain of C states; given the state every source is Gaussian with a mean and a
variance of its own. A network g unmixes, and by the change of variables

    ln p(x(t) | c) = Σ_i ln N(g_i(x(t)); μ_ci, σ²_ci) + ln|det ∂g/∂x|.

The states are summed out by the forward recursion over stretches of the recording. The gradient of
that likelihood is what expectation maximisation with gradient steps, as in the paper, follows. No
labels; the number of states is told, or 2K + 1.
"""

import math

import torch
from torch import Tensor, nn

from ..interface import DEPTH, STATES, Check, Found, Given, Method
from ..networks import numbers, start, train, whitened

STEPS, BATCH, LENGTH = 3_000, 32, 40
SLOPE = 0.2


class Unmixing(nn.Module):
    """Square layers with a smooth leaky ReLU between them, and the log-volume of the map."""

    def __init__(self, k: int, depth: int):
        super().__init__()
        layers = [nn.Linear(k, k) for _ in range(depth)]
        for layer in layers:
            nn.init.orthogonal_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        log_volume = x.new_zeros(x.shape[:-1])
        for i, layer in enumerate(self.layers):
            x = layer(x)
            log_volume = log_volume + torch.linalg.slogdet(layer.weight)[1]
            if i < len(self.layers) - 1:
                # Derivative of SLOPE·x + (1 - SLOPE)·ln(1 + eˣ).
                log_volume = log_volume + (SLOPE + (1 - SLOPE) * x.sigmoid()).log().sum(-1)
                x = SLOPE * x + (1 - SLOPE) * nn.functional.softplus(x)
        return x, log_volume


def log_likelihood(emissions: Tensor, log_start: Tensor, log_moves: Tensor) -> Tensor:
    """Of every chain, from the log-density (batch, T, C) of its samples under every state."""
    forward = log_start + emissions[:, 0]
    for t in range(1, emissions.shape[1]):
        forward = torch.logsumexp(forward[:, :, None] + log_moves, 1) + emissions[:, t]
    return torch.logsumexp(forward, 1)


def run(given: Given) -> Found:
    device = start(given.seed, given.device)
    k = given.n_sources
    x = torch.as_tensor(whitened(given.channels, k), device=device)
    length = min(LENGTH, given.shortest())
    begins = torch.as_tensor(given.pairs(length - 1) - (length - 1), device=device)
    states = given.states or 2 * k + 1
    unmixing = Unmixing(k, given.depth or 3).to(device)
    means = nn.Parameter(0.1 * torch.randn(states, k, device=device))
    log_variances = nn.Parameter(0.5 * torch.randn(states, k, device=device))
    moves = nn.Parameter(4.0 * torch.eye(states, device=device))  # chains that stay where they are
    begin_in = nn.Parameter(torch.zeros(states, device=device))

    def loss():
        begin = begins[torch.randint(len(begins), (BATCH,), device=device)]
        s, log_volume = unmixing(x[begin[:, None] + torch.arange(length, device=device)])
        log_variance = log_variances.clamp(-8, 6)
        distance = (s[..., None, :] - means) ** 2 / log_variance.exp()
        density = -0.5 * (math.log(2 * math.pi) + log_variance + distance).sum(-1)
        emissions = density + log_volume[..., None]
        chains = log_likelihood(emissions, begin_in.log_softmax(0), moves.log_softmax(1))
        return -chains.mean() / length

    parameters = [*unmixing.parameters(), means, log_variances, moves, begin_in]
    train(parameters, loss, given.steps(STEPS), 5e-3)
    with torch.no_grad():
        return Found(numbers(unmixing(x)[0]))


METHOD = Method(
    name="hm-nlica",
    paper="Hälvä and Hyvärinen, UAI 2020",
    run=run,
    settings=f"adam 5e-3, {STEPS} steps of {BATCH} stretches of {LENGTH}",
    told=(STATES, DEPTH),
    check=Check(
        problem="ivae L2",
        score="mcc",
        at_least=0.8,
        shown="sources of changing scale recovered without labels",
    ),
)
