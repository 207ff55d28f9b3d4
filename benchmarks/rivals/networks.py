"""What the methods share: whitened channels, multi-layer perceptrons, and one training loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor, nn


def whitened(channels: np.ndarray, n: int | None = None, floor: float = 1e-3) -> np.ndarray:
    """Principal components, the first `n`, each scaled to variance 1.

    Components below `floor` of the largest variance stay small: whitening them fully would turn the
    noise of channels that carry nothing new into inputs as large as the signal.
    """
    centered = channels - channels.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(centered, rowvar=False))
    order = np.argsort(values)[::-1][:n]
    scale = np.sqrt(np.maximum(values[order], floor * values.max()))
    return (centered @ vectors[:, order] / scale).astype(np.float32)


class Maxout(nn.Module):
    """The largest of every two neighbours, as in TCL and PCL."""

    def forward(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, 2)).amax(-1)


def perceptron(sizes: list[int], activation: str = "leaky") -> nn.Sequential:
    """Linear layers of these sizes with an activation between them (`leaky` or `maxout`)."""
    layers: list[nn.Module] = []
    for i, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:])):
        is_last = i == len(sizes) - 2
        double = activation == "maxout" and not is_last
        layer = nn.Linear(inputs, 2 * outputs if double else outputs)
        nn.init.xavier_uniform_(layer.weight)
        nn.init.zeros_(layer.bias)
        layers.append(layer)
        if not is_last:
            layers.append(Maxout() if double else nn.LeakyReLU(0.1))
    return nn.Sequential(*layers)


def start(seed: int, device: str) -> torch.device:
    """Seeds the generators and names the device."""
    torch.manual_seed(seed)
    if device == "cpu":
        torch.set_num_threads(1)
    return torch.device(device)


def train(
    parameters: Iterable[nn.Parameter],
    loss: Callable[[], Tensor],
    steps: int,
    rate: float = 1e-3,
    decay: float = 0.0,
) -> None:
    """Adam; the rate is constant for the first half and then falls to zero along a cosine."""
    optimizer = torch.optim.Adam(list(parameters), lr=rate, weight_decay=decay)
    half = max(1, steps // 2)

    def factor(step: int) -> float:
        return 1.0 if step < half else 0.5 * (1 + np.cos(np.pi * (step - half) / (steps - half)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        value = loss()
        value.backward()
        optimizer.step()
        schedule.step()
    if not torch.isfinite(value):
        raise FloatingPointError(f"training diverged: the loss is {value.item()}")


def numbers(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy().astype(float)
