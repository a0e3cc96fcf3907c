"""Derivatives of ``graph.custom``, by the rule that the user gave."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from mlc.dialects.autodiff.branches import is_float, or_zeros
from mlc.dialects.autodiff.emitting import Adjoints, Emit, filled
from mlc.dialects.autodiff.forward import REGIONS as FORWARD
from mlc.dialects.autodiff.forward import Tangents, pushforward
from mlc.dialects.autodiff.reverse import REGIONS as REVERSE
from mlc.dialects.autodiff.reverse import pullback
from mlc.dialects.graph import ReshapeOp
from mlc.dialects.graph.copies import copied
from mlc.dialects.graph.custom import CustomOp
from mlc.dialects.types import element_of, shape_of


def of_custom(op: CustomOp, bars: Adjoints, needed: Sequence[bool], emit: Emit) -> Adjoints:
    match op.rule.data:
        case "recompute":
            xs = [emit(ReshapeOp(x, shape_of(x), barrier=True)) for x in op.used]
            ys, _ = copied(op.body, xs, emit)
            known = [(y, bar) for y, bar in zip(ys, bars, strict=True) if bar is not None]
            return pullback([y for y, _ in known], xs, [bar for _, bar in known], emit)
        case "vjp":
            seeds = [or_zeros(bar, y, emit) for y, bar in zip(op.res, bars, strict=True) if is_float(y)]
            return _spread(op, copied(op.derivative, [*op.used, *seeds], emit)[0])
        case "jvp":
            tangents = _zeros(op.used[: op.count.value.data], emit)
            along, _ = copied(op.derivative, [*op.used, *tangents], emit)
            seeds = [bar for y, bar in zip(op.res, bars, strict=True) if is_float(y)]  # type: ignore[misc]
            return _spread(op, pullback(along, tangents, [*seeds], emit))
    return [None] * len(op.used)


def along_custom(op: CustomOp, given: Tangents, emit: Emit) -> Tangents:
    floats = [n for n, x in enumerate(op.used[: op.count.value.data]) if is_float(x)]
    wanted = [n for n, y in enumerate(op.res) if is_float(y)]
    made: Tangents = [None] * len(wanted)
    match op.rule.data:
        case "recompute":
            ys, _ = copied(op.body, op.used, emit)
            return pushforward(ys, op.used, given, emit)
        case "jvp":
            tangents = [or_zeros(given[n], op.used[n], emit) for n in floats]
            made = [*copied(op.derivative, [*op.used, *tangents], emit)[0]]
        case "vjp":
            seeds = _zeros(op.res, emit)
            bars, _ = copied(op.derivative, [*op.used, *seeds], emit)
            made = pullback(bars, seeds, [given[n] for n in floats], emit)
    found = dict(zip(wanted, made, strict=True))
    return [found.get(n) for n in range(len(op.res))]


def _zeros(xs: Sequence[SSAValue], emit: Emit) -> list[SSAValue]:
    """Return a tensor of zeros for each float in ``xs``. A linear function is differentiated at these placeholders."""
    return [filled(emit, 0, element_of(x), shape_of(x)) for x in xs if is_float(x)]


def _spread(op: CustomOp, bars: Sequence[SSAValue | None]) -> Adjoints:
    """Return the adjoints of all used values, from the adjoints ``bars`` of the floats among the differentiated
    values."""
    rest = iter(bars)
    return [next(rest) if n < op.count.value.data and is_float(x) else None for n, x in enumerate(op.used)]


REVERSE[CustomOp], FORWARD[CustomOp] = of_custom, along_custom
