"""Classical blind source separation, as scikit-learn estimators: to compare with, and to start
from.

All whiten first as :class:`strtransformer.StrTransformer` does: channels centred and scaled, then
the first principal components; missing samples (NaN) are left out. Sources come out with variance
1, ordered by correlation time, short first. A run of ``StrTransformer`` starts from one of them
with ``config={"sources.init": "sobi"}`` (or ``fastica``, ``picard``, ``jade``, ``amuse``, ``nss``,
``wasobi``, ``efica``, ``multicombi``, or ``fast``, which is its default).

Ctrl-C does not interrupt these methods while they run: ``KeyboardInterrupt`` is raised when the fit
has returned.
"""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _checks, _core
from ._checks import whole as _whole
from ._estimator import _DTYPES, _drawn

__all__ = [
    "AMUSE",
    "EFICA",
    "Fast",
    "FastICA",
    "JADE",
    "MultiCombi",
    "NSS",
    "Picard",
    "SOBI",
    "WASOBI",
]


class _Baseline(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What all methods share: a linear unmixing of channels, found by ``_method`` with
    ``_options()``.
    """

    _method = None

    def _options(self):
        raise NotImplementedError

    def fit(self, X, y=None):
        """Find the unmixing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            The recording. NaN where values are missing.
        y : None
            Ignored.

        Returns
        -------
        self : estimator
        """
        self._decompose(X)
        return self

    def fit_transform(self, X, y=None):
        """Find the unmixing and give the sources.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            The recording. NaN where values are missing.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Sources of variance 1, NaN in missing samples.
        """
        found, dtype = self._decompose(X)
        return found.sources.astype(dtype, copy=False)

    def _decompose(self, X):
        with _checks.unchanged_by_failure(self):
            X = self._rows(X, reset=True)
            n_components = (
                X.shape[1]
                if self.n_components is None
                else _whole("n_components", self.n_components, 1)
            )
            found = _core.decompose(self._method, _core.Recording(X), n_components, self._options())
        self.components_ = found.components.astype(X.dtype, copy=False)
        self.mixing_ = found.mixing.astype(X.dtype, copy=False)
        self.mean_ = found.mean.astype(X.dtype, copy=False)
        self.n_iter_ = found.n_iter
        self.converged_ = found.converged
        self.stop_reason_ = found.stop_reason
        self.convergence_ = found.convergence
        if not found.converged:
            warnings.warn(
                f"{type(self).__name__}: {found.convergence}; raise max_iter or tol, or take fewer"
                " components",
                ConvergenceWarning,
                stacklevel=3,
            )
        return found, X.dtype

    def transform(self, X):
        """Sources of a recording: ``(X - mean_) @ components_.T``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            A recording with the channels of the training data.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Sources, NaN in missing samples.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        return _core.unmix_rows(X, self.mean_, self.components_).astype(X.dtype, copy=False)

    def inverse_transform(self, X):
        """Channels that sources give: ``X @ mixing_.T + mean_``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Sources. A column of zeros leaves that source out.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Channels in the units of the training data.
        """
        check_is_fitted(self)
        X = check_array(
            X, dtype=_DTYPES, ensure_all_finite="allow-nan", estimator=self, input_name="X"
        )
        return _core.mix_rows(X, self.mixing_, self.mean_).astype(X.dtype, copy=False)

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _rows(self, X, reset):
        if isinstance(X, _core.Recording):
            X = X.data
        X = _checks.table(X)
        return validate_data(
            self,
            X,
            reset=reset,
            dtype=_DTYPES,
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
        )


_ATTRIBUTES = """
    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unmixing, in the units of ``X``: sources = ``(X - mean_) @ components_.T``.
    mixing_ : ndarray of shape (n_features, n_components)
        Mixing, in the units of ``X``.
    mean_ : ndarray of shape (n_features,)
        Means of the channels over the complete samples.
    n_iter_ : int
        Iterations or sweeps.
    converged_ : bool
        Whether the criterion fell below its tolerance.
    stop_reason_ : {"direct", "tolerance", "iteration_limit", "line_search"}
        Why the search ended.
    convergence_ : str
        The convergence report in words.
    n_features_in_ : int
        Number of channels.
"""


def _documented(cls):
    cls.__doc__ = cls.__doc__.rstrip() + "\n" + _ATTRIBUTES
    return cls


def _seed(random_state):
    return (
        _whole("random_state", random_state, 0)
        if _checks.is_whole(random_state)
        else _drawn(random_state)
    )


def _start(w_init):
    return None if w_init is None else np.asarray(w_init, dtype=np.float64)


@_documented
class FastICA(_Baseline):
    """Fixed-point iteration on a contrast of non-Gaussianity.

    Parameters
    ----------
    n_components : int, default=None
        Number of sources. ``None`` takes as many as there are channels.
    algorithm : {"parallel", "deflation"}, default="parallel"
        All sources at once, or one after the other.
    fun : {"logcosh", "exp", "cube"}, default="logcosh"
        The contrast.
    max_iter : int, default=200
        Iterations at most; with deflation, for each source.
    tol : float, default=1e-6
        What the change of the unmixing must fall below.
    w_init : array-like of shape (n_components, n_components), default=None
        First rotation of the whitened components, one column a source, in place of a random one.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first rotation.
    """

    _method = "fastica"

    def __init__(
        self,
        n_components=None,
        *,
        algorithm="parallel",
        fun="logcosh",
        max_iter=200,
        tol=1e-6,
        w_init=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.algorithm = algorithm
        self.fun = fun
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.random_state = random_state

    def _options(self):
        return {
            "algorithm": self.algorithm,
            "fun": self.fun,
            "max_iter": _whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol),
            "w_init": _start(self.w_init),
            "seed": _seed(self.random_state),
        }


@_documented
class Picard(_Baseline):
    """Preconditioned L-BFGS on the likelihood; sub- and super-Gaussian sources.

    With ``ortho=False`` it maximises the likelihood of extended Infomax by another algorithm.

    Parameters
    ----------
    n_components : int, default=None
        Number of sources. ``None`` takes as many as there are channels.
    ortho : bool, default=True
        Keep the sources exactly uncorrelated (Picard-O).
    extended : bool, default=True
        Judge of each source whether it is super- or sub-Gaussian; otherwise all are taken for
        super-Gaussian.
    max_iter : int, default=500
        Iterations at most.
    tol : float, default=1e-7
        What the largest entry of the gradient must fall below.
    m : int, default=7
        Steps that L-BFGS remembers.
    lambda_min : float, default=0.01
        Eigenvalues of the approximate Hessian are raised to this.
    w_init : array-like of shape (n_components, n_components), default=None
        First rotation of the whitened components, one column a source, in place of a random one.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first rotation.
    """

    _method = "picard"

    def __init__(
        self,
        n_components=None,
        *,
        ortho=True,
        extended=True,
        max_iter=500,
        tol=1e-7,
        m=7,
        lambda_min=0.01,
        w_init=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.ortho = ortho
        self.extended = extended
        self.max_iter = max_iter
        self.tol = tol
        self.m = m
        self.lambda_min = lambda_min
        self.w_init = w_init
        self.random_state = random_state

    def _options(self):
        return {
            "ortho": bool(self.ortho),
            "extended": bool(self.extended),
            "max_iter": _whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol),
            "m": _whole("m", self.m, 1),
            "lambda_min": _checks.number("lambda_min", self.lambda_min),
            "w_init": _start(self.w_init),
            "seed": _seed(self.random_state),
        }


@_documented
class JADE(_Baseline):
    """Joint diagonalisation of fourth-order cumulants.

    Parameters
    ----------
    n_components : int, default=None
        Number of sources. ``None`` takes as many as there are channels.
    max_iter : int, default=200
        Sweeps at most.
    tol : float, default=1e-8
        What the sine of every rotation of a sweep must fall below.
    """

    _method = "jade"

    def __init__(self, n_components=None, *, max_iter=200, tol=1e-8):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol

    def _options(self):
        return {
            "max_iter": _whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol),
        }


