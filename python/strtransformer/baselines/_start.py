"""Where a search begins: a given unmixing, checked, or a random rotation; and the nearest rotation
to a matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import Floats


def checked_start(w_init: ArrayLike | None, n_components: int) -> Floats | None:
    """`w_init` (K, K), one row a source, where it is given."""
    if w_init is None:
        return None
    start = np.asarray(w_init, dtype=np.float64)
    if start.shape != (n_components, n_components):
        raise ValueError(
            f"w_init has invalid shape {start.shape}: should be {(n_components, n_components)}, one"
            " row a source over the whitened components"
        )
    return start


def start(w_init: ArrayLike | None, n_components: int, seed: int) -> Floats:
    """`w_init` as it is, or a random rotation from the seed."""
    given = checked_start(w_init, n_components)
    if given is not None:
        return given
    return rotation(np.random.default_rng(seed).standard_normal((n_components, n_components)))


def rotation(matrix: Floats) -> Floats:
    """The orthogonal matrix nearest to a square one: both factors of its singular vectors."""
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right)
