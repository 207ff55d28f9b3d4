"""Formulas of the methods against slow, obvious versions of them."""

import itertools

import pytest
import torch
from torch.distributions import MultivariateNormal, kl_divergence

from rivals.methods import gpvae, hmnlica, pcl, slowvae
from rivals.networks import whitened


def test_expected_distance_is_that_of_draws():
    torch.manual_seed(0)
    mean, scale, center = torch.tensor(0.3), torch.tensor(0.7), torch.tensor(-0.2)
    drawn = (mean + scale * torch.randn(400_000) - center).abs().mean()
    found = slowvae.expected_distance(mean, scale, center)
    assert found.item() == pytest.approx(drawn.item(), abs=0.01)


def test_divergence_from_a_gaussian_process_is_that_of_two_gaussians():
    torch.manual_seed(0)
    batch, k, width = 2, 3, 5
    mean, log_diagonal = torch.randn(batch, k, width), 0.3 * torch.randn(batch, k, width)
    factor = torch.diag_embed(log_diagonal.exp())
    factor = factor + torch.diag_embed(torch.randn(batch, k, width - 1), offset=1)
    kernel = gpvae.cauchy(torch.tensor([0.0, 1.0, 2.0]), torch.arange(float(width)))
    found = gpvae.divergence(mean, torch.linalg.inv(factor), log_diagonal, kernel)
    posterior = MultivariateNormal(mean, precision_matrix=factor.mT @ factor)
    prior = MultivariateNormal(torch.zeros(k, width), kernel)
    torch.testing.assert_close(found, kl_divergence(posterior, prior), rtol=1e-3, atol=1e-3)


def test_the_likelihood_of_a_chain_is_the_sum_over_all_its_paths():
    torch.manual_seed(0)
    states, length = 3, 4
    emissions = torch.randn(1, length, states)
    start = torch.randn(states).log_softmax(0)
    moves = torch.randn(states, states).log_softmax(1)
    paths = []
    for path in itertools.product(range(states), repeat=length):
        value = start[path[0]] + emissions[0, 0, path[0]]
        for t in range(1, length):
            value = value + moves[path[t - 1], path[t]] + emissions[0, t, path[t]]
        paths.append(value)
    found = hmnlica.log_likelihood(emissions, start, moves)
    assert found.item() == pytest.approx(torch.logsumexp(torch.stack(paths), 0).item(), abs=1e-5)


def test_the_log_volume_of_an_unmixing_is_that_of_its_jacobian():
    torch.manual_seed(0)
    unmixing, x = hmnlica.Unmixing(3, 3), torch.randn(3)
    jacobian = torch.autograd.functional.jacobian(lambda v: unmixing(v)[0], x)
    expected = torch.linalg.slogdet(jacobian)[1].item()
    assert unmixing(x)[1].item() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("form", [pcl.Laplace, pcl.Free])
def test_the_regression_of_pcl_is_a_sum_over_sources(form):
    """What it adds to one source must not depend on the others: theorem 1 rests on that."""
    torch.manual_seed(0)
    regression, k = form(3), 3
    u, v, other = torch.randn(3, 1, k).unbind()
    changed = u.clone()
    changed[0, 0] += 1.0
    gain = regression(changed, v) - regression(u, v)
    moved = torch.cat([u[:, :1], other[:, 1:]], 1)
    moved_changed = torch.cat([changed[:, :1], other[:, 1:]], 1)
    torch.testing.assert_close(gain, regression(moved_changed, v) - regression(moved, v))


def test_whitened_channels_have_unit_variance_and_leave_noise_small():
    torch.manual_seed(0)
    signal = torch.randn(2000, 2).double().numpy()
    noisy = (signal @ [[1.0, 2.0, 0.5], [0.3, -1.0, 1.0]]) + 1e-4 * torch.randn(2000, 3).numpy()
    found = whitened(noisy)
    assert found[:, :2].std(axis=0) == pytest.approx(1, abs=0.01)
    assert found[:, 2].std() < 0.05
    assert whitened(noisy, 2).shape == (2000, 2)
