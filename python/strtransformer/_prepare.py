"""A recording made ready for separation, as a transformer of scikit-learn.

Parameters become the options that the program has under the same names; every number comes from
``_core``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checks, _core
from ._rows import OfRows
from ._sklearn import check_is_fitted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from ._typing import Floats

__all__ = ["Prepare"]


class Prepare(OfRows):
    """Filters, resampling, reference and bad segments for a recording, without any delay.

    The operations come in the order of the parameters. Filters are symmetric and of finite length;
    each stretch between missing samples is filtered by itself, and stretches of less than half a
    filter become missing. ``docs/preparing.md`` has the design.

    Given to ``StrTransformer(prepare=...)`` it is applied to whatever the estimator sees, kept in
    saved runs, and applied again by ``strt transform`` and ``strt clean``.

    Parameters
    ----------
    exclude : str, int or sequence of str or int, default=None
        Channels to leave out: names, numbers from 1 and, in a string, ranges: ``"Fz,Cz,5-8"``.
    bad_segments : str, path-like or sequence of (float, float), default=None
        Spans to take as missing: pairs of onset and duration in seconds, or a table with columns of
        these names. ``"annotations"`` takes the annotations of a file whose names begin with BAD,
        where the file is read with this (:func:`strtransformer.read`).
    detrend : bool, default=False
        Take the straight line through every channel out of it.
    notch : float or sequence of float, default=None
        Line noise to take out, in Hz, with its multiples.
    band : str or (float or None, float or None), default=None
        Frequencies to keep, in Hz: ``"1-40"``, ``(1, 40)``, ``(1, None)``, ``(None, 40)``.
    resample : float or "max", default=None
        Samples per second to come to. ``"max"`` brings the channels of a file with several rates to
        the highest.
    rereference : str, default=None
        ``"average"`` tells the channels against their mean, the name of a channel against it, which
        is then left out. ``None`` leaves them as they were recorded.
    sampling_rate : float, default=None
        Samples per second of arrays. A :class:`strtransformer.Recording` has its own.

    Attributes
    ----------
    steps_ : list of str
        What was done with the data of :meth:`fit`.
    channel_names_ : list of str
        The channels that are left.
    n_features_in_ : int
        Number of channels.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the channels, where ``X`` was a frame with names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from strtransformer import Prepare
    >>> seconds = np.arange(5000) / 250
    >>> X = np.sin(2 * np.pi * np.outer(seconds, [10, 50]))
    >>> prepare = Prepare(band=(1, 40), resample=125, sampling_rate=250)
    >>> prepare.fit_transform(X).shape
    (2500, 2)
    >>> prepare.steps_
    ['band 1-40 Hz (FIR of 825 samples)', 'resampled from 250 to 125 Hz']
    """

    steps_: list[str]
    channel_names_: list[str]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    def __init__(
        self,
        *,
        exclude: str | int | Sequence[str | int] | None = None,
        bad_segments: str | os.PathLike[str] | Sequence[tuple[float, float]] | None = None,
        detrend: bool = False,
        notch: float | Sequence[float] | None = None,
        band: str | tuple[float | None, float | None] | None = None,
        resample: float | str | None = None,
        rereference: str | None = None,
        sampling_rate: float | None = None,
    ) -> None:
        self.exclude = exclude
        self.bad_segments = bad_segments
        self.detrend = detrend
        self.notch = notch
        self.band = band
        self.resample = resample
        self.rereference = rereference
        self.sampling_rate = sampling_rate

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Check that the recording can be prepared so.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            The recording, rows in the order of time. NaN where values are missing.
        y : None
            Ignored.

        Returns
        -------
        self : Prepare
        """
        self._prepare(X, reset=True)
        return self

    def fit_transform(self, X: ArrayLike, y: object = None) -> Floats:
        """Prepare a recording.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            The recording, rows in the order of time. NaN where values are missing.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_samples_out, n_features_out)
            Other numbers of rows and columns where it is resampled or channels are left out.
        """
        return self._prepare(X, reset=True)

    def transform(self, X: ArrayLike) -> Floats:
        """Prepare a recording of the same channels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording
            The recording, rows in the order of time. NaN where values are missing.

        Returns
        -------
        ndarray of shape (n_samples_out, n_features_out)
        """
        check_is_fitted(self)
        return self._prepare(X, reset=False)

    @property
    def _n_features_out(self) -> int:
        return len(self.channel_names_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the channels that are left.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return np.array(self.channel_names_, dtype=object)

    def _prepare(self, X: ArrayLike, reset: bool) -> Floats:
        with _checks.unchanged_by_failure(self):
            rows = self._rows(X, reset)
            recording = X if isinstance(X, _core.Recording) else self._recording(rows)
            prepared = recording.prepared_by(as_json(self))
            if reset:
                self.steps_ = prepared.prepared
                self.channel_names_ = prepared.channel_names
        return prepared.data.astype(rows.dtype, copy=False)

    def _recording(self, rows: Floats) -> _core.Recording:
        names = getattr(self, "feature_names_in_", None)
        rate = self.sampling_rate
        return _core.Recording(
            rows,
            None if names is None else list(names),
            None if rate is None else _checks.number("sampling_rate", rate),
        )


def as_options(prepare: Prepare | Mapping[str, Any]) -> dict[str, Any]:
    """What is asked for as the options of the library, in plain values."""
    if isinstance(prepare, Mapping):
        prepare = Prepare(**prepare)
    if not isinstance(prepare, Prepare):
        raise ValueError(f"prepare = {prepare!r}: expected a Prepare(...), a dict or None")
    options: dict[str, Any] = {}
    if prepare.exclude is not None:
        options["exclude"] = _checks.channels("exclude", prepare.exclude)
    if prepare.bad_segments is not None:
        options["bad_segments"] = _segments(prepare.bad_segments)
    if not isinstance(prepare.detrend, (bool, np.bool_)):
        raise ValueError(f"detrend = {prepare.detrend!r}: expected True or False")
    if prepare.detrend:
        options["detrend"] = True
    if prepare.notch is not None:
        several: Any = prepare.notch if np.iterable(prepare.notch) else [prepare.notch]
        options["notch"] = [_checks.number("notch", hz) for hz in several]
    if prepare.band is not None:
        options["band"] = _band(prepare.band)
    if prepare.resample is not None:
        rate: Any = prepare.resample
        known = isinstance(rate, str)
        options["resample"] = rate if known else repr(_checks.number("resample", rate))
    if prepare.rereference is not None:
        known_references = "'average', the name of a channel or None"
        options["rereference"] = _checks.text("rereference", prepare.rereference, known_references)
    return options


def as_json(prepare: Prepare | Mapping[str, Any]) -> str:
    """What is asked for as the library takes it."""
    return json.dumps(as_options(prepare))


def rate_of(
    prepare: Prepare | Mapping[str, Any] | None, otherwise: float | None
) -> float | None:
    """Samples per second of arrays: what `prepare` says, or else `otherwise`."""
    given = prepare.get("sampling_rate") if isinstance(prepare, Mapping) else prepare
    given = given.sampling_rate if isinstance(given, Prepare) else given
    return otherwise if given is None else _checks.number("sampling_rate", given)


def from_options(options: Mapping[str, Any], sampling_rate: float | None) -> Prepare:
    """A Prepare with the options that are kept with a run."""
    given = dict(options)
    segments = given.get("bad_segments")
    if isinstance(segments, Mapping):
        given["bad_segments"] = [tuple(span) for span in segments["spans"]]
    if given.get("resample") not in (None, "max"):
        given["resample"] = float(given["resample"])
    return Prepare(**given, sampling_rate=sampling_rate)


def _band(band: Any) -> str:
    if isinstance(band, str):
        return band
    if not np.iterable(band) or len(list(band)) != 2:
        raise ValueError(
            f"band = {band!r}: expected two frequencies in Hz, such as (1, 40), (1, None) or '1-40'"
        )
    edges = ["" if hz is None else repr(_checks.number("band", hz)) for hz in band]
    return "-".join(edges)


def _segments(segments: Any) -> Any:
    if not np.iterable(segments) and not isinstance(segments, os.PathLike):
        raise ValueError(
            f"bad_segments = {segments!r}: expected pairs of onset and duration in seconds, the name"
            " of a table of them, or 'annotations'"
        )
    if isinstance(segments, (str, os.PathLike)):
        path = os.fspath(segments)
        return "annotations" if path == "annotations" else {"file": path}
    pairs: list[list[float]] = []
    for span in segments:
        if not isinstance(span, Sequence) and not isinstance(span, np.ndarray) or len(span) != 2:
            raise ValueError(
                f"bad_segments: expected pairs of onset and duration in seconds, found {span!r}"
            )
        pairs.append([_checks.number("bad_segments", seconds) for seconds in span])
    return {"spans": pairs}