@_documented
class AMUSE(_Baseline):
    """The covariance at one lag, diagonalised directly.

    Parameters
    ----------
    n_components : int, default=None
        Number of sources. ``None`` takes as many as there are channels.
    lag : int, default=1
        The lag, in samples.
    """

    _method = "amuse"

    def __init__(self, n_components=None, *, lag=1):
        self.n_components = n_components
        self.lag = lag

    def _options(self):
        return {"lag": _whole("lag", self.lag, 1)}


@_documented
class SOBI(_Baseline):
    """Joint diagonalisation of the covariances at many lags.

    Parameters
    ----------
    n_components : int, default=None
        Number of sources. ``None`` takes as many as there are channels.
    lags : sequence of int, default=None
        The lags, in samples. ``None`` takes 1 to 29.
    max_iter : int, default=200
        Sweeps at most.
    tol : float, default=1e-8
        What the sine of every rotation of a sweep must fall below.
    """

    _method = "sobi"

    def __init__(self, n_components=None, *, lags=None, max_iter=200, tol=1e-8):
        self.n_components = n_components
        self.lags = lags
        self.max_iter = max_iter
        self.tol = tol

    def _options(self):
        lags = None if self.lags is None else [_whole("lags", lag, 1) for lag in self.lags]
        return {
            "lags": lags,
            "max_iter": _whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol),
        }


