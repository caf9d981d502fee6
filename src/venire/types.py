"""Names for the arrays that pass between functions; shapes are in the docstrings."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Codes: TypeAlias = NDArray[np.int32]
Bools: TypeAlias = NDArray[np.bool_]
Words: TypeAlias = NDArray[np.uint64]
Octets: TypeAlias = NDArray[np.uint8]
Places: TypeAlias = Ints | Codes | Bools
if TYPE_CHECKING:  # numpy.random takes time to load, and most evaluations draw nothing
    RNGLike: TypeAlias = int | np.random.Generator | np.random.SeedSequence | None
else:
    RNGLike: TypeAlias = object
