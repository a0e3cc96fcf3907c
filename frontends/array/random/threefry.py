"""Threefry-2x32, a block cipher of 20 rounds as a generator: equal keys and positions give equal bits.

Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011); how keys are split and
positions are numbered is JAX's (with ``jax_threefry_partitionable``), so the bits are the same.
"""

from __future__ import annotations

import operator
from typing import Any

from mlc.dialects.semantics.dims import product
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array, known
from mlc.frontends.array.functions.creation import arange
from mlc.frontends.array.functions.elementwise import apply_map, convert
from mlc.frontends.array.functions.shapes import Extents, extents
from mlc.frontends.array.functions.shaping import reshape, stack

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA


def threefry(key: Array, high: Array, low: Array) -> tuple[Array, Array]:
    """Two words of 32 random bits for each counter of two words."""
    first, second = key[0], key[1]
    schedule = (first, second, apply_map(f"x0 ^ x1 ^ {PARITY}", first, second))
    x, y = apply_map("x0 + x1", high, first), apply_map("x0 + x1", low, second)
    for group in range(5):
        for distance in ROTATIONS[group % 2]:
            x = apply_map("x0 + x1", x, y)
            y = apply_map(f"((x0 << {distance}) | (x0 >> {32 - distance})) ^ x1", y, x)
        x = apply_map("x0 + x1", x, schedule[(group + 1) % 3])
        y = apply_map(f"x0 + x1 + {group + 1}", y, schedule[(group + 2) % 3])
    return x, y


def key(seed: Any) -> Array:
    """The key [2] of uint32 of a seed: an integer, or an array of rank 0."""
    if isinstance(seed, Array):
        wide = convert(seed, "ui64")
        return stack([_high(wide), _low(wide)])
    number = operator.index(seed) % 2**64
    return known([number >> 32, number & 0xFFFFFFFF], "ui32")


def _high(x: Array) -> Array:
    return apply_map("ui32(x0 >> 32)", x)


def _low(x: Array) -> Array:
    return apply_map("ui32(x0 & 4294967295)", x)


def checked(given: Any) -> Array:
    """The key as an array. Raises InputError for an array that is no key."""
    found = as_array(given)
    if found.element != "ui32" or found.shape != (2,):
        raise InputError(
            f"{found.dtype}{list(found.shape)} is no random key", hint="Make one by mlc.numpy.random.key(seed)"
        )
    return found


def words(given: Any, shape: Extents) -> tuple[Array, Array]:
    """Two words of random bits for each element of an array of this shape."""
    whole = extents(shape)
    counter = convert(arange(product(whole)), "ui64")
    high, low = threefry(checked(given), _high(counter), _low(counter))
    return reshape(high, whole), reshape(low, whole)


def split(key: Any, num: int = 2) -> Array:
    """``num`` new keys [num, 2]; use each once, and ``key`` no more."""
    return stack(words(key, num), axis=-1)


def fold_in(key: Any, data: Any) -> Array:
    """A new key for each integer, such as the number of a step; an array of rank 0 may be traced."""
    low = _low(convert(as_array(data), "ui64"))
    return stack(threefry(checked(key), apply_map("x0 ^ x0", low), low))


def bits(key: Any, shape: Extents = (), dtype: Any = "uint32") -> Array:
    """Random integers of a type without a sign, each value as likely as any other.

    Raises:
        InputError: another type.
    """
    element = dtypes.element(dtype)
    high, low = words(key, shape)
    if element == "ui64":
        return apply_map("(ui64(x0) << 32) | ui64(x1)", high, low)
    if element not in ("ui8", "ui16", "ui32"):
        raise InputError(f"Random bits as {dtype} cannot be drawn", hint="Give uint8, uint16, uint32 or uint64")
    return convert(apply_map("x0 ^ x1", high, low), element)
