"""What a fitted model says of its sources: which to trust, what they look like, and the energy of
any trajectory under its branches.

In: the model and, where it is not in memory, the recording. Every number comes from ``_core``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._fitting import Fitting
from ._rows import DTYPES
from ._sklearn import check_array, check_is_fitted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Judging(Fitting):
    """The methods of the estimator that judge its sources."""

    @property
    def verdicts_(self) -> list[dict[str, Any]]:
        """Which sources to trust; worked out once, when it is first asked for."""
        return self._once("_verdicts", self.verdicts)

    def verdicts(
        self, X: ArrayLike | None = None, *, replicates: int = 20, reruns: int = 0
    ) -> list[dict[str, Any]]:
        """Which sources to trust: an error bar, replication scores and a finding for each.

        Do samples from which a model has not learned prefer a pair of sources to mixtures of the
        two? Spectra and changing variances are held out by folds; what they leave in doubt is held
        against simulated pairs of one spectrum, and then judged by forecasts and by networks that
        have learned from the other half of the recording.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording, default=None
            What the estimator was fitted on; only needed where it was loaded or unpickled since.
        replicates : int, default=20
            Recordings put together from blocks of this one, in which sources are looked for again
            by the kernel energy, as the preset ``"fast"`` has it.
        reruns : int, default=0
            Further runs with other seeds, in which sources are looked for again. Each takes the
            time of the fit.

        Returns
        -------
        list of dict
            One a source: ``source`` (its name, ``"s1"`` the first), ``finding`` (``"resolved"``,
            ``"mixed with s4"``, ``"not replicated"`` or ``"noise"``), ``mixed_with`` (columns of
            the sources from which it is not told), ``interference`` (the amplitude of others to
            be expected in it, 0 to 1), ``replication`` (the lowest correlation with which it was
            found again, or ``None``), ``found_again`` (the share of ``replicates`` that have it, or
            ``None``), ``restarts`` (in how many restarts it was found, and how many were compared,
            or ``None``), ``reruns`` (the share of those that have it, or ``None``), ``evidence``
            and ``structure`` (nats in favour of it over a mixture and over white noise),
            ``beyond_twins`` (standard deviations by which it differs more from another source than
            two of one spectrum, or ``None``), ``words``.
        """
        check_is_fitted(self)
        recording = self._recording_again(X)
        return self.model_.verdicts(recording, replicates=replicates, reruns=reruns)

    @property
    def labels_(self) -> list[dict[str, Any]]:
        """What the sources look like; worked out once, when it is first asked for."""
        return self._once("_labels", self.labels)

    def labels(self, X: ArrayLike | None = None) -> list[dict[str, Any]]:
        """What the sources look like: heart, breath, blinks, muscle, line noise, drift and so on.

        A proposal for somebody who looks at the source, from its course, its spectrum and, where
        places of electrodes are known, its weights. Most kinds need a sampling rate, which a
        ``Recording`` has.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), frame or Recording, default=None
            What the estimator was fitted on; only needed where it was loaded or unpickled since.

        Returns
        -------
        list of dict
            One a source: ``source`` (its name, ``"s1"`` the first), ``label`` (in words, such as
            ``"heart, 72 a minute"``), ``kind`` (``"heart"``), ``confidence`` (0.5 to 1),
            ``frequency`` (in Hz, of kinds that have one; in cycles per sample where no rate is
            known) and ``reason``. All but the first are ``None`` for a source that looks like
            nothing that is known.
        """
        check_is_fitted(self)
        return self.model_.labels(self._recording_again(X))

    def energy(self, X: ArrayLike | None = None, *, n_draws: int = 64) -> dict[str, Any]:
        """The structural energy of trajectories under the branches of the model.

        ``cost[k, j]`` is the error with which the networks of branch ``k`` predict hidden patches
        of trajectory ``j``, weighted by the patch sizes that the branch looks at: the cost matrix H
        of the paper's linear theorem, whose margin is Δ. (For ``assignment_margin_``, networks go
        with their sources instead of staying with their branches.)

        Parameters
        ----------
        X : array-like of shape (n_samples, n_trajectories), default=None
            Trajectories, one a column, such as true sources; the sources of the training data where
            nothing is given. They are read as the run reads its sources: standardised, unless
            ``sources.standardize`` is off. A sample with a NaN is missing in all.
        n_draws : int, default=64
            Draws of masks over which errors are averaged.

        Returns
        -------
        dict
            ``cost`` (n_components, n_trajectories), ``errors`` (n_components, n_trajectories,
            n_scales), and ``margin``: by how much the cheapest other assignment costs more than
            giving trajectory ``k`` to branch ``k``; ``None`` where there are not as many
            trajectories as branches, or only one.
        """
        check_is_fitted(self)
        if n_draws < 1:
            raise ValueError(f"n_draws: expected a whole number from 1, found {n_draws}")
        given = None
        if X is not None:
            given = check_array(
                X, dtype=DTYPES, ensure_all_finite="allow-nan", estimator=self, input_name="X"
            )
        cost, margin, errors = self.model_.energy(given, draws=n_draws)
        return {"cost": cost, "errors": errors.reshape(*cost.shape, -1), "margin": margin}

    def _once(
        self, name: str, judged: Callable[[], list[dict[str, Any]]]
    ) -> list[dict[str, Any]]:
        """What was worked out for this model, kept under a name."""
        check_is_fitted(self)
        known = self.__dict__.get(name)
        if known is None or known[0] is not self.model_:
            known = (self.model_, judged())
            setattr(self, name, known)
        judgement: list[dict[str, Any]] = known[1]
        return judgement
