"""How a search in Python ended, and what follows from it for channels that were whitened by the
library or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _core
from .._warn import warn
from ._base import Found, is_complete

if TYPE_CHECKING:
    from .._typing import Floats

_REASONS = {
    "tolerance": "tolerance reached",
    "iteration_limit": "iteration limit reached",
    "line_search": "no step lowers the objective",
}


class Searched(NamedTuple):
    """An unmixing (K, K), one row a source, and how it was come by."""

    unmixing: Floats
    n_iter: int
    value: float
    tolerance: float
    reason: str

    @property
    def converged(self) -> bool:
        """Whether the criterion fell below its tolerance."""
        return self.reason == "tolerance"

    def __str__(self) -> str:
        said = "converged" if self.converged else "not converged"
        return (
            f"{said}: {_REASONS[self.reason]} after {self.n_iter} iterations, {self.value:.1e}"
            f" against {self.tolerance:.1e}"
        )


#: A search: complete samples of whitened components (n, K) in, an unmixing out.
Search = Callable[["Floats"], Searched]


def whitened(search: Search, method: str, rows: Floats, number: int) -> Found:
    """By a search over the components that the library whitens, in its order and scale."""
    return Found.of(_core.decompose_by(search, method, _core.Recording(rows), number))


def unwhitened(search: Search, rows: Floats) -> Found:
    """By a search over the channels as they are: not centred, whitened, ordered or scaled."""
    rows = np.asarray(rows, dtype=np.float64)
    whole = is_complete(rows)
    used = rows[whole]
    if len(used) == 0:
        raise ValueError("X: expected samples that have every channel, found none")
    searched = search(used)
    unmixing = searched.unmixing
    return Found(
        sources=np.where(whole[:, None], rows @ unmixing.T, np.nan),
        components=unmixing,
        mixing=np.linalg.pinv(unmixing),
        mean=np.zeros(rows.shape[1]),
        whitening=None,
        unmixing=unmixing,
        n_iter=searched.n_iter,
        converged=searched.converged,
        stop_reason=searched.reason,
        convergence=str(searched),
    )


def ignore_number(n_components: Any) -> None:
    """Says that a number of sources means nothing for channels that are not whitened."""
    if n_components is not None:
        warn("Ignoring n_components with whiten=False.")


def checked_whiten(whiten: Any) -> str | None:
    """How sources are scaled, or None where nothing is whitened."""
    if whiten is False or isinstance(whiten, np.bool_) and not whiten:
        return None
    if whiten is True or isinstance(whiten, np.bool_):
        return "unit-variance"
    if whiten not in ("unit-variance", "arbitrary-variance"):
        raise ValueError(
            f"whiten = {whiten!r}: expected 'unit-variance', 'arbitrary-variance', True or False"
        )
    return str(whiten)
