"""Methods that go by distributions, beside FastICA and Picard: JADE, EFICA, and MULTICOMBI, which
goes by order in time as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _checks
from ._base import Baseline, documented
from ._second_order import order_for
from ._start import checked_start

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import RandomState


@documented
class JADE(Baseline):
    """Joint diagonalisation of fourth-order cumulants.

    Parameters
    ----------
    max_iter : int, default=200
        Sweeps at most.
    tol : float, default=1e-8
        What the sine of every rotation of a sweep must fall below.
    """

    _method = "jade"

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        max_iter: int = 200,
        tol: float = 1e-8,
    ) -> None:
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol

    def _options(self, n_complete: int, n_components: int) -> dict[str, Any]:
        return {
            "max_iter": _checks.whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol),
        }


@documented
class EFICA(Baseline):
    """FastICA with a nonlinearity that suits each source, and a test of saddle points.

    Parameters
    ----------
    saddle_test : bool, default=True
        Whether saddle points are looked for.
    max_iter : int, default=200
        Iterations at most, of each search.
    tol : float, default=1e-6
        What the change of every source must fall below.
    w_init : array-like of shape (n_components, n_components), default=None
        First unmixing of the whitened components, one row a source, in place of a random one.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first unmixing.
    """

    _method = "efica"

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        saddle_test: bool = True,
        max_iter: int = 200,
        tol: float = 1e-6,
        w_init: ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.saddle_test = saddle_test
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.random_state = random_state

    def _options(self, n_complete: int, n_components: int) -> dict[str, Any]:
        start = checked_start(self.w_init, n_components)
        return {
            "saddle_test": bool(self.saddle_test),
            "max_iter": _checks.whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol),
            "w_init": None if start is None else start.T,
            "seed": _checks.seed(self.random_state),
        }


@documented
class MultiCombi(Baseline):
    """EFICA and WASOBI, each for the sources that it separates better (MULTICOMBI).

    Options that are not here are the defaults of :class:`EFICA` and :class:`WASOBI`.

    Parameters
    ----------
    order : int, default=None
        Order of WASOBI's autoregressive models, and its longest lag. ``None`` takes 20, in a short
        recording less, so that more pairs of samples are left than there are sources.
    threshold : float, default=0.05
        A group of sources whose best part has more interference than this is left as it is.
    max_iter : int, default=200
        Iterations at most, of each search of EFICA.
    tol : float, default=1e-6
        What the change of every source must fall below in EFICA.
    random_state : int, RandomState, Generator or None, default=None
        Seed of EFICA's first unmixing.
    """

    _method = "multicombi"

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        order: int | None = None,
        threshold: float = 0.05,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.order = order
        self.threshold = threshold
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _options(self, n_complete: int, n_components: int) -> dict[str, Any]:
        return {
            "threshold": _checks.number("threshold", self.threshold),
            "efica": {
                "max_iter": _checks.whole("max_iter", self.max_iter, 1),
                "tol": _checks.number("tol", self.tol),
                "seed": _checks.seed(self.random_state),
            },
            "wasobi": {"order": order_for(self.order, n_complete, n_components)},
        }
