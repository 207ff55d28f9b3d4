"""SlowVAE (Klindt, Schott, Sharma, Ustyuzhaninov, Brendel, Bethge and Paiton, ICLR 2021).

A variational autoencoder of pairs (x(t-1), x(t)): the first source vector is standard Gaussian, the
step to the second has a Laplace density of rate λ in every source, so that most steps are small and
few are large. With

    E|z - c| = σ·√(2/π)·exp(-d²/2σ²) + d·erf(d/(σ√2)),   d = μ - c,   z ~ N(μ, σ²)

the divergence of the second encoding from its prior is in closed form. Rate and weight of that term
are the paper's, λ = 6 and γ = 10.
"""

import math

import torch
from torch import Tensor

from ..interface import Check, Found, Given, Method
from ..networks import numbers, perceptron, start, train, whitened

STEPS, BATCH, HIDDEN, NOISE = 20_000, 256, 64, 0.01
RATE, WEIGHT = 6.0, 10.0


def expected_distance(mean: Tensor, scale: Tensor, center: Tensor) -> Tensor:
    """E|z - center| for z of that mean and standard deviation."""
    d = mean - center
    tail = math.sqrt(2 / math.pi) * scale * torch.exp(-(d**2) / (2 * scale**2))
    return tail + d * torch.erf(d / (scale * math.sqrt(2)))


def run(given: Given) -> Found:
    device = start(given.seed, given.device)
    x = torch.as_tensor(whitened(given.channels), device=device)
    times = torch.as_tensor(given.pairs(), device=device)
    k, m = given.n_sources, x.shape[1]
    encoder = perceptron([m, HIDDEN, HIDDEN, 2 * k]).to(device)
    decoder = perceptron([k, HIDDEN, HIDDEN, m]).to(device)

    def loss():
        now = times[torch.randint(len(times), (BATCH,), device=device)]
        pair = torch.cat([x[now - 1], x[now]])
        mean, log_variance = encoder(pair).chunk(2, 1)
        log_variance = log_variance.clamp(-12, 6)
        scale = (log_variance / 2).exp()
        z = mean + torch.randn_like(mean) * scale
        misfit = ((decoder(z) - pair) ** 2).sum(1).mean() / (2 * NOISE)
        first, second = slice(None, BATCH), slice(BATCH, None)
        start_divergence = 0.5 * (scale**2 + mean**2 - 1 - log_variance)[first].sum(1)
        entropy = 0.5 * (1 + math.log(2 * math.pi) + log_variance[second])
        distance = expected_distance(mean[second], scale[second], z[first])
        step_divergence = (RATE * distance - math.log(RATE / 2) - entropy).sum(1)
        return 2 * misfit + (start_divergence + WEIGHT * step_divergence).mean()

    train([*encoder.parameters(), *decoder.parameters()], loss, given.steps(STEPS), 1e-3)
    with torch.no_grad():
        return Found(numbers(encoder(x).chunk(2, 1)[0]))


METHOD = Method(
    name="slowvae",
    paper="Klindt et al., ICLR 2021",
    run=run,
    settings=f"λ {RATE:g}, γ {WEIGHT:g}, adam 1e-3, {STEPS} steps of {BATCH}",
)
