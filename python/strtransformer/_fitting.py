"""How the estimator fits: rows that are checked as scikit-learn's conventions ask, the library's
run on them, and attributes from its model.

Parameters become a configuration in ``_configure``; what a pickle holds is in ``_pickled``. Every
number comes from ``_core``. What a user calls is in ``_estimator``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checks, _core, _pickled
from ._configure import configured
from ._prepare import as_json, rate_of
from ._progress import Reporter
from ._rows import OfRows
from ._sklearn import ConvergenceWarning
from ._warn import warn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._prepare import Prepare
    from ._typing import Callback, Floats, RandomState


class Fitting(OfRows):
    """What is behind the methods of the estimator."""

    n_components: int | float | str | None
    mixer: str
    preset: str
    max_iter: int | None
    tol: float | None
    n_restarts: int | None
    random_state: RandomState
    n_jobs: int | None
    verbose: int
    callback: Callback | None
    config: Mapping[str, Any] | str | os.PathLike[str] | None
    prepare: Prepare | Mapping[str, Any] | None

    components_: Floats
    mixing_: Floats
    mean_: Floats
    whitening_: Floats
    n_iter_: int
    converged_: bool
    stop_reason_: str
    history_: dict[str, NDArray[Any]]
    scale_centers_: NDArray[np.float64]
    expected_patch_size_: NDArray[np.float64]
    locality_slope_: NDArray[np.float64]
    assignment_margin_: float
    objective_: float
    restarts_: list[dict[str, Any]]
    seed_: int
    config_: dict[str, Any]
    model_: _core.Model
    source_count_: dict[str, Any] | None
    _sampling_rate: float | None
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    @property
    def _n_features_out(self) -> int:
        return self.model_.n_sources

    def __getstate__(self) -> dict[str, Any]:
        return _pickled.packed(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        state, published = _pickled.unpacked(state)
        super().__setstate__(state)
        if published is not None:
            self._publish(*published)

    def _rows(self, X: ArrayLike, reset: bool) -> Floats:
        """The rows of X; where they are not those of a fit, as they are prepared."""
        if reset:
            return super()._rows(X, reset)
        if isinstance(X, _core.Recording):
            X = self._prepared(X)
            self._check_channels(X)
            return X.data
        rows = self._rows_as_given(X)
        if self.prepare is None:
            return rows
        return self._prepared(self._unprepared(rows)).data.astype(rows.dtype, copy=False)

    def _rows_as_given(self, X: ArrayLike) -> Floats:
        """The rows of X, checked against those of the fit and not prepared."""
        return super()._rows(X, reset=False)

    def _prepared(self, recording: _core.Recording) -> _core.Recording:
        """As the estimator prepares it; as it is where it was prepared so when it was read."""
        return recording if self.prepare is None else recording.prepared_by(as_json(self.prepare))

    def _unprepared(self, rows: Floats) -> _core.Recording:
        """Rows with the names and the rate of the data of the fit, before these were prepared."""
        names = getattr(self, "feature_names_in_", None)
        rate = rate_of(self.prepare, self._sampling_rate)
        return _core.Recording(rows, None if names is None else list(names), rate)

    def _check_channels(self, recording: _core.Recording) -> None:
        """Refuses a recording whose channels are not those of the training data."""
        if recording.n_channels != self.model_.n_channels:
            raise ValueError(
                f"X has {recording.n_channels} features, but {type(self).__name__} is expecting"
                f" {self.model_.n_channels} features as input: give a recording with the channels"
                " of the training data"
            )
        names, trained = recording.channel_names, self.model_.channel_names
        if names != trained and not (are_automatic(names) or are_automatic(trained)):
            raise ValueError(
                "X: expected the channels of the training data in their order,"
                f" {', '.join(trained)}, got {', '.join(names)}; choose them with read(...,"
                " channels=[...]), or give X.data to go by position"
            )

    def _recording_again(self, X: ArrayLike | None) -> _core.Recording | None:
        """The recording of the run, where it is given again."""
        if X is None:
            return None
        if isinstance(X, _core.Recording):
            X = self._prepared(X)
            self._check_channels(X)
            return X
        if self.prepare is not None:
            return self._prepared(self._unprepared(self._rows_as_given(X)))
        return _core.Recording(
            self._rows(X, reset=False), self.model_.channel_names, self.model_.sampling_rate
        )

    def _sources_of(
        self, X: Floats, max_iter: int, given: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Sources of the rows X, which were `given` as a recording or in another way."""
        if self.model_.is_a_map:
            return self.model_.unmix(X)
        pieces = self._prepared(given).pieces if isinstance(given, _core.Recording) else None
        report = Reporter(None, self.verbose, 1)
        sources, stop, _, raised = self.model_.transform(
            _core.Recording(X, pieces=pieces),
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

    def _separate(self, X: ArrayLike, sampling_rate: float | None) -> Floats:
        """Fits, sets all attributes and gives the rows of X."""
        if sampling_rate is not None:
            sampling_rate = _checks.number("sampling_rate", sampling_rate)
        with _checks.unchanged_by_failure(self):
            rows = self._rows(X, reset=True)
            if isinstance(X, _core.Recording) and sampling_rate is None:
                recording = X
            elif isinstance(X, _core.Recording):
                recording = _core.Recording(rows, X.channel_names, sampling_rate, X.pieces)
            else:
                names = getattr(self, "feature_names_in_", None)
                names = None if names is None else list(names)
                rate = sampling_rate
                if rate is None and self.prepare is not None:
                    rate = rate_of(self.prepare, None)
                recording = _core.Recording(rows, names, rate)
            self._sampling_rate = recording.sampling_rate
            if self.prepare is not None:
                recording = self._prepared(recording)
                rows = recording.data.astype(rows.dtype, copy=False)
            for disturbance in recording.disturbances():
                warn(disturbance)
            config, count = configured(self, recording)
            report = Reporter(self.callback, self.verbose, self.n_restarts)
            self.model_, raised = _core.fit(recording, config, report if report.wanted else None)
        report.close()
        self.source_count_ = count
        self._publish(config.seed, rows.dtype)
        if raised is not None:
            raise raised
        if self.model_.warning is not None:
            warn(self.model_.warning, ConvergenceWarning)
        return rows

    def _publish(self, seed: int, dtype: np.dtype[Any]) -> None:
        """Sets the attributes from the model."""
        model = self.model_
        for name in ("components_", "mixing_"):
            vars(self).pop(name, None)
        components, mixing = model.components, model.mixing
        if components is not None and mixing is not None:
            with np.errstate(over="ignore"):  # told here
                self.components_ = components.astype(dtype, copy=False)
            self.mixing_ = mixing.astype(dtype, copy=False)
            wrong = _checks.beyond_floats(self.components_)
            if wrong is not None:
                warn(f"{wrong}. transform() does not need it")
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


def are_automatic(names: Iterable[str]) -> bool:
    """Whether channels have the names that the library gives where there are none."""
    return all(name == f"ch{number}" for number, name in enumerate(names, start=1))
