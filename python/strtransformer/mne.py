"""StrTransformer as the ICA of MNE-Python.

`fit` takes a `mne.io.Raw` or `mne.Epochs` and gives a genuine `mne.preprocessing.ICA`: everything
that MNE does with a decomposition (topographies, `find_bads_eog`, `apply`, `save`, reports) is done
by MNE, with its own code.

What this module does: it takes the data out of MNE's containers, marks what must not be used as
missing, has `strtransformer.StrTransformer` separate it, and writes the unmixing into MNE's chain
of three maps

    sources = unmixing_matrix_ · pca_components_[:K] · (data / pre_whitener_ − pca_mean_)

MNE's own files have no place for the estimator behind an ICA. `save_ica` writes its model beside
them, and `read_ica` brings both together again.

What it deliberately does not do: filter, find artefacts, or choose components to remove. Nonlinear
mixers are refused, because that chain is linear.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checks, _core, _mne_data
from ._warn import warn

if TYPE_CHECKING:
    from mne.preprocessing import ICA

    from ._estimator import StrTransformer
    from ._typing import Callback, Floats, RandomState

__all__ = ["fit", "read_ica", "save_ica"]

#: Share of the variance that MNE takes for "all of it" where no number of components is given.
_ALL_VARIANCE = 0.999999


def fit(
    inst: Any,
    n_components: int | float | None = None,
    *,
    picks: str | int | Sequence[str] | Sequence[int] | None = None,
    start: float | None = None,
    stop: float | None = None,
    decim: int | None = None,
    reject: Mapping[str, float] | None = None,
    flat: Mapping[str, float] | None = None,
    tstep: float = 2.0,
    reject_by_annotation: bool = True,
    random_state: RandomState = None,
    mixer: str = "affine",
    preset: str = "default",
    max_iter: int | None = None,
    tol: float | None = None,
    n_restarts: int | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    callback: Callback | None = None,
    config: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> ICA:
    """Separate the channels of an MNE recording.

    Parameters
    ----------
    inst : mne.io.Raw | mne.Epochs
        The data. High-pass filter it first (1 Hz): drifts are sources too.
    n_components : int | float | None
        Number of sources K, at least 2. A float between 0 and 1 takes as many as principal
        components need for that share of the variance. None takes all whose variance is not zero,
        as MNE does; for many channels a smaller number is much quicker.
    picks : str | list | None
        Channels, as everywhere in MNE; None takes the good data channels.
    start, stop : int | float | None
        First sample and the one after the last, or times in seconds. Raw only.
    decim : int | None
        Take every so many-th sample. Low-pass filter first.
    reject, flat : dict | None
        Largest and smallest peak-to-peak amplitude by channel type, such as ``dict(eeg=150e-6)``.
        Stretches of `tstep` seconds outside are not used. Raw only; for epochs there is
        `mne.Epochs.drop_bad`.
    tstep : float
        Length of the stretches that `reject` and `flat` judge, in seconds.
    reject_by_annotation : bool
        Leave out what annotations whose description begins with "bad" cover. Raw only.
    random_state : int | numpy.random.RandomState | None
        Seed; see `StrTransformer`.
    mixer, preset, max_iter, tol, n_restarts, n_jobs, verbose, callback, config
        As for `strtransformer.StrTransformer`. The mixer has to be affine.

    Returns
    -------
    ica : mne.preprocessing.ICA
        A fitted ICA with ``method="strtransformer"``. The estimator behind it is
        ``ica.strtransformer_``; it works on the pre-whitened channels (``data /
        ica.pre_whitener_``). That attribute is kept by `copy`, pickle and `save_ica`, not by
        ``ica.save``.

    Notes
    -----
    *Structure in time.* What annotations and `reject` leave out is given to the method as missing
    samples rather than cut, since cutting joins what does not belong together. Epochs are pieces of
    one recording (`Recording.from_trials`): nothing that reads several samples together, neither a
    covariance at a lag nor a window of a network, reads from two of them. Epochs of eight samples
    are long enough, where there are many. Where they are shorter than the default patches, smaller
    ones are taken.

    *Scale.* Sources have mean 0 and variance 1 over the samples that were used, as those of MNE's
    own methods. Their order is that of time scales, shortest first, not that of variance: MNE's
    sorting is not applied. Sign is arbitrary.

    *Pre-whitening.* One factor per channel type, the standard deviation over all its channels, as
    in MNE, so that topographies keep the proportions of the channels; the estimator is therefore
    run with ``preprocess.scale = false``.

    *What K components leave.* ``pca_components_`` has a row for every channel: the first K span
    what the sources see, the others what they leave. ``ica.apply(inst)`` puts the rest back,
    ``n_pca_components=K`` does not. ``mixing_matrix_`` is the inverse of ``unmixing_matrix_``, as
    MNE defines it; it differs from the estimator's ``mixing_`` by the ridge of the mixer (10⁻⁶).

    Calling ``ica.fit`` on the result is not possible: MNE does not know the method. Call this
    function again.

    Examples
    --------
    >>> ica = strtransformer.mne.fit(raw.filter(1, 40), 15, random_state=0)     # doctest: +SKIP
    >>> ica.exclude, _ = ica.find_bads_eog(raw)                                 # doctest: +SKIP
    >>> ica.apply(raw)                                                          # doctest: +SKIP
    """
    mne = _mne()
    from . import Recording, StrTransformer

    is_raw = _mne_data.is_raw(mne, inst)
    _refuse_nonlinear(mixer)
    if _checks.number("tstep", tstep) <= 0:
        raise ValueError(f"tstep = {tstep!r}: expected seconds above 0")
    info = _mne_data.picked_info(mne, inst, picks)
    _check_number(n_components, len(info["ch_names"]))
    _mne_data.warn_of_preparation(inst, is_raw)
    span = {"start": start, "stop": stop, "reject": reject, "flat": flat}
    if is_raw:
        pieces = [_mne_data.raw_data(inst, info, start, stop, reject_by_annotation)]
    else:
        _mne_data.refuse_raw_options(span)
        pieces = list(inst.get_data(picks=info["ch_names"]))
    every = _mne_data.positive_integer("decim", decim) or 1
    rate = info["sfreq"] / every
    pieces = [piece[:, ::every] for piece in pieces]
    if reject is not None or flat is not None:
        _mne_data.blank(pieces[0], info, reject or {}, flat or {}, max(1, round(tstep * rate)))

    estimator = StrTransformer(
        mixer=mixer,
        preset=preset,
        max_iter=max_iter,
        tol=tol,
        n_restarts=n_restarts,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
        callback=callback,
        config=config,
    )
    estimator.set_params(config=_without_scaling(estimator))
    ica = mne.preprocessing.ICA(n_components=n_components, method="infomax")
    ica.method = "strtransformer"
    ica.info = info
    ica.ch_names = list(info["ch_names"])

    data = ica._do_proj(np.concatenate(pieces, axis=1))
    complete = data[:, np.isfinite(data).all(axis=0)]
    n_all = sum(piece.shape[1] for piece in pieces)
    _mne_data.check_enough(complete.shape[1], n_all, len(data), every)
    ica.pre_whitener_ = _mne_data.pre_whitener(info, complete)
    covariance = np.cov(complete / ica.pre_whitener_)
    ica.n_components_ = _number_of_sources(n_components, np.linalg.eigvalsh(covariance)[::-1])
    ica.n_samples_ = complete.shape[1]

    estimator.set_params(n_components=ica.n_components_)
    rows = np.ascontiguousarray((data / ica.pre_whitener_).T)
    lengths = [piece.shape[1] for piece in pieces]
    estimator.fit(Recording(rows, ica.ch_names, rate, lengths))
    if not hasattr(estimator, "components_"):
        raise ValueError(
            "config: expected sources that are a linear map of the channels, which an mne ICA"
            " object is; remove 'sources.coordinates' from config"
        )
    ica.pca_mean_ = np.array(estimator.mean_, dtype=np.float64)
    _split_unmixing(ica, np.asarray(estimator.components_, dtype=np.float64), covariance)
    ica._update_mixing_matrix()
    ica._update_ica_names()
    ica.n_iter_ = int(estimator.n_iter_)
    ica.fit_params = _kept_params(estimator)
    ica.random_state = random_state if isinstance(random_state, (int, np.integer)) else None
    ica.reject_ = reject if is_raw else inst.reject
    ica.current_fit = "raw" if is_raw else "epochs"
    ica.strtransformer_ = estimator
    return ica


def save_ica(ica: ICA, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Save an ICA of `fit` with the estimator behind it.

    Two files are written: MNE's own, which ``mne.preprocessing.read_ica`` reads, and beside it the
    model of ``ica.strtransformer_`` under the same name with ``.safetensors``, which
    ``strtransformer.load`` reads as well.

    Parameters
    ----------
    ica : mne.preprocessing.ICA
        What `fit` or `read_ica` gave.
    path : str | path-like
        The file of MNE, whose name ends in ``-ica.fif`` or ``_ica.fif``.
    overwrite : bool
        Replace both files where they exist.
    """
    _mne()
    estimator = getattr(ica, "strtransformer_", None)
    if estimator is None:
        raise ValueError(
            "ica: expected what strtransformer.mne.fit gave, with its strtransformer_, got an ICA"
            " without one; save it with ica.save"
        )
    beside = _model_file(path)
    if beside.exists() and not overwrite:
        raise FileExistsError(
            f"{beside}: expected no file, found one; give overwrite=True, or another name"
        )
    partial = beside.with_name(f"{beside.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(estimator.model_.to_bytes())
        ica.save(path, overwrite=overwrite, verbose="error")
        os.replace(partial, beside)
    finally:
        partial.unlink(missing_ok=True)


def read_ica(path: str | os.PathLike[str]) -> ICA:
    """Read an ICA with the estimator behind it, as `save_ica` wrote them.

    Parameters
    ----------
    path : str | path-like
        The file of MNE. The model lies beside it, under the same name with ``.safetensors``; where
        it does not, there is a warning and the ICA is as MNE reads it.

    Returns
    -------
    ica : mne.preprocessing.ICA
        With ``strtransformer_`` and ``random_state``, which MNE loses. The estimator does not hold
        its recording and its ``history_`` is empty.
    """
    mne = _mne()
    from . import load

    ica = mne.preprocessing.read_ica(path, verbose="error")
    beside = _model_file(path)
    if not beside.exists():
        warn(
            f"{beside}: expected the model that save_ica writes, found no file; the ICA has no"
            " strtransformer_",
            RuntimeWarning,
        )
        return ica
    estimator = load(beside)
    expected = ica.unmixing_matrix_ @ ica.pca_components_[: ica.n_components_]
    found = getattr(estimator, "components_", None)
    if found is None or found.shape != expected.shape or not np.allclose(found, expected):
        raise ValueError(
            f"{beside}: expected the model of {os.fspath(path)}, found another one; remove it, or"
            " save both again with save_ica"
        )
    ica.strtransformer_ = estimator
    ica.random_state = estimator.seed_
    return ica


def _model_file(path: str | os.PathLike[str]) -> Path:
    """Where the model of an ICA lies: x-ica.fif and x-ica.fif.gz have x-ica.safetensors."""
    name = Path(path).name.removesuffix(".gz").removesuffix(".fif")
    return Path(path).with_name(f"{name}.safetensors")


def _mne() -> Any:
    try:
        import mne
        import mne.preprocessing
    except ImportError as error:
        raise ImportError(
            "strtransformer.mne needs MNE-Python, which is not installed: `pip install"
            " strtransformer[mne]`"
        ) from error
    return mne


def _refuse_nonlinear(mixer: str) -> None:
    if mixer != "affine":
        raise ValueError(
            f"mixer: expected 'affine', got {mixer!r}; an mne ICA object is a linear map, which a"
            " nonlinear mixer does not have. Use strtransformer.StrTransformer(mixer=...) on"
            " inst.get_data().T instead"
        )


def _without_scaling(estimator: StrTransformer) -> dict[str, Any]:
    """The configuration of the estimator with channels taken as they are, unless it speaks of that
    itself.
    """
    config = estimator.config
    if isinstance(config, (str, os.PathLike)):
        config = _differences(
            _configuration(estimator), _configuration(type(estimator)(preset=estimator.preset))
        )
    config = dict(config or {})
    if "preprocess.scale" not in config and "scale" not in config.get("preprocess", {}):
        config["preprocess.scale"] = False
    return config


def _configuration(estimator: StrTransformer) -> dict[str, Any]:
    """All values of the configuration that parameters and `config` make, in nested dicts."""
    return _core.configure(
        preset=estimator.preset, mixer=estimator.mixer, config=estimator.config
    ).to_dict()


def _differences(values: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """What of nested dicts is not as usual."""
    found = {}
    for key, value in values.items():
        if isinstance(value, dict) and isinstance(usual.get(key), dict):
            value = _differences(value, usual[key])
            if value:
                found[key] = value
        elif key not in usual or value != usual[key]:
            found[key] = value
    return found


def _kept_params(estimator: StrTransformer) -> dict[str, Any]:
    """Parameters for `ica.fit_params`, which MNE shows and writes into its files: plain values
    only.
    """
    names = ("mixer", "preset", "max_iter", "tol", "n_restarts")
    params = {name: getattr(estimator, name) for name in names}
    return {**params, "seed": int(estimator.seed_), "converged": bool(estimator.converged_)}


def _check_number(asked: Any, n_channels: int) -> None:
    if asked is None:
        return
    if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool):
        if not 2 <= asked <= n_channels:
            raise ValueError(
                f"n_components: expected 2 to {n_channels}, the number of channels, got {asked}"
            )
    elif not (isinstance(asked, (float, np.floating)) and 0.0 < asked < 1.0):
        raise ValueError(
            "n_components: expected a whole number, a share of the variance between 0 and 1, or"
            f" None, got {asked!r}"
        )


def _number_of_sources(asked: Any, variances: Floats) -> int:
    """K from what was asked for and the variances of the principal components, largest first."""
    if isinstance(asked, (int, np.integer)):
        return int(asked)
    share = np.cumsum(variances) / np.sum(variances)
    wanted = _ALL_VARIANCE if asked is None else float(asked)
    needed = min(int((share <= wanted).sum()) + 1, len(variances))
    if needed < 2:
        raise ValueError(
            "n_components: expected a share of the variance that needs at least two components,"
            f" got {asked!r}, which one covers; give a larger share or a whole number"
        )
    return needed


def _split_unmixing(ica: Any, unmixing: Floats, covariance: Floats) -> None:
    """Writes a K×m unmixing of the pre-whitened channels as MNE's PCA (m×m, orthonormal rows) and
    ICA (K×K).

    The first K rows of the PCA are the principal axes of the data within the space that the
    unmixing reads; the others are those of what is left. Both are in order of variance.
    """
    n_sources = len(unmixing)
    _, _, axes = np.linalg.svd(unmixing, full_matrices=True)
    rows, variances = [], []
    for basis in (axes[:n_sources], axes[n_sources:]):
        value, vector = np.linalg.eigh(basis @ covariance @ basis.T)
        rows.append(vector.T[::-1] @ basis)
        variances.append(np.maximum(value[::-1], 0.0))
    ica.pca_components_ = np.concatenate(rows)
    ica.pca_explained_variance_ = np.concatenate(variances)
    ica.unmixing_matrix_ = unmixing @ ica.pca_components_[:n_sources].T
