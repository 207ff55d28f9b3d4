"""Warnings that point at the line of the user, however many calls of this package, scikit-learn and
joblib lie in between.
"""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
#: Packages whose calls of an estimator are not the user's own.
_BETWEEN = ("sklearn", "joblib")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns of something at the innermost line that lies outside of these packages."""
    skipped = [_HERE]
    for name in _BETWEEN:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None:
            skipped.append(os.path.dirname(os.path.abspath(file)) + os.sep)
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(tuple(skipped)):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
