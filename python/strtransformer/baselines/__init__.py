"""Classical blind source separation, as scikit-learn estimators: to compare with, and to start
from.

All whiten first as :class:`strtransformer.StrTransformer` does: channels centred and scaled, then
the first principal components; missing samples (NaN) are left out. Sources come out with variance
1, ordered by correlation time, short first. A run of ``StrTransformer`` starts from one of them
with ``config={"sources.init": "sobi"}`` (or ``fastica``, ``picard``, ``jade``, ``amuse``, ``nss``,
``wasobi``, ``efica``, ``multicombi``, or ``fast``, which is its default).

:class:`FastICA` and :func:`fastica` take the parameters of scikit-learn's, :class:`Picard` and
:func:`picard` those of python-picard, with the same meanings and defaults.

Ctrl-C does not interrupt these methods while they run: ``KeyboardInterrupt`` is raised when the fit
has returned.
"""

from ._distributions import EFICA, JADE, MultiCombi
from ._fastica import FastICA, fastica
from ._picard import DensityError, Picard, picard
from ._second_order import AMUSE, NSS, SOBI, WASOBI, Fast

__all__ = [
    "AMUSE",
    "DensityError",
    "EFICA",
    "Fast",
    "FastICA",
    "JADE",
    "MultiCombi",
    "NSS",
    "Picard",
    "SOBI",
    "WASOBI",
    "fastica",
    "picard",
]