@_documented
class NSS(_Baseline):
    """Joint diagonalisation of the covariances of successive blocks, for variances that change with
    time.

    Parameters
    ----------
    n_components : int, default=None
        Number of sources. ``None`` takes as many as there are channels.
    n_blocks : int, default=None
        Number of blocks, at least 2. ``None`` takes blocks of max(50, 10·K) samples, at most 100 of
        them.
    diagonalizer : {"pham", "orthogonal"}, default="pham"
        Pham's likelihood criterion, or rotations only.
    max_iter : int, default=200
        Sweeps at most.
    tol : float, default=1e-8
        What every change of a sweep must fall below.
    """

    _method = "nss"

    def __init__(
        self, n_components=None, *, n_blocks=None, diagonalizer="pham", max_iter=200, tol=1e-8
    ):
        self.n_components = n_components
        self.n_blocks = n_blocks
        self.diagonalizer = diagonalizer
        self.max_iter = max_iter
        self.tol = tol

    def _options(self):
        return {
            "n_blocks": None if self.n_blocks is None else _whole("n_blocks", self.n_blocks, 2),
            "diagonalizer": self.diagonalizer,
            "max_iter": _whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol),
        }


@_documented
class WASOBI(_Baseline):
    """Joint diagonalisation of the covariances at many lags, weighed optimally for Gaussian
    autoregressive sources.

    Parameters
    ----------
    n_components : int, default=None
        Number of sources. ``None`` takes as many as there are channels.
    order : int, default=20
        Order of the autoregressive models, and the longest lag.
    largest_pole : float, default=0.99
        Poles of a model are kept within this modulus, at most 0.9999.
    taper : float, default=0.05
        Share of the samples at each end over which covariances are tapered, from 0 to 0.5.
    ridge : float, default=0.01
        Regularisation of the weights; 1e-5 for autoregressive sources without noise.
    rounds : int, default=3
        Times that models and weights are estimated.
    max_iter : int, default=100
        Steps at most, in each round.
    tol : float, default=1e-8
        What every change of a step must fall below.
    """

    _method = "wasobi"

    def __init__(
        self,
        n_components=None,
        *,
        order=20,
        largest_pole=0.99,
        taper=0.05,
        ridge=0.01,
        rounds=3,
        max_iter=100,
        tol=1e-8,
    ):
        self.n_components = n_components
        self.order = order
        self.largest_pole = largest_pole
        self.taper = taper
        self.ridge = ridge
        self.rounds = rounds
        self.max_iter = max_iter
        self.tol = tol

    def _options(self):
        return {
            "order": _whole("order", self.order, 1),
            "largest_pole": _checks.number("largest_pole", self.largest_pole),
            "taper": _checks.number("taper", self.taper),
            "ridge": _checks.number("ridge", self.ridge),
            "rounds": _whole("rounds", self.rounds, 1),
            "max_iter": _whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol),
        }


