"""Constant masks: band matrices that exclude scores from a maximum, such as the causal mask of an attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.ir import Operation

from mlc.dialects.graph import ComputeOp, MapOp, ReduceOp, StructuredOp
from mlc.dialects.semantics.band import bands_of
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.semantics.expr import COMPARISONS, Call, Const, Load, parse, walk
from mlc.dialects.types import bytes_of, element_of, element_of_dtype, is_float, lowest, shape_of

MASK_LIMIT = 1 << 28  # bytes of a mask that is larger than its operands


def may_be_mask(op: StructuredOp) -> bool:
    """Return whether the result of ``op`` may be a mask, judged by its operator, its element type and its size."""
    result = op.results[0]
    if not isinstance(op, ComputeOp | MapOp) or not (element_of(result) == "i1" or is_float(element_of(result))):
        return False
    chooses = any(isinstance(e, Call) and e.fn in (*COMPARISONS, "where") for e in walk(parse(op.expr.data)))
    return chooses and len(shape_of(result)) > 1 and cast(int, bytes_of(result)) <= MASK_LIMIT


def excludes_scores(mask: Operation, readers: Sequence[MapOp]) -> bool:
    """Return whether a maximum reads the result of some of ``readers``, and all others are ``where(mask, …, 0)``, as
    the derivative of masked scores is."""
    others = [op for op in readers if not _reaches_maximum(op)]
    return len(others) < len(readers) and all(_is_0_outside(op, mask) for op in others)


def _is_0_outside(op: MapOp, mask: Operation) -> bool:
    """Return whether a map computes ``where(mask, …, 0)``."""
    chosen = (e.args for e in walk(op.scalar) if isinstance(e, Call) and e.fn == "where")
    return any(isinstance(c, Load) and op.args[c.operand].owner is mask and other == Const(0) for c, _, other in chosen)


def _reaches_maximum(op: Operation) -> bool:
    """Return whether a maximum reads the result of ``op``, or what a chain of elementwise operators computes from
    it."""
    found = [op]
    for each in found:
        readers = [u.operation for u in each.results[0].uses]
        if any(isinstance(o, ReduceOp) and o.fn.data == "max" for o in readers):
            return True
        found += [o for o in readers if isinstance(o, MapOp) and o not in found]
    return False


def is_mask(array: Array) -> bool:
    """Return whether an array is a band matrix of conditions, or of numbers whose value outside the band is -∞ or the
    least of the type."""
    if array.dtype == bool:
        return bool(bands_of(array))
    element = element_of_dtype(array.dtype)
    least = lowest(element) if is_float(element) else -np.inf
    return any(float(band.outside) <= least for band in bands_of(array))
