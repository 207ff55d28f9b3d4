"""The scikit-learn estimator: parameters and arrays in, the library's results out.

Here is what a user calls. What a fitted model says of its sources is in ``_judging``; how a fit
goes, and what of arrays and channels is checked, in ``_fitting``; what ``score`` measures in
``_likelihood``.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from . import _core
from ._choice import removed_sources
from ._fitting import are_automatic
from ._judging import Judging
from ._likelihood import mean_log_likelihood
from ._prepare import Prepare, as_json, from_options
from ._report import Report
from ._rows import DTYPES
from ._sklearn import check_array, check_is_fitted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._typing import Callback, Floats, RandomState

__all__ = ["StrTransformer"]


class StrTransformer(Judging):
    """Blind source separation of a recording by structure in time.

    Every source is judged by how well a small Transformer of its own predicts hidden patches of it
    from the rest, and by the entropy of a Gaussian process with its spectrum or changing
    variances, less what is not Gaussian in its innovations (the kernel energy). Rows of ``X`` are
    therefore samples **in the order of time**, columns are channels. Samples without any order in
    time (independent draws) are told apart by their distributions, which ``preset="fast"`` does as
    well as the default, or :class:`strtransformer.baselines.FastICA`.

    Parameters
    ----------
    n_components : int, float, "auto", "mdl" or None, default=None
        Number of sources, at most the number of channels. A float between 0 and 1 takes as many as
        principal components need for that share of the variance of the channels. ``"auto"``
        estimates it from structure in time that noise has not, ``"mdl"`` from the eigenvalues of
        the channels (minimum description length); what they found is in ``source_count_``. ``None``
        takes as many as there are channels. Where ``config`` names ``n_sources``, ``None`` and the
        estimates take that.
    mixer : {"affine", "mlp"}, default="affine"
        How sources become channels: a matrix and an offset, or a multilayer perceptron for
        nonlinear mixing.
    preset : {"default", "fast", "paper"}, default="default"
        Where the configuration starts: what recovers sources best (``"default"``), the kernel
        energy alone, minimised directly in milliseconds, without networks and training steps
        (``"fast"``, affine mixer only), or the algorithm of the paper as printed (``"paper"``).
    max_iter : int, default=None
        The most training steps that are taken; a run ends earlier when its sources have settled.
        ``None`` takes the configuration's (2000, under the schedule ``settle`` 10,000); ``settle``
        is the default. With 0 the result is where the sources start.
    tol : float, default=None
        An angle in radians. The run has converged when no source has turned by more than this over
        the last 25 steps, at the lowest learning rate. It ends there, and ``converged_`` says
        whether it came there. ``None`` takes the configuration's (0.02). To take all of
        ``max_iter`` steps, set ``config={"optimizer.early_stopping.enabled": False}``.
    n_restarts : int, default=None
        Independent starts, of which the one with the lowest objective is kept. ``None`` is 1 for
        the mixer ``"affine"`` and 4 for ``"mlp"``, of which two are made where they find the same
        sources; ``converged_`` is then only true where another start found the same.
    random_state : int, RandomState, Generator or None, default=None
        An int is the seed itself: the same int gives the same bits as ``strt separate --seed`` on
        the command line, at any number of threads. Otherwise a seed is drawn; it is kept in
        ``seed_``.
    n_jobs : int, default=None
        Threads; -1 takes all cores, -2 all but one. ``None`` takes all cores, but inside a worker
        of joblib, Dask or Ray only as many as ``OMP_NUM_THREADS`` (which they set) allows, and one
        in a thread of joblib. It never changes a result.
    verbose : int, default=0
        1 shows a progress bar: tqdm's where it is installed, in a terminal or a notebook.
    callback : callable, default=None
        Called about ten times a second, and after the last step, with a dict: ``restart``,
        ``step``, ``max_iter``, ``objective``, ``smoothed_objective``, ``reconstruction``,
        ``structure``, ``separation``, ``gradient_norm``. A true return value stops the run after
        its current step; so does an exception, which is raised again once the attributes are set.
    config : dict, str or path-like, default=None
        Further settings on top of the preset: a dict (nested, or with dotted keys such as
        ``{"weights.smoothness": 0.2}``), TOML text, or the path of a TOML file (``strt config``
        prints one with comments). A key that does not exist is refused with the nearest one that
        does.
    prepare : Prepare or dict, default=None
        Filters, resampling, reference and bad segments (:class:`Prepare`, or its parameters as a
        dict), applied to whatever the estimator sees: to fit, and again by :meth:`transform` and
        the others. With ``resample`` sources have another number of rows than ``X``. A
        :class:`Recording` that was read with the same preparation is taken as it is.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unmixing, in the units of ``X``: sources = ``(X - mean_) @ components_.T``. Affine mixers
        only.
    mixing_ : ndarray of shape (n_features, n_components)
        Mixing, in the units of ``X``: ``X`` ≈ ``S @ mixing_.T + mean_``. Affine mixers only.
    mean_ : ndarray of shape (n_features,)
        What the mixer makes of sources of 0; for a nonlinear mixer the means of the channels.
    whitening_ : ndarray of shape (n_components, n_features)
        ``(X - mean_) @ whitening_.T`` are uncorrelated components of variance 1.
    sources_ : ndarray of shape (n_samples, n_components)
        Sources of the training data as they were optimised, NaN in missing samples.
    n_iter_ : int
        Steps of the restart that was kept; 0 with the preset ``"fast"``.
    converged_ : bool
        Whether the sources had stopped turning, as ``tol`` has it; without training steps, whether
        the search for the start had converged.
    stop_reason_ : {"settled", "step_limit", "interrupted", "diverged"}
        Why the run ended: the sources had stopped turning, all steps were taken, somebody stopped
        it, or the objective was no longer finite.
    history_ : dict of str to ndarray
        Diagnostics of the first, every tenth and the last step of every restart, steps in the first
        dimension: ``restart``, ``step``, ``objective`` and its terms, ``smoothed_objective``,
        ``gradient_norm``, ``assignment_margin`` (n,); ``branch_structure``, ``scale_centers``,
        ``locality_slope``, ``expected_patch_size`` (n, n_components); ``scale_weights``, ``energy``
        (n, n_components, n_patch_sizes).
    source_count_ : dict or None
        How the number of sources was found, as :meth:`Recording.count_sources` gives it:
        ``n_sources``, ``reasoning`` in words, ``shares`` (how often which number was found in
        resampled recordings), ``components``, ``eigenvalues``; ``None`` where it was not estimated,
        and for a loaded run.
    verdicts_ : list of dict
        Which sources to trust, as :meth:`verdicts` gives it; worked out when it is first asked for.
    labels_ : list of dict
        What the sources look like, as :meth:`labels` gives it; worked out when it is first asked
        for.
    scale_centers_ : ndarray of shape (n_components,)
        Centre of each source's scales, as the logarithm of a patch size in samples; ascending.
    expected_patch_size_ : ndarray of shape (n_components,)
        Expected patch size of each source, in samples.
    locality_slope_ : ndarray of shape (n_components,)
        How fast the attention of each source falls with distance; descending.
    assignment_margin_ : float
        By how much the next best assignment of sources, with their networks, to branches is worse
        (``energy`` has that of the paper, without). Near 0 their order means little.
    objective_ : float
        Smoothed objective at the end, by which restarts are ranked.
    restarts_ : list of dict
        All restarts: ``restart``, ``seed``, ``objective``, ``stop_reason``, ``converged``,
        ``novel`` (whether innovations or forecasts told its sources apart), ``agreement`` (least
        |correlation| of its sources with the kept ones, where compared), ``agreement_by_source``
        (all of them, by kept source).
    seed_ : int
        The seed of the run.
    config_ : dict
        The configuration with every automatic value filled in.
    n_features_in_ : int
        Number of channels.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the channels, where ``X`` was a frame with names that are all strings, or where a
        loaded run has names other than the automatic ch1, ch2, ….

    Notes
    -----
    Missing values are NaN, or masked entries of a masked array. A sample with any missing channel
    is missing: it takes no part in training, and its sources are NaN. :meth:`denoise` fills them.

    ``X`` must hold two patches of the smallest patch size (4 samples, so 8 samples) in a stretch
    without missing values. Patch sizes of the preset of which it holds none are left out with a
    warning; sizes given in ``config`` are not touched but refused.

    Ctrl-C ends the run after its current step: the attributes hold what there is, ``stop_reason_``
    is ``"interrupted"`` and ``KeyboardInterrupt`` is raised. A fit that is refused leaves the
    estimator as it was.

    A fitted estimator keeps the recording (once, as float64) for :meth:`report` and :meth:`save`. A
    pickled one holds the model, compressed, with the sources of the training data, not the training
    data: give it again as ``X`` there.

    Examples
    --------
    >>> from strtransformer import StrTransformer
    >>> from strtransformer.datasets import make_mixture
    >>> from strtransformer.metrics import mac
    >>> problem = make_mixture("sines", n_samples=500)
    >>> separator = StrTransformer(n_components=3, random_state=0)
    >>> sources = separator.fit_transform(problem.observations)
    >>> sources.shape
    (500, 3)
    >>> mac(sources, problem.sources) > 0.9
    True
    """

    if TYPE_CHECKING:  # made by scikit-learn from the signatures of the methods

        def set_fit_request(self, *, sampling_rate: bool | str | None = ...) -> StrTransformer: ...
        def set_transform_request(self, *, max_iter: bool | str | None = ...) -> StrTransformer: ...

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        mixer: str = "affine",
        preset: str = "default",
        max_iter: int | None = None,
        tol: float | None = None,
        n_restarts: int | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        prepare: Prepare | Mapping[str, Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.mixer = mixer
        self.preset = preset
        self.max_iter = max_iter
        self.tol = tol
        self.n_restarts = n_restarts
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.config = config
        self.prepare = prepare

    def fit(
        self, X: ArrayLike, y: object = None, *, sampling_rate: float | None = None
    ) -> StrTransformer:
        """Separate a recording.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            The recording, rows in the order of time. NaN where values are missing.
        y : None
            Ignored.
        sampling_rate : float, default=None
            Samples per second, for reports and saved files; it changes no result.

        Returns
        -------
        self : StrTransformer
        """
        self._separate(X, sampling_rate)
        return self

    def fit_transform(
        self, X: ArrayLike, y: object = None, *, sampling_rate: float | None = None
    ) -> Floats:
        """Separate a recording and give its sources, those of :meth:`transform`.

        Sources that are free in every sample (``preset="paper"``, or ``sources.unlock`` below 1)
        are not quite a map of the channels: as they were optimised they are in ``sources_``. Only
        behind a nonlinear mixer in coordinates other than the default ``neural``, where
        :meth:`transform` would have to optimise them again, are they given as they are there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            The recording, rows in the order of time. NaN where values are missing.
        y : None
            Ignored.
        sampling_rate : float, default=None
            Samples per second, for reports and saved files; it changes no result.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The sources, short time scale first, NaN in missing samples.
        """
        rows = self._separate(X, sampling_rate)
        sources = self.model_.sources
        if self.model_.is_affine and _are_free(self.config_["sources"]):
            sources = self.model_.unmix(rows)
        return sources.astype(rows.dtype, copy=False)

    def transform(self, X: ArrayLike, *, max_iter: int = 500) -> Floats:
        """Sources of a recording under the trained model.

        With an affine mixer this is row by row ``(X - mean_) @ components_.T``, with a nonlinear
        one row by row the map that was learned with it. Only where a nonlinear run had other
        coordinates than the default ``neural`` are its sources no map of the channels: those of the
        new samples are then optimised from the best linear guess, with everything else frozen. They
        depend on each other through time, and differ from those of :meth:`fit_transform` for the
        same ``X``, which must hold two patches of the largest patch size of the run.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            The recording, with the channels of the training data in the same order. NaN where
            values are missing.
        max_iter : int, default=500
            Steps of the optimisation, where there is one.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The sources, NaN in missing samples.
        """
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        return self._sources_of(rows, max_iter, X).astype(rows.dtype, copy=False)

    @overload
    def denoise(
        self, X: ArrayLike | None = None, *, return_std: Literal[False] = False
    ) -> NDArray[np.float64]: ...
    @overload
    def denoise(
        self, X: ArrayLike | None = None, *, return_std: Literal[True]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def denoise(
        self, X: ArrayLike | None = None, *, return_std: bool = False
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sources without the noise of the channels, missing samples filled.

        The posterior mean of the sources given their mixing, their spectra and white noise of the
        strength that ``n_components`` sources leave over in the channels: a Wiener filter of what
        :meth:`transform` gives, in the same order and scale. In a long gap it returns to the mean
        of a source. With as many sources as channels nothing is left over: no noise is assumed, and
        only gaps are filled.

        Affine mixers only. Sources behind a nonlinear mixer, and sources that are free in every
        sample, are refused.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording, default=None
            A recording with the channels of the training data in the same order. NaN where values
            are missing. ``None`` takes the training data, which an estimator that was loaded or
            unpickled does not hold. Spectra and noise are always those of the training.
        return_std : bool, default=False
            Whether to return the standard deviations too.

        Returns
        -------
        sources : ndarray of shape (n_samples, n_components)
            The posterior mean.
        std : ndarray of shape (n_samples, n_components)
            The posterior standard deviation of every sample; only with ``return_std``.
        """
        check_is_fitted(self)
        sources, std, _ = self.model_.denoise(self._recording_again(X))
        return (sources, std) if return_std else sources

    def clean(
        self,
        X: ArrayLike | None = None,
        *,
        remove: Iterable[int | str] | None = None,
        keep: Iterable[int | str] | None = None,
        decisions: str | os.PathLike[str] | None = None,
        fill: bool = False,
        max_iter: int = 500,
    ) -> Floats:
        """The recording without some of its sources.

        ``X - (inverse_transform(S) - inverse_transform(S0))``, where ``S`` are the sources of
        ``X`` and ``S0`` the same with those that are removed set to their mean over the training
        data. What the sources do not explain stays. ``strt clean`` does this with files.

        With ``prepare`` and an affine mixer, ``X`` is cleaned as it is, at its own rate and against
        its own reference: what the sources contribute is a linear map of the channels, which
        filters do not change. Behind a nonlinear mixer, and without ``X``, the prepared recording
        is cleaned.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording, default=None
            A recording with the channels of the training data in the same order. NaN where values
            are missing. ``None`` takes the training data, which an estimator that was loaded or
            unpickled does not hold.
        remove : sequence of int or str, default=None
            The sources to remove: their columns, from 0, or names, ``"s1"`` being column 0.
        keep : sequence of int or str, default=None
            The sources to keep, in place of ``remove``.
        decisions : str or path, default=None
            In place of both: ``decisions.json``, as the page of the run saves it. Decisions about
            other training data are refused, unless the estimator was loaded or unpickled and does
            not hold its own.
        fill : bool, default=False
            Whether to fill missing values with what the model expects there; affine mixers only.
            Otherwise a sample with a missing value, which has no sources, is missing in all
            channels.
        max_iter : int, default=500
            Steps for the sources of ``X``, where they are optimised; see :meth:`transform`.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Channels in the units of the training data.
        """
        check_is_fitted(self)
        model = self.model_
        removed = removed_sources(
            remove, keep, decisions, model.n_sources, model.fingerprint
        )
        if X is None:
            return self.model_.clean(self.model_.sources, removed, None, fill)
        if self.prepare is not None and self.model_.is_affine:
            if fill:
                raise ValueError(
                    "fill = True: expected False with prepare, since the spectra of the training"
                    " are not those of X"
                )
            return self._cleaned_as_it_is(X, removed)
        recording, rows = self._recording_again(X), self._rows(X, reset=False)
        cleaned = self.model_.clean(
            self._sources_of(rows, max_iter, X), removed, recording, fill
        )
        return cleaned.astype(rows.dtype, copy=False)

    def _cleaned_as_it_is(self, X: ArrayLike, removed: list[int]) -> Floats:
        """X without sources that were found in it prepared, which it is not itself."""
        assert self.prepare is not None
        if isinstance(X, _core.Recording):
            if X.preparation is not None:
                raise ValueError(
                    "X: expected a recording that was not prepared, from which sources are removed"
                    " as it is, got one that was; read it without prepare"
                )
            return self.model_.clean_unprepared(X, as_json(self.prepare), removed)
        rows = self._rows_as_given(X)
        cleaned = self.model_.clean_unprepared(
            self._unprepared(rows), as_json(self.prepare), removed
        )
        return cleaned.astype(rows.dtype, copy=False)

    def inverse_transform(self, X: ArrayLike) -> Floats:
        """Channels that sources give: ``X @ mixing_.T + mean_``, or what the nonlinear mixer makes
        of them.

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
        sources = check_array(
            X, dtype=DTYPES, ensure_all_finite="allow-nan", estimator=self, input_name="X"
        )
        return self.model_.mix(sources).astype(sources.dtype, copy=False)

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Mean log-likelihood of a row of channels, by which ``n_components`` can be chosen on data
        that was held out.

        The rows are taken for draws of a Gaussian: the sources have the variance that they have in
        the training data, and every direction that they leave over has the mean variance of what
        they leave over there (probabilistic principal components). It is in nats, relative to the
        scale of the channels. Of data that was not seen in training it is highest at the number of
        sources that stand out from the noise, so that ``GridSearchCV(StrTransformer(),
        {"n_components": range(1, 7)}, cv=TimeSeriesSplit())`` finds it; ``preset="fast"`` scores
        alike in milliseconds. It does not say whether the sources are the true ones: every rotation
        of them has the same score.

        A nonlinear mixer has no such density. Its score is the share of the variance of the
        channels that the sources explain, every channel counting alike, at most 1; both kinds are
        not to be compared. For an affine mixer that share is
        ``metrics.explained_variance(X, inverse_transform(transform(X)))``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            A recording. Rows with a missing value are left out.
        y : None
            Ignored.

        Returns
        -------
        float
            The higher the better.
        """
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        if self.model_.is_affine:
            return mean_log_likelihood(self.model_, rows)
        return self.model_.explained_variance(rows, self._sources_of(rows, 500, X))

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        X: ArrayLike | None = None,
        overwrite: bool = False,
        formats: Iterable[str] = (),
        figures: bool = False,
        reference: ArrayLike | None = None,
    ) -> None:
        """Write the folder of the run, with the files that ``strt separate`` leaves;
        ``strtransformer.load`` reads it.

        Parameters
        ----------
        path : str or path-like
            The folder. It appears when it is complete.
        X : array-like of shape (n_samples, n_features), frame or Recording, default=None
            What the estimator was fitted on; only needed where it was loaded or unpickled since.
        overwrite : bool, default=False
            Replace the folder of an earlier run. Nothing else is ever replaced.
        formats : sequence of {"mat", "parquet", "wav", "wavs", "flac", "edf"}, default=()
            Formats of the sources besides NPY and CSV.
        figures : bool, default=False
            Write the paper's three figures as SVG and PNG too.
        reference : array-like of shape (n_samples, n_references), default=None
            True sources, for scores, the page and the figures only.
        """
        check_is_fitted(self)
        _core.save(
            self.model_,
            os.fspath(path),
            recording=self._recording_again(X),
            overwrite=overwrite,
            formats=list(formats),
            figures=figures,
            reference=self._reference(reference),
            command=self._call(),
        )

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        X: ArrayLike | None = None,
        reference: ArrayLike | None = None,
    ) -> Report:
        """The page of the run, as ``strt separate`` writes it: what was found, how it came about
        and how it fits.

        Parameters
        ----------
        path : str or path-like, default=None
            File for the page.
        X : array-like of shape (n_samples, n_features), frame or Recording, default=None
            What the estimator was fitted on; only needed where it was loaded or unpickled since.
        reference : array-like of shape (n_samples, n_references), default=None
            True sources, to be shown beside those that were found.

        Returns
        -------
        Report
            Shown as a page in a notebook; ``html`` is its text.
        """
        check_is_fitted(self)
        page = Report(
            _core.report(
                self.model_,
                recording=self._recording_again(X),
                reference=self._reference(reference),
                command=self._call(),
            )
        )
        if path is not None:
            page.save(path)
        return page

    @property
    def sources_(self) -> NDArray[np.float64]:
        """Sources of the training data as they were optimised."""
        check_is_fitted(self)
        return self.model_.sources

    def _reference(self, given: ArrayLike | None) -> Floats | None:
        """True sources as the core takes them."""
        if given is None:
            return None
        return check_array(
            given,
            dtype=DTYPES,
            ensure_all_finite="allow-nan",
            estimator=self,
            input_name="reference",
        )

    def _call(self) -> str:
        """What repeats the run, for reports."""
        given = {**self.get_params(), "random_state": self.seed_}
        usual = inspect.signature(type(self)).parameters
        texts = [f"{name}={given[name]!r}" for name in usual if given[name] != usual[name].default]
        return f"StrTransformer({', '.join(texts)}).fit(X)"

    @classmethod
    def _loaded(cls, model: _core.Model, summary: str | None = None) -> StrTransformer:
        """A fitted estimator whose parameters repeat the run of a loaded model; `summary` is the
        JSON of its folder, which knows how the recording was prepared.
        """
        options = {} if summary is None else json.loads(summary)["input"]["options"]
        prepare = options.get("prepare")
        config = model.config
        optimizer = config["optimizer"]
        estimator = cls(
            n_components=config.pop("n_sources"),
            mixer=config["mixer"].pop("kind"),
            max_iter=optimizer.pop("steps"),
            tol=optimizer["early_stopping"].pop("tolerance"),
            n_restarts=config.pop("restarts"),
            random_state=config.pop("seed"),
            config=config,
            prepare=None if prepare is None else from_options(prepare, None),
        )
        config.pop("threads")
        estimator.model_ = model
        # Before it was resampled it had another one, which is not kept.
        resampled = prepare is not None and "resample" in prepare
        estimator._sampling_rate = None if resampled else model.sampling_rate
        estimator.n_features_in_ = model.n_channels
        if not are_automatic(model.channel_names):
            estimator.feature_names_in_ = np.array(model.channel_names, dtype=object)
        estimator.source_count_ = None
        estimator._publish(model.seed, np.dtype(np.float64))
        return estimator


def _are_free(sources: Mapping[str, Any]) -> bool:
    """Whether a configuration lets sources differ from a map of the channels in every sample."""
    return bool(sources["coordinates"] == "direct" or sources["unlock"] < 1.0)
