"""Running extremes and their positions, running log-sums: functions of all elements up to each one along an axis.

By doubling (Hillis and Steele, "Data parallel algorithms", 1986): step k combines each element with the one 2**k before
it, so there are log2(n) steps, each one kernel. Sums and products have a runtime function (``sorting.cumulative``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from mlc.dialects.semantics.dims import Dim
from mlc.dialects.types import is_float
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.control.loops import Iteration, emit_loop
from mlc.frontends.build.ops.functions import LOGADDEXP
from mlc.frontends.build.tensors import Tensor

MOST_STEPS = 62  # of a symbolic extent
Strings = Sequence[str]
Combine = Callable[[Strings, Strings], Strings]
"""Expressions of what comes of the states' elements before, and after."""


def running_extreme(build: Builder, fn: str, x: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """``max`` or ``min`` of the elements of ``x`` up to each one, and the position (i64) of the last that equals it;
    NaN, where there is one, of which the last counts."""
    sign = ">=" if fn == "max" else "<="

    def later_counts(before: Strings, after: Strings) -> list[str]:
        test = f"({after[0]} {sign} {before[0]})"
        test = f"({test} | ({after[0]} != {after[0]}))" if is_float(x.element) else test
        return [f"where({test}, {b}, {a})" for a, b in zip(before, after, strict=True)]

    positions = build.compute(f"i64(i{axis})", [], x.shape)
    y, at = _running(build, [x, positions], axis, later_counts)
    return y, at


def running_log_sum_exp(build: Builder, x: Tensor, axis: int) -> Tensor:
    """ln of the sum of exp of the elements of ``x`` up to each one, made in at least f32."""

    def added(before: Strings, after: Strings) -> list[str]:
        own = {"x0": before[0], "x1": after[0]}
        return [re.sub(r"\bx[01]\b", lambda found: own[found[0]], LOGADDEXP)]

    return build.cast(_running(build, [build.wide(x)], axis, added)[0], x.element)


def _running(build: Builder, states: list[Tensor], axis: int, combine: Combine) -> list[Tensor]:
    """The states, of one shape, of all elements up to each one along ``axis``."""
    extent = states[0].shape[axis]
    if isinstance(extent, int):
        for k in range(max(extent - 1, 0).bit_length()):
            states = _doubled(build, states, axis, str(1 << k), combine)
        return states

    def step(k: Dim, given: list[Tensor]) -> Iteration:
        more = build.compute(f"(i64(2) << i64({k})) < i64({extent})", [], ())
        return Iteration(_doubled(build, given, axis, f"(i64(1) << i64({k}))", combine), condition=more)

    return emit_loop(build, MOST_STEPS, states, step)


def _doubled(build: Builder, states: Sequence[Tensor], axis: int, distance: str, combine: Combine) -> list[Tensor]:
    """Each element combined with the one ``distance`` before it, where there is one."""
    names = [f"i{n}" for n in range(states[0].rank)]
    earlier = ", ".join(f"max({i} - {distance}, 0)" if n == axis else i for n, i in enumerate(names))
    before, after = ([f"x{n}[{at}]" for n in range(len(states))] for at in (earlier, ", ".join(names)))
    strings = [f"where(i{axis} >= {distance}, {y}, {b})" for y, b in zip(combine(before, after), after, strict=True)]
    return [build.compute(text, list(states), states[0].shape) for text in strings]
