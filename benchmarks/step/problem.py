"""The tensors of one step, read from a safetensors file that the program wrote."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

_TYPES = {"F32": np.float32, "F64": np.float64, "I64": np.int64}


def read_safetensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors (floating point ones in float32) and metadata.

    The format is a length, a JSON header and raw data.
    """
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        array = np.frombuffer(data[begin:end], _TYPES[entry["dtype"]]).reshape(entry["shape"])
        array = array if array.dtype == np.int64 else array.astype(np.float32)
        tensors[name] = torch.from_numpy(array.copy())
    return tensors, metadata


@dataclass
class Scale:
    """One patch scale and what was drawn for it."""

    patch: int
    n_patches: int
    windows: Tensor  # (K, N, P) index of every patch's samples in the flattened sources (K, T)
    masked: Tensor  # (K, M) ascending masked patches
    hidden: Tensor  # (K, N, 1) whether a patch is masked
    positions: Tensor  # (K, N, d) positional encoding, shifted as drawn
    networks: list[dict[str, Tensor]]  # per source, the named tensors of its branch


@dataclass
class Problem:
    """Everything that one step reads."""

    config: dict[str, Any]  # the program's configuration with every automatic value filled in
    observations: Tensor  # Y (T, m), prepared
    whitened: Tensor  # Zw (T, K)
    fiber: Tensor  # A (K, K)
    raw_gaps: Tensor  # (K + 1,)
    scales: list[Scale]

    @property
    def n_sources(self) -> int:
        return self.fiber.shape[1]

    @property
    def n_samples(self) -> int:
        return self.whitened.shape[0]

    @staticmethod
    def read(path: Path) -> "Problem":
        tensors, metadata = read_safetensors(path)
        config = json.loads(metadata["config"])
        shapes = json.loads(metadata["scales"])
        scales = [_scale(r, shape, tensors, config) for r, shape in enumerate(shapes)]
        named = {name: tensors[name] for name in ("observations", "whitened", "fiber", "raw_gaps")}
        return Problem(config=config, scales=scales, **named)


def _scale(
    r: int, shape: dict[str, int], tensors: dict[str, Tensor], config: dict[str, Any]
) -> Scale:
    n_samples, n_sources = tensors["whitened"].shape
    patch, stride, n = shape["patch"], shape["stride"], shape["n_patches"]
    starts, shifts = tensors["starts"][:, r], tensors["shifts"][:, r]
    first = torch.arange(n_sources) * n_samples + starts  # in the flattened sources
    windows = first[:, None, None] + stride * torch.arange(n)[:, None] + torch.arange(patch)
    masked = torch.stack([tensors[f"masked.{k}.{r}"] for k in range(n_sources)])
    hidden = torch.zeros(n_sources, n, dtype=torch.bool).scatter(1, masked, True)
    d = config["branches"]["d_model"]
    table = positions(n + int(shifts.max()), d)
    prefixes = [f"branches.{k}.{r}." for k in range(n_sources)]
    return Scale(
        patch=patch,
        n_patches=n,
        windows=windows,
        masked=masked,
        hidden=hidden[..., None],
        positions=torch.stack([table[s : s + n] for s in shifts.tolist()]),
        networks=[
            {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}
            for prefix in prefixes
        ],
    )


def positions(n: int, d: int) -> Tensor:
    """Sinusoidal encoding (n, d): sin and cos of i * 10000^(-2c/d), interleaved."""
    omega = 10000.0 ** (-2 * torch.arange(d // 2, dtype=torch.float64) / d)
    angle = torch.arange(n, dtype=torch.float64)[:, None] * omega
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1).float()
