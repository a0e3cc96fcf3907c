"""How far an array is from the one that it should be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

TOLERANCES = {"float64": 1e-10, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
"""By element type: what rounding may add up to, as a share of the largest value."""
COARSE = 0.3  # floats of 8 bits and less
LEVELS = 255  # of an integer of 8 bits, which may be one off: its value may lie between two


@dataclass(frozen=True)
class Difference:
    """``error``: the largest difference over the largest value; infinite where shapes, types, NaN, infinities or exact
    values differ. ``at``: the index of that difference, with both values as text; None where shapes or types differ.
    """

    error: float
    tolerance: float
    at: tuple[int, ...] | None = None
    found: str = ""
    wanted: str = ""

    @property
    def right(self) -> bool:
        return self.error <= self.tolerance

    def __str__(self) -> str:
        where = "" if self.at is None else f" at {list(self.at)}"
        values = f"{where}: {self.found}, expected {self.wanted}" if self.found else ""
        return f"{self.error:.1e}{values if self.error else ''}"


def difference(found: Array, wanted: Array, tolerance: float | None = None) -> Difference:
    """Compare two arrays. The ``tolerance`` for floats is that of the element type unless given; integers of 8 bits may
    be one off; all else is exact.
    """
    if found.shape != wanted.shape or _kind(found) != _kind(wanted):
        return Difference(float("inf"), 0.0, None, _form(found), _form(wanted))
    allowed = _tolerance(wanted.dtype, tolerance)
    if not wanted.size:
        return Difference(0.0, allowed)
    off, scale = _distances(found, wanted)
    at = tuple(int(n) for n in np.unravel_index(int(off.argmax()), off.shape))
    return Difference(float(off[at] / scale) if off[at] else 0.0, allowed, at, _text(found[at]), _text(wanted[at]))


def worst_of(found: Iterable[Difference]) -> Difference:
    """The difference that is furthest beyond its tolerance, of at least one."""
    return max(found, key=lambda each: each.error - each.tolerance)


def _kind(x: Array) -> str:
    return "U" if x.dtype.kind in "OSU" else x.dtype.kind


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether elements are rounded: a float of any width."""
    return dtype.kind in "fc" or "float" in dtype.name


def _tolerance(dtype: np.dtype[Any], given: float | None) -> float:
    if is_float(dtype):
        return TOLERANCES.get(dtype.name, COARSE) if given is None else given
    return 1.01 / LEVELS if dtype.kind in "iu" and dtype.itemsize == 1 else 0.0


def _distances(found: Array, wanted: Array) -> tuple[Array, float]:
    """The difference of each element, and what it is measured by."""
    if not is_float(wanted.dtype):
        equal = found == wanted
        if wanted.dtype.kind in "iu" and wanted.dtype.itemsize == 1:
            return np.abs(found.astype(np.float64) - wanted.astype(np.float64)), LEVELS
        return np.where(equal, 0.0, np.inf), 1.0
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    x, y = found.astype(wide), wanted.astype(wide)
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    with np.errstate(invalid="ignore"):
        off = np.where(same, 0.0, np.abs(x - y))
    off[np.isnan(off)] = np.inf
    finite = np.abs(y[np.isfinite(y)])
    return off, float(finite.max(initial=0.0)) or 1.0


def _form(x: Array) -> str:
    return f"{x.dtype}{list(x.shape)}"


def _text(value: Any) -> str:
    return f"{float(value):g}" if is_float(np.asarray(value).dtype) and not np.iscomplexobj(value) else str(value)
