"""Parameters of the estimator in, the configuration of a run on a recording out.

Kinds of values are checked here; what a value means is judged by the library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checks, _core, _threads
from ._warn import warn

if TYPE_CHECKING:
    from ._fitting import Fitting

#: What stands for a number of sources that is to be estimated.
ESTIMATES = ("auto", "mdl")


def configured(
    estimator: Fitting, recording: _core.Recording
) -> tuple[_core.Config, dict[str, Any] | None]:
    """The configuration, with number of sources and seed, and how that number was found; None where
    it was not estimated.
    """
    count = None
    asked, random_state = estimator.n_components, estimator.random_state
    _check_number(asked)
    if estimator.callback is not None and not callable(estimator.callback):
        raise ValueError(
            f"callback = {estimator.callback!r}: expected a function of one dict, or None"
        )
    max_iter, tol, restarts = estimator.max_iter, estimator.tol, estimator.n_restarts
    named = _checks.is_whole(asked)
    seeded = _checks.is_whole(random_state)
    config = _core.configure(
        preset=_checks.text("preset", estimator.preset, "'default', 'fast' or 'paper'"),
        mixer=_checks.text("mixer", estimator.mixer, "'affine' or 'mlp'"),
        config=estimator.config,
        n_components=_checks.whole("n_components", asked, 1) if named else None,
        max_iter=None if max_iter is None else _checks.whole("max_iter", max_iter, 0),
        tol=None if tol is None else _checks.number("tol", tol),
        n_restarts=None if restarts is None else _checks.whole("n_restarts", restarts, 1),
        seed=_checks.seed(random_state) if seeded else None,
        threads=_threads.resolve(estimator.n_jobs),
    )
    if _checks.is_share(asked):
        number = _checks.components_of_share(float(asked), recording.data, scale=config.scale)
        config = config.with_n_sources(number)
    elif config.n_sources == 0:
        if isinstance(asked, str):
            count = recording.count_sources(asked, center=config.center, scale=config.scale)
        number = recording.n_channels if count is None else count["n_sources"]
        config = config.with_n_sources(number)
    if not seeded and not config.seed_named:
        config = config.with_seed(_checks.seed(random_state))
    return _without_long_patches(config, recording), count


def _check_number(asked: object) -> None:
    """Refuses what is neither a number of sources, a share, "auto", "mdl" nor None."""
    if asked is None or _checks.is_whole(asked) or _checks.is_share(asked):
        return
    if not isinstance(asked, str) and not isinstance(asked, (float, np.floating)):
        _checks.whole("n_components", asked, 1)
    if asked not in ESTIMATES:
        raise ValueError(
            f"n_components = {asked!r}: expected a whole number, a share of the variance between 0"
            " and 1, 'auto', 'mdl' or None"
        )


def _without_long_patches(config: _core.Config, recording: _core.Recording) -> _core.Config:
    """Leaves out patch sizes of the preset of which the recording does not hold two."""
    config, left_out = config.for_recording(recording)
    if left_out:
        sizes = ", ".join(map(str, left_out))
        gaps = " without missing values" if recording.n_missing else ""
        short, longer = f"{recording.n_samples} samples are too few", "a longer recording"
        if recording.n_pieces > 1:
            longest = max(recording.pieces)
            short, longer = f"pieces of at most {longest} samples are too short", "longer pieces"
        warn(
            f"{short} for two patches of {sizes} samples{gaps}: these patch sizes are left"
            f" out; use {longer}, or choose them: config={{'branches.patch_sizes': [...]}}"
        )
    return config
