"""StrTransformer as the ICA of MNE-Python.

`fit` takes a `mne.io.Raw` or `mne.Epochs` and gives a genuine `mne.preprocessing.ICA`: everything
that MNE does with a decomposition (topographies, `find_bads_eog`, `apply`, `save`, reports) is done
by MNE, with its own code.

What this module does: it takes the data out of MNE's containers, marks what must not be used as
missing, has `strtransformer.StrTransformer` separate it, and writes the unmixing into MNE's chain
of three maps

    sources = unmixing_matrix_ · pca_components_[:K] · (data / pre_whitener_ − pca_mean_)

What it deliberately does not do: filter, find artefacts, or choose components to remove. Nonlinear
mixers are refused, because that chain is linear.
"""

from __future__ import annotations

import os
import warnings

import numpy as np

from . import _checks, _core

__all__ = ["fit"]

#: Channel types that MNE's ICA takes.
_TYPES = ("mag", "grad", "eeg", "csd", "seeg", "ecog", "dbs", "hbo", "hbr", "fnirs_cw_amplitude",
          "fnirs_fd_ac_amplitude", "fnirs_fd_phase", "fnirs_od", "eog")  # fmt: skip
#: Share of the variance that MNE takes for "all of it" where no number of components is given.
_ALL_VARIANCE = 0.999999


def fit(
    inst,
    n_components=None,
    *,
    picks=None,
    start=None,
    stop=None,
    decim=None,
    reject=None,
    flat=None,
    tstep=2.0,
    reject_by_annotation=True,
    random_state=None,
    **params,
):
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
    **params
        Further parameters of `strtransformer.StrTransformer`: max_iter, tol, n_restarts, n_jobs,
        verbose, callback, preset, config.

    Returns
    -------
    ica : mne.preprocessing.ICA
        A fitted ICA with ``method="strtransformer"``. The estimator behind it is
        ``ica.strtransformer_``; it works on the pre-whitened channels (``data /
        ica.pre_whitener_``). That attribute is kept by `copy` and pickle, not by ``ica.save``.

    Notes
    -----
    *Structure in time.* What is left out (annotations, `reject`, the samples between two epochs) is
    given to the method as missing samples rather than cut, since cutting joins what does not belong
    together. Between two epochs there are as many missing samples as the longest patch of the
    configuration has, so no patch spans two of them.

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

    is_raw = _is_raw(mne, inst)
    _refuse_nonlinear(params)
    if _checks.number("tstep", tstep) <= 0:
        raise ValueError(f"tstep = {tstep!r}: expected seconds above 0")
    info = _picked_info(mne, inst, picks)
    _check_number(n_components, len(info["ch_names"]))
    _warn_of_preparation(inst, is_raw)
    span = {"start": start, "stop": stop, "reject": reject, "flat": flat}
    if is_raw:
        pieces = [_raw_data(inst, info, start, stop, reject_by_annotation)]
    else:
        _refuse_raw_options(span)
        pieces = list(inst.get_data(picks=info["ch_names"]))
    every = _positive_integer("decim", decim) or 1
    rate = info["sfreq"] / every
    pieces = [piece[:, ::every] for piece in pieces]
    if reject is not None or flat is not None:
        _blank(pieces[0], info, reject or {}, flat or {}, max(1, round(tstep * rate)))

    estimator = StrTransformer(random_state=random_state, **params)
    estimator.set_params(config=_without_scaling(estimator))
    ica = mne.preprocessing.ICA(n_components=n_components, method="infomax")
    ica.method = "strtransformer"
    ica.info = info
    ica.ch_names = list(info["ch_names"])

    data = ica._do_proj(_joined(pieces, _longest_patch(estimator)))
    complete = data[:, np.isfinite(data).all(axis=0)]
    _enough(complete.shape[1], sum(piece.shape[1] for piece in pieces), len(data), every)
    ica.pre_whitener_ = _pre_whitener(info, complete)
    covariance = np.cov(complete / ica.pre_whitener_)
    ica.n_components_ = _number_of_sources(n_components, np.linalg.eigvalsh(covariance)[::-1])
    ica.n_samples_ = complete.shape[1]

    estimator.set_params(n_components=ica.n_components_)
    rows = np.ascontiguousarray((data / ica.pre_whitener_).T)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        estimator.fit(Recording(rows, ica.ch_names, rate))
    for warning in told:
        warnings.warn(warning.message, stacklevel=2)  # again, so that it points at the caller

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


