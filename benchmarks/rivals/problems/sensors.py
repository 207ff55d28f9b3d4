"""Recordings whose truth is known, seen by sensors that bend them.

Sources are stretches of real recordings (heart, pulse wave and breath of one person; three voices),
mixed by a random matrix into two channels more; then every channel goes through one of these:

- `amplifier`: tanh(1.5·u). A differential pair of transistors saturates: the difference of its two
  currents is the tanh of the difference of its base voltages.
- `logarithmic`: ln(1 + 3·(u - min u)). The voltage over a diode is the logarithm of its current,
  which is what a logarithmic amplifier puts out.
- `photodiode`: exp(-0.7·u). A photodiode's current is proportional to the light that is left, and
  by Beer and Lambert light falls exponentially with what absorbs it.
- `mu-law`: sign(u)·ln(1 + 255·|u|/max|u|)/ln 256, the companding of telephony (ITU-T G.711).

Recordings come from a folder that is not part of this repository; nothing of it is kept.
"""

from pathlib import Path

import numpy as np
from scipy.io import wavfile

from ..interface import Problem, Recording

SAMPLES = {"small": 3_000, "published": 10_000}
SENSORS = {
    "amplifier": lambda u: np.tanh(1.5 * u),
    "logarithmic": lambda u: np.log1p(3 * (u - u.min(axis=0))),
    "photodiode": lambda u: np.exp(-0.7 * u),
    "mu-law": lambda u: np.sign(u) * np.log1p(255 * abs(u) / abs(u).max(axis=0)) / np.log(256),
}
BIOSIGNALS = "neurokit_bio/bio_resting_5min_100hz.csv"
VOICES = [
    "cmu_arctic_speech/cmu_arctic_us_aew_a0001.wav",
    "cmu_arctic_speech/cmu_arctic_us_aew_a0002.wav",
    "cmu_arctic_speech/cmu_arctic_us_axb_a0004.wav",
]


def stretch(columns: np.ndarray, first: int, n: int, path: Path) -> np.ndarray:
    if len(columns) < first + n:
        raise ValueError(f"{path}: expected {first + n} samples, found {len(columns)}")
    part = columns[first : first + n].astype(float)
    return (part - part.mean(axis=0)) / part.std(axis=0)


def biosignals(data: Path, n: int) -> np.ndarray:
    path = data / BIOSIGNALS
    return stretch(np.genfromtxt(path, delimiter=",", skip_header=1), 5_000, n, path)


def voices(data: Path, n: int) -> np.ndarray:
    paths = [data / name for name in VOICES]
    return np.column_stack([stretch(wavfile.read(p)[1], 12_000, n, p) for p in paths])


def generate(seed: int, data: str, sources, sensor: str, n: int) -> Recording:
    s = sources(Path(data), n)
    k = s.shape[1]
    matrix = np.random.default_rng(seed).normal(size=(k, k + 2))
    u = s @ (matrix / np.linalg.norm(matrix, axis=0))
    return Recording(SENSORS[sensor](u), s)


def problems(size: str, data: str | None) -> list[Problem]:
    if data is None:
        return []
    return [
        Problem(
            family="sensors",
            name=f"{name} {sensor}",
            make=lambda seed, s=sources, c=sensor: generate(seed, data, s, c, SAMPLES[size]),
        )
        for name, sources in (("biosignals", biosignals), ("voices", voices))
        for sensor in SENSORS
    ]
