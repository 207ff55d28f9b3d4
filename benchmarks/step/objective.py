"""J without its branches: sources, controller, eliminated mixer, penalties.

Small tensors, few operations. The branches are handed in as a function from standardised sources
(K, T) and slopes (K,) to energies (K, R).
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .problem import Problem

Energies = Callable[[Tensor, Tensor], Tensor]

ENTROPY_EPSILON = 1e-6
SEPARATION_EPSILON = 1e-4


class Objective(nn.Module):
    """J of the default preset with an affine mixer: fiber coordinates, ln(l + kappa), -ln det C."""

    def __init__(self, problem: Problem, branches: nn.Module) -> None:
        super().__init__()
        c = problem.config
        expected = {
            ("sources", "coordinates"): "fiber",
            ("sources", "standardize"): True,
            ("mixer", "kind"): "affine",
            ("mixer", "elimination"): "least_squares",
            ("mixer", "decoder_standardization"): True,
            ("weights", "energy"): "log",
            ("weights", "separation_form"): "log_det",
            ("weights", "smoothness_order"): "second",
        }
        for (section, field), value in expected.items():
            if c[section][field] != value:
                raise ValueError(
                    f"{section}.{field} = {c[section][field]}: this program computes {value} only"
                )
        self.controller_settings, self.weights, self.config = c["controller"], c["weights"], c
        self.n_samples = problem.n_samples
        self.fiber = nn.Parameter(problem.fiber.clone())
        self.raw_gaps = nn.Parameter(problem.raw_gaps.clone())
        self.branches = branches
        self.whitened_t = problem.whitened.T.contiguous()  # (K, T)
        self.log_patch = torch.tensor([float(p) for p in c["branches"]["patch_sizes"]]).log()
        self.ridge = c["mixer"]["ridge"]
        # Standardised sources have mean 0, so the offset of the mixer decouples from its matrix.
        mean = problem.observations.mean(0)
        offset = mean / (1 + self.ridge)
        self.offset_penalty = self.ridge * float(offset.square().sum())
        self.observations_t = (problem.observations - offset).T.contiguous()  # (m, T)
        self.eye = torch.eye(problem.n_sources)

    def forward(self) -> tuple[Tensor, dict[str, Tensor]]:
        """J and its unweighted terms."""
        z, centers, pi, slopes = self.standardized(), *self.controller()
        w = self.weights
        floor, n_scales = self.controller_settings["weight_floor"], len(self.log_patch)
        phi = (self.branches(z, slopes) + w["kappa"]).log()
        correlation = z @ z.T / self.n_samples
        span = self.log_patch[-1] - self.log_patch[0]
        target = self.controller_settings["gap_target"] * span / (len(centers) + 1)
        terms = dict(
            reconstruction=self.reconstruction(z, correlation),
            structure=(((1 - floor) * pi + floor / n_scales) * phi).sum() / len(centers),
            separation=-torch.logdet(correlation + SEPARATION_EPSILON * self.eye),
            smoothness=z.diff(n=2, dim=1).square().mean(),
            entropy=-(pi * (pi + ENTROPY_EPSILON).log()).sum() / len(centers),
            gap=F.relu(target - centers.diff()).square().mean(),
        )
        total = terms["reconstruction"]
        for name in ("structure", "separation", "smoothness", "entropy", "gap"):
            total = total + w[name] * terms[name]
        return total, terms

    def standardized(self) -> Tensor:
        """Z (K, T): sources of mean 0 and deviation 1."""
        v = self.fiber.T @ self.whitened_t
        v = v - v.mean(1, keepdim=True)
        return v / (v.square().mean(1, keepdim=True).sqrt() + self.config["sources"]["epsilon"])

    def controller(self) -> tuple[Tensor, Tensor, Tensor]:
        """Ordered centers (K,), scale weights pi (K, R), locality slopes alpha (K,)."""
        c, a = self.controller_settings, self.log_patch
        delta = F.softplus(self.raw_gaps) + c["gap_floor"]
        u = delta.cumsum(0)[:-1] / delta.sum()
        centers = a[0] + (a[-1] - a[0]) * u
        pi = torch.softmax(-c["sharpness"] * (a - centers[:, None]).square(), -1)
        slopes = c["slope_max"] * (c["slope_min"] / c["slope_max"]) ** u
        return centers, pi, slopes

    def reconstruction(self, z: Tensor, correlation: Tensor) -> Tensor:
        """Residual at the mixer that least squares finds.

        By the envelope theorem the mixer needs no gradient itself.
        """
        with torch.no_grad():
            moment = z @ self.observations_t.T / self.n_samples
            mixing = torch.linalg.solve(correlation + self.ridge * self.eye, moment)  # (K, m)
            penalty = self.n_samples * (self.ridge * mixing.square().sum() + self.offset_penalty)
        residual = torch.addmm(self.observations_t, mixing.T, z, alpha=-1).flatten()
        return (residual.dot(residual) + penalty) / (2 * self.weights["observation_variance"])
