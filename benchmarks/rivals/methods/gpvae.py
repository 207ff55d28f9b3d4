"""GP-VAE: a variational autoencoder with Gaussian-process sources (Fortuin, Baranchuk, Rätsch and
Mandt, AISTATS 2020).

Every source has a Gaussian-process prior with a Cauchy kernel, 1/(1 + τ²/ℓ²), of a length ℓ of its
own, which is learned. The posterior of a window is Gaussian with a tridiagonal precision BᵀB, B
upper bidiagonal, so that it is drawn from by one triangular solve, and

    KL = ½·(‖L⁻¹B⁻¹‖² + ‖L⁻¹m‖² - W + ln det K) + Σ ln B_tt,   K = LLᵀ,

with window length W and mean m. Different: the encoder sees one sample, not a window.
"""

import torch
from torch.linalg import solve_triangular
from torch.nn import Parameter

from ..interface import Found, Given, Method
from ..networks import numbers, perceptron, start, train, whitened

STEPS, BATCH, WINDOW, HIDDEN, NOISE, JITTER = 4_000, 16, 48, 64, 0.01, 1e-3


def cauchy(log_length, times):
    """Kernel matrices (K, W, W), jitter on the diagonal."""
    lag = times[:, None] - times[None, :]
    kernel = 1 / (1 + (lag / log_length.exp()[:, None, None]) ** 2)
    return kernel + JITTER * torch.eye(len(times), device=times.device)


def divergence(mean, inverse, log_diagonal, kernel):
    """KL of N(mean, B⁻¹B⁻ᵀ) from N(0, kernel) for every window and source (batch, K).

    `inverse` is B⁻¹ (batch, K, W, W), `log_diagonal` the logarithm of B's diagonal.
    """
    lower = torch.linalg.cholesky(kernel)
    spread = solve_triangular(lower, inverse, upper=False).square().sum((2, 3))
    shift = solve_triangular(lower, mean[..., None], upper=False).square().sum((2, 3))
    log_det = 2 * lower.diagonal(dim1=1, dim2=2).log().sum(1)
    return 0.5 * (spread + shift - mean.shape[2] + log_det) + log_diagonal.sum(2)


def run(given: Given) -> Found:
    device = start(given.seed, given.device)
    x = torch.as_tensor(whitened(given.channels), device=device)
    k, m, width = given.n_sources, x.shape[1], min(WINDOW, given.shortest())
    begins = torch.as_tensor(given.pairs(width - 1) - (width - 1), device=device)
    times = torch.arange(width, device=device, dtype=torch.float32)
    encoder = perceptron([m, HIDDEN, HIDDEN, 3 * k]).to(device)
    decoder = perceptron([k, HIDDEN, HIDDEN, m]).to(device)
    # Different lengths to begin with: equal ones would leave the sources free to rotate.
    log_length = Parameter(torch.linspace(0.0, 2.5, k, device=device))
    identity = torch.eye(width, device=device)

    def loss():
        begin = begins[torch.randint(len(begins), (BATCH,), device=device)]
        window = x[begin[:, None] + torch.arange(width, device=device)]  # (batch, W, m)
        mean, log_diagonal, beside = encoder(window).transpose(1, 2).chunk(3, 1)  # (batch, K, W)
        log_diagonal = log_diagonal.clamp(-6, 6)
        factor = torch.diag_embed(log_diagonal.exp())
        factor = factor + torch.diag_embed(beside[..., :-1], offset=1)
        inverse = solve_triangular(factor, identity.expand_as(factor), upper=True)
        z = mean + (inverse @ torch.randn_like(mean)[..., None])[..., 0]
        misfit = ((decoder(z.transpose(1, 2)) - window) ** 2).sum((1, 2)) / (2 * NOISE)
        excess = divergence(mean, inverse, log_diagonal, cauchy(log_length, times))
        return (misfit + excess.sum(1)).mean() / width

    train([*encoder.parameters(), *decoder.parameters(), log_length], loss, given.steps(STEPS))
    with torch.no_grad():
        return Found(numbers(encoder(x).chunk(3, 1)[0]))


METHOD = Method(
    name="gpvae",
    paper="Fortuin et al., AISTATS 2020",
    run=run,
    settings=f"windows of {WINDOW}, adam 1e-3, {STEPS} steps of {BATCH}",
)
