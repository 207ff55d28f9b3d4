"""Names of types that several modules share; nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Union

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[Any]"
"""An array of float64, or of float32 where that came in."""

RandomState: TypeAlias = Union[int, np.random.RandomState, np.random.Generator, None]
"""What ``random_state`` may be."""

Callback: TypeAlias = Callable[[dict[str, Any]], object]
"""Told about a run while it goes on; a true return value stops it."""
