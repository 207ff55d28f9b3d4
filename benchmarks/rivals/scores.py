"""Scores of estimated sources: MCC as its literature defines it, and affine R².

MCC is the mean absolute Pearson correlation of sources that are matched one to one so that the sum
is largest (the Hungarian method), on the samples that were trained on, as in TCL, PCL and iVAE.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata


def mcc(found: np.ndarray, true: np.ndarray) -> float:
    """Mean absolute correlation of matched columns; a constant column correlates with nothing."""
    k = true.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        table = np.corrcoef(found, true, rowvar=False)[: found.shape[1], found.shape[1] :]
    table = np.abs(np.nan_to_num(table))
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / k)


def affine_r2(found: np.ndarray, true: np.ndarray) -> float:
    """Share of the variance of all sources that an affine map of the estimates explains."""
    design = np.column_stack([found, np.ones(len(found))])
    rest = true - design @ np.linalg.lstsq(design, true, rcond=None)[0]
    return float(1 - rest.var(axis=0).sum() / true.var(axis=0).sum())


def all_scores(found, true: np.ndarray) -> dict[str, float]:
    """Every score of a `Found`. Non-finite estimates are an error of the method, not a score."""
    sources = np.asarray(found.sources, dtype=float)
    if sources.shape[0] != true.shape[0]:
        raise ValueError(f"expected sources at {len(true)} samples, found {len(sources)}")
    if not np.isfinite(sources).all():
        raise ValueError("the estimated sources are not finite: training diverged")
    absolutes = np.abs(sources) if found.absolutes is None else found.absolutes
    return {
        "mcc": mcc(sources, true),
        "mcc_ranks": mcc(rankdata(sources, axis=0), rankdata(true, axis=0)),
        "mcc_absolute": mcc(absolutes, np.abs(true)),
        "r2": affine_r2(sources, true),
    }


SCORES = ("mcc", "mcc_ranks", "mcc_absolute", "r2")
