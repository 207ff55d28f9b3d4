"""Does another seed find the same components in an EEG, and how independent are they?

    pip install -r benchmarks/requirements-eeg.txt      # and the package strtransformer
    python benchmarks/eeg_repeatability.py run --data DIR --results eeg.jsonl
    python benchmarks/eeg_repeatability.py table --results eeg.jsonl

The recording is the EEGLAB sample (32 channels, 30 504 samples at 128 Hz), above 1 Hz; every method
looks for as many components as channels. Two figures:

- repeatability: components of two seeds are matched one to one, and their absolute correlations
  averaged over components and pairs of seeds; also the lowest of all, and the share above 0.95.
- mutual-information reduction (Delorme et al., PLoS ONE 2012): ln|det W| + Σ h(x) - Σ h(W·x), with
  entropies from the spacings of sorted samples (Vasicek 1976). It does not depend on scales.

W is the least-squares map from channels to components, which is exact for a linear method; what it
leaves unexplained is in the row. Rows are kept as soon as they are there, with their W.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from itertools import combinations
from pathlib import Path
from statistics import mean, stdev

# One thread: processor seconds of different methods can be compared. Set before NumPy is loaded.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
from scipy import io, signal, stats
from scipy.optimize import linear_sum_assignment

HIGH_PASS, SAME = 1.0, 0.95


def read(folder: Path) -> tuple[np.ndarray, float]:
    """Channels (T, M) of the EEGLAB sample above 1 Hz, and the samples per second."""
    header = io.loadmat(folder / "eeglab_data.set", squeeze_me=True)["EEG"][()]
    rate, m = float(header["srate"]), int(header["nbchan"])
    path = folder / "eeglab_data.fdt"
    values = np.fromfile(path, dtype="<f4")
    if values.size != m * int(header["pnts"]):
        expected = f"{header['pnts']} samples of {m} channels"
        raise SystemExit(f"{path}: expected {expected}, found {values.size} numbers")
    filters = signal.butter(4, HIGH_PASS, "highpass", fs=rate, output="sos")
    return signal.sosfiltfilt(filters, values.reshape(-1, m).astype(float), axis=0), rate


def strt(preset: str):
    def run(x: np.ndarray, seed: int):
        from strtransformer import StrTransformer

        model = StrTransformer(x.shape[1], preset=preset, random_state=seed, n_jobs=1)
        return model.fit_transform(x), model.converged_

    return run


def infomax(x: np.ndarray, seed: int):
    """Extended Infomax of MNE on whitened channels."""
    from mne.preprocessing import infomax as mne_infomax

    values, vectors = np.linalg.eigh(np.cov(x, rowvar=False))
    z = (x - x.mean(axis=0)) @ vectors / np.sqrt(values)
    most = 500
    weights, steps = mne_infomax(
        z, extended=True, max_iter=most, return_n_iter=True, random_state=seed, verbose="error"
    )
    return z @ weights.T, steps < most


def peer(name: str):
    """A method of `peers.py`, with its settings there."""

    def run(x: np.ndarray, seed: int):
        import peers

        return peers.METHODS[name](x, x.shape[1], seed)

    return run


METHODS = {
    "strt fast": strt("fast"),
    "strt": strt("default"),
    "picard": peer("python-picard"),
    "infomax": infomax,
    "amica": peer("amica"),
}


def unmixing(x: np.ndarray, sources: np.ndarray) -> tuple[np.ndarray, float]:
    """W with sources ≈ W·x, and the share of the sources' variance that it leaves."""
    x, sources = x - x.mean(axis=0), sources - sources.mean(axis=0)
    found = np.linalg.lstsq(x, sources, rcond=None)[0]
    left = ((sources - x @ found) ** 2).sum() / (sources**2).sum()
    return found.T, float(left)


def bits_removed(x: np.ndarray, w: np.ndarray) -> float:
    """Mutual information in the channels that is not in W·x, in bits a sample."""

    def entropies(columns):
        return sum(stats.differential_entropy(c, method="vasicek") for c in columns.T)

    nats = np.linalg.slogdet(w)[1] + entropies(x) - entropies(x @ w.T)
    return float(nats / np.log(2))


