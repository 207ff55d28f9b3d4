"""What all estimators of this package have in common: rows are samples of channels, NaN where values
are missing, and float32 stays float32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checks, _core
from ._sklearn import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    validate_data,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._typing import Floats

DTYPES = [np.float64, np.float32]
"""What rows and sources may be; others are converted to the first."""


class OfRows(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator that is fitted on rows of channels."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _rows(self, X: ArrayLike, reset: bool) -> Floats:
        """The rows as scikit-learn's checks leave them; `reset` where they are those of a fit."""
        return validate_data(
            self,
            _checks.table(X.data if isinstance(X, _core.Recording) else X),
            reset=reset,
            dtype=DTYPES,
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
        )
