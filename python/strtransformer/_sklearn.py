"""What this package takes from scikit-learn, in one place.

scikit-learn says nothing about types. ``_sklearn.pyi`` says it of the names below, so that a type
checker knows the estimators built on them and does not take them for anything at all.
"""

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ConvergenceWarning",
    "TransformerMixin",
    "check_array",
    "check_is_fitted",
    "check_random_state",
    "validate_data",
]