def _mne():
    try:
        import mne
        import mne.preprocessing
    except ImportError as error:
        raise ImportError(
            "strtransformer.mne needs MNE-Python, which is not installed: `pip install"
            " strtransformer[mne]`"
        ) from error
    return mne


def _is_raw(mne, inst):
    """Whether `inst` is Raw (else Epochs); anything else is refused."""
    if isinstance(inst, mne.io.BaseRaw):
        return True
    if not isinstance(inst, mne.BaseEpochs):
        raise TypeError(
            f"inst: expected mne.io.Raw or mne.Epochs, got {type(inst).__name__}; for an array use "
            "strtransformer.StrTransformer, or wrap it with mne.io.RawArray(data, info)"
        )
    if len(inst) == 0:
        raise ValueError(
            "inst: expected at least one epoch, got none; all were dropped (see inst.drop_log)"
        )
    return False


def _refuse_nonlinear(params):
    mixer = params.get("mixer", "affine")
    if mixer != "affine":
        raise ValueError(
            f"mixer: expected 'affine', got {mixer!r}; an mne ICA object is a linear map, which a"
            " nonlinear mixer does not have. Use strtransformer.StrTransformer(mixer=...) on"
            " inst.get_data().T instead"
        )


def _warn_of_preparation(inst, is_raw):
    if inst.info["highpass"] < 1e-8:
        warnings.warn(
            "the data was not high-pass filtered, so slow drifts will take up components; filter"
            " before the fit, such as inst.filter(1.0, None)",
            RuntimeWarning,
            stacklevel=3,
        )
    if not is_raw and inst.baseline is not None:
        warnings.warn(
            "the epochs are baseline-corrected, which moves every epoch by another offset; fit on"
            " high-pass filtered epochs without a baseline (baseline=None)",
            RuntimeWarning,
            stacklevel=3,
        )


def _refuse_raw_options(span):
    given = [name for name, value in span.items() if value is not None]
    if given:
        raise ValueError(
            f"{', '.join(given)}: expected for mne.io.Raw only, got epochs; choose samples and drop"
            " epochs before the fit (epochs.crop, epochs.drop_bad)"
        )


def _picked_info(mne, inst, picks):
    """Measurement info of the channels that are used, as MNE's ICA keeps it."""
    probe = mne.io.RawArray(np.zeros((len(inst.ch_names), 1)), inst.info, verbose="error")
    if picks is None:
        kinds = dict(zip(inst.ch_names, inst.get_channel_types()))
        try:
            good = probe.pick("data", exclude="bads").ch_names
        except ValueError:  # there are none
            good = []
        names = [name for name in good if kinds[name] in _TYPES]
    else:
        names = probe.pick(picks, exclude="bads").ch_names
    where = [inst.ch_names.index(name) for name in names]
    foreign = sorted(set(inst.get_channel_types(picks=where)) - set(_TYPES)) if where else []
    if foreign:
        raise ValueError(
            f"picks: expected channels of the types {', '.join(_TYPES)}, got {', '.join(foreign)};"
            " leave them out, or give their type with inst.set_channel_types"
        )
    if len(where) < 2:
        raise ValueError(
            f"picks: expected at least two good channels of data, got {len(where)}: {names}; name"
            " others in picks, or see inst.get_channel_types() and inst.info['bads']"
        )
    info = mne.pick_info(inst.info, where)
    if info["comps"]:
        with info._unlock():
            info["comps"] = []  # a compensation needs channels that are not all here
    return info


