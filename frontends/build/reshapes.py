"""Reshapes between shapes whose numbers of elements are only equal at some sizes: a guard, and extents as it says.

    [c, h, w] as [c, h//2, 2, w//2, 2]:   h and w are multiples of 2, [c, h, w] is cut to [c, 2*(h//2), 2*(w//2)]
    [a, b] as [c, d]:                     a*b == c*d
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.build.folding.fold import at_least
from mlc.frontends.build.folding.prove import never_zero
from mlc.frontends.build.tensors import Tensor

if TYPE_CHECKING:
    from mlc.frontends.build.methods.movement import Movement

MOST_DIFFERENT = 256  # of two extents that a guard makes equal one by one


def with_elements(build: Movement, x: Tensor, shape: Sequence[DimLike]) -> Tensor:
    """``x``, in a shape with as many elements as ``shape`` has, which guards require; as it is where that cannot be."""
    had, has = product(x.shape), product(shape)
    if never_zero(had - has):
        return x
    extents = _extents_like(x.shape, shape)
    if extents is not None:
        for axis, extent in enumerate(extents):
            build.require_equal(x.shape[axis], extent)
            x = build.cut(x, axis, 0, extent)
        return x
    build.require_equal(had, has)
    return build.cut(build.reshape(x, [had]), 0, 0, has)


def _extents_like(shape: Sequence[DimLike], wanted: Sequence[DimLike]) -> list[DimLike] | None:
    """An extent for each of ``shape``, close to it, that is a product of consecutive ones of ``wanted``."""
    extents: list[DimLike] = []
    rest = list(wanted)
    for d in shape:
        length = next((n for n in range(len(rest) + 1) if _close(d, product(rest[:n]))), None)
        if length is None:
            return None
        extents.append(product(rest[:length]))
        rest = rest[length:]
    return extents if product(rest) == 1 else None


def _close(extent: DimLike, other: DimLike) -> bool:
    """Whether one extent is the other, or at most some more."""
    return extent == other or bool(at_least(extent, other) and at_least(other + MOST_DIFFERENT, extent))