def agreement(one: np.ndarray, two: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """|correlation| of matched components of two unmixings of channels with this covariance."""

    def unit(w):
        return w / np.sqrt(np.einsum("ij,jk,ik->i", w, covariance, w))[:, None]

    table = np.abs(unit(one) @ covariance @ unit(two).T)
    return table[linear_sum_assignment(-table)]


def solve(name: str, seed: int, x: np.ndarray, rate: float) -> dict:
    row = {"method": name, "seed": seed}
    began, busy = time.perf_counter(), time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sources, converged = METHODS[name](x, seed)
    except Exception as error:  # a gap of the table, not the end of the others
        return row | {"error": f"{type(error).__name__}: {error}"}
    row["seconds"] = round(time.perf_counter() - began, 2)
    row["cpu_seconds"] = round(time.process_time() - busy, 2)
    w, left = unmixing(x, sources)
    kilobits = bits_removed(x, w) * rate / 1000
    row |= {"converged": bool(converged), "left": left, "kilobits": round(kilobits, 4)}
    # With the covariance of the channels, correlations of components follow from W.
    return row | {"unmixing": w.tolist(), "covariance": np.cov(x, rowvar=False).tolist()}


def run(options) -> None:
    x, rate = read(options.data / "eeglab_eeg32")
    # Unit variances: channels in microvolts would make the smallest numbers very small.
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    there = {(row["method"], row["seed"]) for row in rows_of(options.results)}
    for name in options.methods.split(","):
        if name not in METHODS:
            raise SystemExit(f"--methods: expected some of {', '.join(METHODS)}, found `{name}`")
        for seed in range(1, options.seeds + 1):
            if (name, seed) in there:
                continue
            row = solve(name, seed, x, rate)
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            shown = row.get("error") or f"{row['kilobits']:.3f} kbit/s, {row['seconds']:.1f} s"
            print(f"{name} seed {seed}: {shown}", file=sys.stderr, flush=True)


def rows_of(path: Path) -> list[dict]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def spread(values: list[float], digits: int) -> str:
    more = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{mean(values):.{digits}f}{more}"


def table(rows: list[dict]) -> str:
    """Markdown, a line a method."""
    lines = [
        "| method | seeds | mean correlation | lowest | above 0.95 | reduction, kbit/s | converged "
        "| not linear | processor seconds |",
        "|---" * 9 + "|",
    ]
    for name in [name for name in METHODS if any(row["method"] == name for row in rows)]:
        of = [row for row in rows if row["method"] == name and "error" not in row]
        if not of:
            lines.append(f"| {name} | failed |" + " – |" * 7)
            continue
        found = [np.array(row["unmixing"]) for row in of]
        covariance = np.array(of[0]["covariance"])
        pairs = [agreement(a, b, covariance) for a, b in combinations(found, 2)]
        cells = ["–"] * 3
        if pairs:
            every = np.concatenate(pairs)
            means = spread([float(pair.mean()) for pair in pairs], 4)
            share = f"{100 * np.mean(every > SAME):.0f} %"
            cells = [means, f"{every.min():.3f}", share]
        cells += [
            spread([row["kilobits"] for row in of], 3),
            f"{sum(row['converged'] for row in of)} of {len(of)}",
            f"{max(row['left'] for row in of):.1e}",
            spread([row["cpu_seconds"] for row in of], 1),
        ]
        lines.append(f"| {name} | {len(of)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    top = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = top.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="run what is not in the file of results yet")
    runs.add_argument("--data", type=Path, required=True, help="folder with eeglab_eeg32")
    runs.add_argument("--seeds", type=int, default=5)
    runs.add_argument(
        "--methods", default=",".join(METHODS), help="methods, with commas [default: all]"
    )
    shows = commands.add_parser("table", help="print the rows as Markdown")
    for command in (runs, shows):
        command.add_argument("--results", type=Path, required=True, help="rows, one a line")
    options = top.parse_args()
    if options.command == "run":
        run(options)
        return
    rows = rows_of(options.results)
    if not rows:
        raise SystemExit(f"{options.results}: no rows; make some with `run --results`")
    print(table(rows))


if __name__ == "__main__":
    main()