def _raw_data(raw, info, start, stop, reject_by_annotation):
    """Channels × samples; NaN where an annotation says bad."""
    first, last = (_sample(raw, at, default) for at, default in ((start, 0), (stop, raw.n_times)))
    if not 0 <= first < last <= raw.n_times:
        raise ValueError(
            f"start, stop: expected 0 ≤ start < stop ≤ {raw.n_times} samples"
            f" ({raw.n_times / raw.info['sfreq']:g} s), got samples {first} to {last}"
        )
    how = "NaN" if reject_by_annotation else None
    return raw.get_data(info["ch_names"], first, last, reject_by_annotation=how, verbose="error")


def _sample(raw, at, default):
    if at is None:
        return default
    if isinstance(at, (int, np.integer)):
        return int(at)
    return int(raw.time_as_index(float(at))[0])


def _positive_integer(name, value):
    if value is not None and (not isinstance(value, (int, np.integer)) or value < 1):
        raise ValueError(f"{name}: expected a whole number from 1, got {value!r}")
    return value


def _blank(data, info, reject, flat, length):
    """Makes stretches of `length` samples whose peak-to-peak amplitude is out of bounds missing, in
    place.
    """
    kinds = np.array(info.get_channel_types())
    for name, bounds in (("reject", reject), ("flat", flat)):
        unknown = sorted(set(bounds) - set(kinds))
        if unknown:
            raise ValueError(
                f"{name}: expected channel types of the data ({', '.join(sorted(set(kinds)))}), got"
                f" {', '.join(unknown)}"
            )
    for first in range(0, data.shape[1], length):
        stretch = data[:, first : first + length]
        used = stretch[:, np.isfinite(stretch).all(axis=0)]
        if used.shape[1] == 0:
            continue
        amplitude = np.ptp(used, axis=1)
        above = any((amplitude[kinds == kind] > bound).any() for kind, bound in reject.items())
        below = any((amplitude[kinds == kind] < bound).any() for kind, bound in flat.items())
        if above or below:
            stretch[:] = np.nan


def _without_scaling(estimator):
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


def _configuration(estimator):
    """All values of the configuration that parameters and `config` make, in nested dicts."""
    return _core.configure(
        preset=estimator.preset, mixer=estimator.mixer, config=estimator.config
    ).to_dict()


def _differences(values, usual):
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


def _longest_patch(estimator):
    return max(_configuration(estimator)["branches"]["patch_sizes"])


def _kept_params(estimator):
    """Parameters for `ica.fit_params`, which MNE shows and writes into its files: plain values
    only.
    """
    names = ("mixer", "preset", "max_iter", "tol", "n_restarts")
    params = {name: getattr(estimator, name) for name in names}
    return {**params, "seed": int(estimator.seed_), "converged": bool(estimator.converged_)}


def _enough(n_samples, n_all, n_channels, decim):
    if n_samples <= n_channels:
        advice = "give a longer recording"
        if n_samples < n_all:
            advice = (
                f"the others of {n_all} are annotated as bad, outside reject and flat, or not"
                f" finite: loosen them, or {advice}"
            )
        if decim > 1:
            advice = f"decim={decim} has left {n_all}: take a smaller one; {advice}"
        raise ValueError(
            f"inst: expected more than {n_channels} usable samples, since there are {n_channels}"
            f" channels, got {n_samples}; {advice}"
        )


def _pre_whitener(info, data):
    """One factor per channel type (m×1): the standard deviation of all its channels together."""
    kinds = np.array(info.get_channel_types())
    factors = np.empty((len(data), 1))
    for kind in set(kinds):
        deviation = float(np.std(data[kinds == kind]))
        if deviation == 0.0:
            raise ValueError(
                f"inst: expected {kind} channels that vary, got constant ones; leave them out with"
                " picks"
            )
        factors[kinds == kind] = deviation
    return factors


def _check_number(asked, n_channels):
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


def _number_of_sources(asked, variances):
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


def _joined(pieces, gap):
    """Pieces one after the other (m×T), with `gap` missing samples between two."""
    missing = np.full((len(pieces[0]), gap), np.nan)
    parts = [pieces[0]]
    for piece in pieces[1:]:
        parts += [missing, piece]
    return np.concatenate(parts, axis=1)


def _split_unmixing(ica, unmixing, covariance):
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
