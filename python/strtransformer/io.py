"""Files: recordings in, and runs as folders that the program ``strt`` can take up.

The numbers and their checks are the library's; this module only names things.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _checks, _core
from ._core import Recording

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._estimator import StrTransformer
    from ._prepare import Prepare

__all__ = ["Recording", "load", "read", "save"]


def read(
    path: str | os.PathLike[str],
    *,
    channels: str | int | Iterable[str | int] | None = None,
    start: float | None = None,
    stop: float | None = None,
    sampling_rate: float | None = None,
    variable: str | None = None,
    transpose: bool | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    time_column: str | None = None,
    prepare: Prepare | Mapping[str, Any] | None = None,
) -> Recording:
    """Read a recording from a file.

    The format is found by the contents of the file: CSV and other text, NPY, NPZ, MATLAB (5 to
    7.3), HDF5, EDF, BDF, GDF, BrainVision, FIF (raw), XDF, EEGLAB ``.set``, SNIRF, WFDB, WAV,
    FLAC, Ogg Vorbis and Parquet; also packed with gzip or zstd. Everything that was detected or
    left out is in ``notes``.

    Parameters
    ----------
    path : str or path-like
        The file.
    channels : str, int or sequence of str or int, default=None
        The channels to take, in this order: names, numbers from 1 and, in a string, ranges:
        ``"Fz,Cz,5-8"``. ``None`` takes all.
    start, stop : float, default=None
        Leave out what comes before ``start``, and from ``stop`` on, in seconds from the first
        sample.
    sampling_rate : float, default=None
        Samples per second, in place of what the file says.
    variable : str, default=None
        The array to take from a file that holds several (NPZ, MATLAB), or the
        stream (XDF).
    transpose : bool, default=None
        Take a matrix (text, NPY, NPZ, MATLAB, HDF5) as channels × samples. ``None`` decides by what
        stands beside it and by its shape: the longer side is time. ``notes`` say how.
    delimiter : str, default=None
        The character between the columns of a text. ``None`` detects it.
    header : bool, default=None
        Whether the first line of a text holds names. ``None`` detects it.
    time_column : str, default=None
        The column of a table that holds the time, or ``"none"``. ``None`` detects it.
    prepare : Prepare or dict, default=None
        Filters, resampling, reference and bad segments for what was read: a :class:`Prepare`, or
        its parameters as a dict.

    Returns
    -------
    Recording
        With ``data`` (n_samples, n_channels), ``channel_names``, ``sampling_rate`` (or None),
        ``units``, ``notes`` and ``format``. :meth:`StrTransformer.fit` takes it as it is.

    Raises
    ------
    OSError
        When the file cannot be read (``FileNotFoundError``, ``PermissionError``, …).
    ValueError
        When its contents are not what was expected, or do not go with what is asked.
    """
    options = None
    if prepare is not None:
        from ._prepare import as_json  # with it comes scikit-learn

        options = as_json(prepare)
    return _core.read(
        os.fspath(path),
        channels=None if channels is None else _checks.channels("channels", channels),
        start=start,
        stop=stop,
        rate=sampling_rate,
        variable=variable,
        transpose=transpose,
        delimiter=delimiter,
        header=header,
        time_column=time_column,
        prepare=options,
    )


def load(path: str | os.PathLike[str]) -> StrTransformer:
    """Load a run that was saved by :meth:`StrTransformer.save`, by ``strt separate`` or by a sweep.

    Parameters
    ----------
    path : str or path-like
        The folder of a run, or a ``model.safetensors`` (then ``history_`` is empty).

    Returns
    -------
    StrTransformer
        Fitted, with parameters that repeat the run. The recording is not part of a folder:
        :meth:`StrTransformer.report` and :meth:`StrTransformer.save` need it again as ``X``.

    Raises
    ------
    OSError
        When the folder or a file of it cannot be read.
    ValueError
        When it is not the folder of a run, or a file in it is of another run or was changed since:
        every file has a checksum.
    """
    from ._estimator import StrTransformer

    model, summary = _core.load(os.fspath(path))
    return StrTransformer._loaded(model, summary)


def save(
    estimator: StrTransformer,
    path: str | os.PathLike[str],
    *,
    X: ArrayLike | None = None,
    overwrite: bool = False,
    formats: Iterable[str] = (),
    figures: bool = False,
) -> None:
    """Save a fitted :class:`StrTransformer`; the same as its method :meth:`StrTransformer.save`.

    Parameters
    ----------
    estimator : StrTransformer
        Fitted.
    path : str or path-like
        The folder.
    X : array-like of shape (n_samples, n_features), frame or Recording, default=None
        What the estimator was fitted on; only needed where it was loaded or unpickled since.
    overwrite : bool, default=False
        Replace the folder of an earlier run.
    formats : sequence of {"mat", "parquet", "wav", "wavs", "flac", "edf"}, default=()
        Formats of the sources besides NPY and CSV.
    figures : bool, default=False
        Write the figures of the report as SVG and PNG too.
    """
    estimator.save(path, X=X, overwrite=overwrite, formats=formats, figures=figures)
