"""Reads and writes of arrays whose elements are known, by NumPy: no index is part of a program.

A write copies the elements unless nothing but the array holds them: another array, a view, a caller of ``x.numpy()``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from mlc.frontends.array.array import Array

BASIC = (int, slice, type(None), type(Ellipsis), bool, np.integer, np.ndarray, list, np.bool)
OWN = 3
"""References to elements that nothing else holds: of the array, of a local variable, of the call that counts."""


def read(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Array | None:
    """``x[key]``. None where the read must be recorded, or is an error."""
    x, key = args
    if not _is_known(x):
        return None
    at = _of_numpy(key)
    if at is None:
        return None
    try:
        return Array.of(np.asarray(x.value[at[0]]))
    except (IndexError, TypeError, ValueError):
        return None


def write(x: Array, key: Any, value: Any) -> bool:
    """Do ``x[key] = value`` if possible, and return whether it is done."""
    at = _of_numpy(key) if _is_known(x) else None
    if at is None or (isinstance(value, Array) and not _is_known(value)):
        return False
    given = value.value if isinstance(value, Array) else value
    old = x.value
    assert old is not None
    owned = x._record is None and old.flags.owndata and old.flags.writeable and sys.getrefcount(old) == OWN
    new = old if owned else old.copy()
    new[at[0]] = given
    x.become(Array.of(new))
    return True


def _is_known(x: Any) -> bool:
    """Whether a real array has elements, and no derivative is taken through it."""
    return x.__class__ is Array and x.value is not None and (x._record is None or not x._record.variables)


def _of_numpy(key: Any) -> tuple[Any] | None:
    """The key with NumPy's arrays, in a tuple; None where not all of it is known."""
    if not isinstance(key, tuple):
        found = _part(key)
        return None if found is _part else (found,)
    parts = [_part(each) for each in key]
    return None if any(each is _part for each in parts) else (tuple(parts),)


def _part(each: Any) -> Any:
    """A part of a key for NumPy; this function itself where there is none."""
    if isinstance(each, Array):
        return each.value if _is_known(each) and each.value is not None and each.value.dtype.kind in "iub" else _part
    if isinstance(each, list):
        try:
            found = np.asarray(each)
        except ValueError:
            return _part
        return found if found.dtype.kind in "iub" and found.size else _part
    if isinstance(each, slice):
        bounds = (each.start, each.stop, each.step)
        return each if all(n is None or isinstance(n, int | np.integer) for n in bounds) else _part
    return each if isinstance(each, BASIC) and getattr(each, "dtype", np.dtype(int)).kind in "iub" else _part
