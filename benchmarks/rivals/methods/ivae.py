"""iVAE: a variational autoencoder with a prior that depends on what is known (Khemakhem, Kingma,
Monti and Hyvärinen, AISTATS 2020).

Given its label, a source is Gaussian with a variance of its own (one number for every source and
label, which is all that a network of one-hot labels can say); a decoder makes the channels, an
encoder sees channels and label. Where the variances differ enough between labels, the sources are
found. As in the paper's simulations: means 0, three layers, fixed noise of the decoder. Different:
larger batches, and noise of 1 % of the variance.
"""

import torch
from torch import nn
from torch.nn.functional import one_hot

from ..interface import LABELS, Check, Found, Given, Method
from ..networks import numbers, perceptron, start, train, whitened

STEPS, BATCH, HIDDEN, NOISE = 20_000, 256, 64, 0.01


def run(given: Given) -> Found:
    device = start(given.seed, given.device)
    x = torch.as_tensor(whitened(given.channels), device=device)
    label = torch.as_tensor(given.segments(), dtype=torch.long, device=device)
    k, m, n_labels = given.n_sources, x.shape[1], int(label.max()) + 1
    prior = nn.Embedding(n_labels, k).to(device)  # log-variance of every source under every label
    nn.init.zeros_(prior.weight)
    encoder = perceptron([m + n_labels, HIDDEN, HIDDEN, 2 * k]).to(device)
    decoder = perceptron([k, HIDDEN, HIDDEN, m]).to(device)

    def encode(some):
        seen = torch.cat([x[some], one_hot(label[some], n_labels).float()], 1)
        mean, log_variance = encoder(seen).chunk(2, 1)
        return mean, log_variance.clamp(-12, 6)

    def loss():
        some = torch.randint(len(x), (BATCH,), device=device)
        mean, log_variance = encode(some)
        z = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        misfit = ((decoder(z) - x[some]) ** 2).sum(1) / (2 * NOISE)
        log_prior = prior(label[some]).clamp(-12, 6)
        excess = (log_variance.exp() + mean**2) / log_prior.exp()
        divergence = 0.5 * (log_prior - log_variance + excess - 1).sum(1)
        return (misfit + divergence).mean()

    parameters = [*prior.parameters(), *encoder.parameters(), *decoder.parameters()]
    train(parameters, loss, given.steps(STEPS), 2e-3)
    parts = torch.arange(len(x), device=device).split(8192)
    with torch.no_grad():
        return Found(numbers(torch.cat([encode(part)[0] for part in parts])))


METHOD = Method(
    name="ivae",
    paper="Khemakhem et al., AISTATS 2020",
    run=run,
    settings=f"adam 2e-3, {STEPS} steps of {BATCH}",
    told=(LABELS,),
    check=Check(
        problem="ivae L2",
        score="mcc",
        at_least=0.9,
        shown="sources recovered with labels, where a plain VAE fails",
    ),
)