@_documented
class EFICA(_Baseline):
    """FastICA with a nonlinearity that suits each source, and a test of saddle points.

    Parameters
    ----------
    n_components : int, default=None
        Number of sources. ``None`` takes as many as there are channels.
    saddle_test : bool, default=True
        Whether saddle points are looked for.
    max_iter : int, default=200
        Iterations at most, of each search.
    tol : float, default=1e-6
        What the change of every source must fall below.
    w_init : array-like of shape (n_components, n_components), default=None
        First rotation of the whitened components, one column a source, in place of a random one.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first rotation.
    """

    _method = "efica"

    def __init__(
        self,
        n_components=None,
        *,
        saddle_test=True,
        max_iter=200,
        tol=1e-6,
        w_init=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.saddle_test = saddle_test
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.random_state = random_state

    def _options(self):
        return {
            "saddle_test": bool(self.saddle_test),
            "max_iter": _whole("max_iter", self.max_iter, 1),
            "tol": _checks.number("tol", self.tol),
            "w_init": _start(self.w_init),
            "seed": _seed(self.random_state),
        }


@_documented
class MultiCombi(_Baseline):
    """EFICA and WASOBI, each for the sources that it separates better (MULTICOMBI).

    Options that are not here are the defaults of :class:`EFICA` and :class:`WASOBI`.

    Parameters
    ----------
    n_components : int, default=None
        Number of sources. ``None`` takes as many as there are channels.
    order : int, default=20
        Order of WASOBI's autoregressive models, and its longest lag.
    threshold : float, default=0.05
        A group of sources whose best part has more interference than this is left as it is.
    max_iter : int, default=200
        Iterations at most, of each search of EFICA.
    tol : float, default=1e-6
        What the change of every source must fall below in EFICA.
    random_state : int, RandomState, Generator or None, default=None
        Seed of EFICA's first rotation.
    """

    _method = "multicombi"

    def __init__(
        self,
        n_components=None,
        *,
        order=20,
        threshold=0.05,
        max_iter=200,
        tol=1e-6,
        random_state=None,
    ):
        self.n_components = n_components
        self.order = order
        self.threshold = threshold
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _options(self):
        return {
            "threshold": _checks.number("threshold", self.threshold),
            "efica": {
                "max_iter": _whole("max_iter", self.max_iter, 1),
                "tol": _checks.number("tol", self.tol),
                "seed": _seed(self.random_state),
            },
            "wasobi": {"order": _whole("order", self.order, 1)},
        }


@_documented
class Fast(_Baseline):
    """Maximum likelihood of Gaussian sources by their spectra, or by variances that change with
    time, whichever describes them in fewer bits.

    It minimises the kernel energy of :class:`strtransformer.StrTransformer` alone, by L-BFGS from
    what SOBI or NSS finds and from random starts, always the same ones. ``StrTransformer`` with
    ``preset="fast"`` finds sources in this way too, and has a report and denoising.

    Parameters
    ----------
    n_components : int, default=None
        Number of sources. ``None`` takes as many as there are channels.
    """

    _method = "fast"

    def __init__(self, n_components=None):
        self.n_components = n_components

    def _options(self):
        return {}
