"""The scikit-learn estimator: parameters and arrays in, the library's results out.

Checks of parameters and arrays that scikit-learn's conventions ask for are here; every number comes
from ``_core``.
"""

import inspect
import os
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _checks, _core, _threads
from ._progress import Reporter
from ._report import Report

__all__ = ["StrTransformer"]

_DTYPES = [np.float64, np.float32]


class StrTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Blind source separation of a recording by structure in time.

    Every source is judged by how well a small Transformer of its own predicts hidden patches of it
    from the rest, and by the entropy of a Gaussian process with its autocovariances or changing
    variances (the kernel energy). Rows of ``X`` are therefore samples **in the order of time**,
    columns are channels. Samples without any order in time (independent draws) are not its field:
    use :class:`strtransformer.baselines.FastICA` or ``Picard`` there.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Number of sources, at most the number of channels. ``"auto"`` estimates it from the
        eigenvalues of the channels (minimum description length). ``None`` takes as many as there
        are channels. Where ``config`` names ``n_sources``, ``None`` and ``"auto"`` take that.
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
    n_restarts : int, default=1
        Independent starts, of which the one with the lowest objective is kept.
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
    verdicts_ : list of dict
        Which sources to trust, as :meth:`verdicts` gives it; worked out when it is first asked for.
    scale_centers_ : ndarray of shape (n_components,)
        Centre of each source's scales, as the logarithm of a patch size in samples; ascending.
    expected_patch_size_ : ndarray of shape (n_components,)
        Expected patch size of each source, in samples.
    locality_slope_ : ndarray of shape (n_components,)
        How fast the attention of each source falls with distance; descending.
    assignment_margin_ : float
        By how much the next best assignment of sources to branches is worse. Near 0 their order
        means little.
    objective_ : float
        Smoothed objective at the end, by which restarts are ranked.
    restarts_ : list of dict
        All restarts: ``restart``, ``seed``, ``objective``, ``stop_reason``, ``converged``.
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
    pickled one holds the model with the sources of the training data, not the training data: give
    it again as ``X`` there.

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

    def __init__(
        self,
        n_components=None,
        *,
        mixer="affine",
        preset="default",
        max_iter=None,
        tol=None,
        n_restarts=1,
        random_state=None,
        n_jobs=None,
        verbose=0,
        callback=None,
        config=None,
    ):
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

    def fit(self, X, y=None, *, sampling_rate=None):
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

    def fit_transform(self, X, y=None, *, sampling_rate=None):
        """Separate a recording and give its sources as they were optimised.

        With the default preset they are those of :meth:`transform`, up to rounding; with sources
        that are free in every sample (``sources.coordinates`` other than its default) they are
        better.

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
        dtype = self._separate(X, sampling_rate)
        return self.model_.sources.astype(dtype, copy=False)

    def transform(self, X, *, max_iter=500):
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
        X = self._rows(X, reset=False)
        return self._sources_of(X, max_iter).astype(X.dtype, copy=False)

    def denoise(self, X=None, *, return_std=False):
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

    @property
    def verdicts_(self):
        """Which sources to trust; worked out once, when it is first asked for."""
        check_is_fitted(self)
        known = self.__dict__.get("_verdicts")
        if known is None or known[0] is not self.model_:
            known = self._verdicts = (self.model_, self.verdicts())
        return known[1]

    def verdicts(self, X=None, *, replicates=0):
        """Which sources to trust: an error bar, a replication score and a finding for each.

        Do samples from which a model has not learned prefer a pair of sources to mixtures of the
        two? Spectra and changing variances are held out by folds; what they leave in doubt is
        judged by networks that have learned from the other half of the recording.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording, default=None
            What the estimator was fitted on; only needed where it was loaded or unpickled since.
        replicates : int, default=0
            Further runs with other seeds, in which sources are looked for again. Each takes the
            time of the fit.

        Returns
        -------
        list of dict
            One a source: ``source`` (its name, ``"s1"`` the first), ``finding`` (``"resolved"``,
            ``"mixed with s4"``, ``"not replicated"`` or ``"noise"``), ``mixed_with`` (columns of the
            sources from which it is not told), ``interference`` (the amplitude of others to be
            expected in it, 0 to 1), ``replication`` (the lowest correlation with which it was found
            again, or ``None``), ``found_again`` (the share of ``replicates`` that have it, or
            ``None``), ``evidence`` and ``structure`` (nats in favour of it over a mixture and over
            white noise), ``words``.
        """
        check_is_fitted(self)
        return self.model_.verdicts(self._recording_again(X), replicates=replicates)

    def inverse_transform(self, X):
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
        X = check_array(
            X, dtype=_DTYPES, ensure_all_finite="allow-nan", estimator=self, input_name="X"
        )
        return self.model_.mix(X).astype(X.dtype, copy=False)

    def score(self, X, y=None):
        """Share of the variance of the channels that their sources explain, every channel counting
        alike.

        It compares ``X`` with ``inverse_transform(transform(X))``: 1 when nothing is left over,
        which any invertible affine unmixing reaches when there are as many sources as channels. It
        says whether ``n_components`` is enough and whether a nonlinear mixer fits, not whether the
        sources are the true ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            A recording.
        y : None
            Ignored.

        Returns
        -------
        float
            At most 1.
        """
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        return self.model_.explained_variance(X, self._sources_of(X, 500))

    def save(self, path, *, X=None, overwrite=False, formats=(), figures=False):
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
        formats : sequence of {"mat", "parquet", "wav"}, default=()
            Formats of the sources besides NPY and CSV.
        figures : bool, default=False
            Write the figures of the report as SVG and PNG too.
        """
        check_is_fitted(self)
        _core.save(
            self.model_,
            os.fspath(path),
            recording=self._recording_again(X),
            overwrite=overwrite,
            formats=list(formats),
            figures=figures,
            command=self._call(),
        )

    def report(self, path=None, *, X=None):
        """The page of the run, as ``strt separate`` writes it: what was found, how it came about
        and how it fits.

        Parameters
        ----------
        path : str or path-like, default=None
            File for the page.
        X : array-like of shape (n_samples, n_features), frame or Recording, default=None
            What the estimator was fitted on; only needed where it was loaded or unpickled since.

        Returns
        -------
        Report
            Shown as a page in a notebook; ``html`` is its text.
        """
        check_is_fitted(self)
        page = Report(
            _core.report(self.model_, recording=self._recording_again(X), command=self._call())
        )
        if path is not None:
            page.save(path)
        return page

    @property
    def _n_features_out(self):
        return self.model_.n_sources

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _rows(self, X, reset):
        if isinstance(X, _core.Recording):
            if not reset:
                self._check_channels(X)
                return X.data
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

    def _check_channels(self, recording):
        """Refuses a recording whose channels are not those of the training data."""
        if recording.n_channels != self.n_features_in_:
            raise ValueError(
                f"X has {recording.n_channels} features, but {type(self).__name__} is expecting"
                f" {self.n_features_in_} features as input: give a recording with the channels of"
                " the training data"
            )
        names, trained = recording.channel_names, self.model_.channel_names
        if names != trained and not (_are_automatic(names) or _are_automatic(trained)):
            raise ValueError(
                "X: expected the channels of the training data in their order,"
                f" {', '.join(trained)}, got {', '.join(names)}; choose them with read(...,"
                " channels=[...]), or give X.data to go by position"
            )

    def _recording_again(self, X):
        """The recording of the run, where it is given again."""
        if isinstance(X, _core.Recording):
            self._check_channels(X)
        if X is None or isinstance(X, _core.Recording):
            return X
        return _core.Recording(
            self._rows(X, reset=False), self.model_.channel_names, self.model_.sampling_rate
        )

    def _call(self):
        """What repeats the run, for reports."""
        given = {**self.get_params(), "random_state": self.seed_}
        usual = inspect.signature(type(self)).parameters
        texts = [f"{name}={given[name]!r}" for name in usual if given[name] != usual[name].default]
        return f"StrTransformer({', '.join(texts)}).fit(X)"

    @classmethod
    def _loaded(cls, model):
        """A fitted estimator whose parameters repeat the run of a loaded model."""
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
        )
        config.pop("threads")
        estimator.model_ = model
        estimator.n_features_in_ = model.n_channels
        if not _are_automatic(model.channel_names):
            estimator.feature_names_in_ = np.array(model.channel_names, dtype=object)
        estimator._publish(estimator.random_state, np.float64)
        return estimator

    def _sources_of(self, X, max_iter):
        if self.model_.is_a_map:
            return self.model_.unmix(X)
        report = Reporter(None, self.verbose, 1)
        sources, stop, _, raised = self.model_.transform(
            _core.Recording(X),
            _checks.whole("max_iter", max_iter, 1),
            report if report.wanted else None,
        )
        report.close()
        if raised is not None:
            raise raised
        if stop == "diverged":
            raise ValueError(
                "the sources of this recording were no longer finite; it may be too different from"
                " the one that the model was trained on"
            )
        return sources

    def _separate(self, X, sampling_rate):
        """Fits, sets all attributes and gives the dtype of X."""
        if sampling_rate is not None:
            sampling_rate = _checks.number("sampling_rate", sampling_rate)
        recording = X if isinstance(X, _core.Recording) and sampling_rate is None else None
        with _checks.unchanged_by_failure(self):
            if isinstance(X, _core.Recording):
                names = X.channel_names
                sampling_rate = X.sampling_rate if sampling_rate is None else sampling_rate
                X = self._rows(X, reset=True)
            else:
                X = self._rows(X, reset=True)
                names = getattr(self, "feature_names_in_", None)
            if recording is None:
                recording = _core.Recording(
                    X, None if names is None else list(names), sampling_rate
                )
            config = self._configure(recording)
            report = Reporter(self.callback, self.verbose, self.n_restarts)
            self.model_, raised = _core.fit(recording, config, report if report.wanted else None)
        report.close()
        self._publish(config.seed, X.dtype)
        if raised is not None:
            raise raised
        self._warn()
        return X.dtype

    def _configure(self, recording):
        """The configuration of the run, with number of sources and seed."""
        chosen = self.n_components
        if isinstance(chosen, str) and chosen != "auto":
            raise ValueError(f"n_components = {chosen!r}: expected a whole number, 'auto' or None")
        if self.callback is not None and not callable(self.callback):
            raise ValueError(
                f"callback = {self.callback!r}: expected a function of one dict, or None"
            )
        automatic = chosen is None or isinstance(chosen, str)
        seed = self.random_state if _checks.is_whole(self.random_state) else None
        config = _core.configure(
            preset=_checks.text("preset", self.preset, "'default', 'fast' or 'paper'"),
            mixer=_checks.text("mixer", self.mixer, "'affine' or 'mlp'"),
            config=self.config,
            n_components=None if automatic else _checks.whole("n_components", chosen, 1),
            max_iter=None if self.max_iter is None else _checks.whole("max_iter", self.max_iter, 0),
            tol=None if self.tol is None else _checks.number("tol", self.tol),
            n_restarts=_checks.whole("n_restarts", self.n_restarts, 1),
            seed=None if seed is None else _checks.whole("random_state", seed, 0),
            threads=_threads.resolve(self.n_jobs),
        )
        if config.n_sources == 0:
            n_sources = recording.n_channels
            if chosen == "auto":
                n_sources = recording.estimate_n_sources(config.center, config.scale)
            config = config.with_n_sources(n_sources)
        if seed is None and not config.seed_named:
            config = config.with_seed(_drawn(self.random_state))
        config, left_out = config.for_recording(recording)
        if left_out:
            sizes = ", ".join(map(str, left_out))
            gaps = " without missing values" if recording.n_missing else ""
            warnings.warn(
                f"{recording.n_samples} samples are too few for two patches of {sizes}"
                f" samples{gaps}: these patch sizes are left out; use a longer recording, or choose"
                " them: config={'branches.patch_sizes': [...]}",
                UserWarning,
                stacklevel=4,
            )
        return config

    def _publish(self, seed, dtype):
        """Sets the attributes from the model."""
        model = self.model_
        for name in ("components_", "mixing_"):
            vars(self).pop(name, None)
        if model.is_affine:
            self.components_ = model.components.astype(dtype, copy=False)
            self.mixing_ = model.mixing.astype(dtype, copy=False)
        self.mean_ = model.mean.astype(dtype, copy=False)
        self.whitening_ = model.whitening.astype(dtype, copy=False)
        self.n_iter_ = model.n_iter
        self.converged_ = model.converged
        self.stop_reason_ = model.stop_reason
        self.history_ = model.history
        self.scale_centers_ = model.scale_centers
        self.expected_patch_size_ = model.expected_patch_size
        self.locality_slope_ = model.locality_slope
        self.assignment_margin_ = model.assignment_margin
        self.objective_ = model.objective
        self.restarts_ = model.restarts
        self.seed_ = seed
        self.config_ = model.config

    def _warn(self):
        """Says what to change where a run did not end well."""
        if self.model_.warning is not None:
            warnings.warn(self.model_.warning, ConvergenceWarning, stacklevel=4)


def _are_automatic(names):
    """Whether channels have the names that the library gives where there are none."""
    return list(names) == [f"ch{number}" for number in range(1, len(names) + 1)]


def _drawn(random_state):
    """A seed from a generator, or from NumPy's global one."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))
