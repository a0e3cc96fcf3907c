"""Derivatives of scatters, which write rows at computed indices or combine rows by a sum, product or extreme value."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from mlc.dialects.autodiff.emitting import Adjoints, Emit, computed, filled
from mlc.dialects.autodiff.operators import derivative
from mlc.dialects.graph import ComputeOp, ScatterOp
from mlc.dialects.types import element_of, shape_of


@derivative(ScatterOp)
def of_scatter(op: ScatterOp, bar: SSAValue, emit: Emit) -> Adjoints:
    return _RULES[op.reduction.data](op, bar, emit)


def _of_write(op: ScatterOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """Return the adjoints: updates get ``bar`` at their indices; data gets ``bar``, but 0 at overwritten indices.

    Where one index is written several times, the last update alone gets the adjoint, as its value alone is kept.
    """
    last = _at(op, 2, "0")
    operands = [bar, op.indices, _writers(op, emit)]
    updates = computed(emit, f"where({last} == i0, {_inside(op, _at(op))}, 0)", operands, shape_of(op.updates))
    zeros = filled(emit, 0, element_of(bar), shape_of(op.updates))
    return [emit(ScatterOp("none", bar, op.indices, zeros)), None, updates]


def _of_sum(op: ScatterOp, bar: SSAValue, emit: Emit) -> Adjoints:
    return [bar, None, computed(emit, _inside(op, _at(op)), [bar, op.indices], shape_of(op.updates))]


def _of_product(op: ScatterOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """Return the adjoints: each factor of a row gets the product of the others, by division where none of them is 0.

    ``zeros`` is the number of zeros among the factors of a row, and ``left`` is the sum of these, which is 0: it makes
    the second derivatives correct where one or two factors are 0.
    """
    element, rows, shape = element_of(bar), shape_of(op.data), shape_of(op.updates)
    whole = _combined(op, "mul", op.updates, emit)
    data = computed(emit, "x0[i0, i1] * x1[i0, i1]", [bar, whole], rows)
    split = [f"where(x0[i0, i1] == 0, {a}, {b})" for a, b in [("1", "x0[i0, i1]"), ("1", "0"), ("x0[i0, i1]", "0")]]
    factors, is_zero, zero = (computed(emit, f"{element}({each})", [op.updates], shape) for each in split)
    product = _combined(op, "mul", factors, emit)
    zeros, left = (_combined(op, "add", each, emit) for each in (is_zero, zero))
    outer = computed(emit, "x0[i0, i1] * x1[i0, i1] * x2[i0, i1]", [bar, op.data, product], rows)
    count, rest, own = _at(op, 2), _at(op, 3), "x4[i0, i1]"
    of_zero = f"where({count} == 1, 1, where({count} == 2, {rest} - {own}, 0))"
    of_others = f"where({count} == 0, 1, where({count} == 1, {rest}, 0)) / x5[i0, i1]"
    value = f"{_at(op)} * where({own} == 0, {of_zero}, {of_others})"
    operands = [outer, op.indices, zeros, left, op.updates, factors]
    return [data, None, computed(emit, _inside(op, value), operands, shape)]


def _of_extreme(op: ScatterOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """Return the adjoints: the elements that attain the maximum or minimum of a row share the adjoint equally."""
    element, rows, shape = element_of(bar), shape_of(op.data), shape_of(op.updates)
    attained = f"{element}(where(x2[i0, i1] == {_at(op)}, 1, 0))"
    hits = computed(emit, _inside(op, attained), [op.result, op.indices, op.updates], shape)
    own = computed(emit, f"{element}(where(x0[i0, i1] == x1[i0, i1], 1, 0))", [op.result, op.data], rows)
    count = emit(ScatterOp("add", own, op.indices, hits))
    part = computed(emit, "x0[i0, i1] / max(x1[i0, i1], 1)", [bar, count], rows)
    data = computed(emit, "x0[i0, i1] * x1[i0, i1]", [part, own], rows)
    return [data, None, computed(emit, _inside(op, f"{_at(op)} * x2[i0, i1]"), [part, op.indices, hits], shape)]


_RULES: dict[str, Callable[[ScatterOp, SSAValue, Emit], Adjoints]] = {
    "none": _of_write,
    "add": _of_sum,
    "mul": _of_product,
    "max": _of_extreme,
    "min": _of_extreme,
}


def _at(op: ScatterOp, n: int = 0, column: str = "i1") -> str:
    """Return the expression of operand ``n`` in the row that an update writes; operand 1 is the indices."""
    return f"x{n}[min(max(x1[i0], 0), {shape_of(op.data)[0]} - 1), {column}]"


def _inside(op: ScatterOp, value: str) -> str:
    """Return an expression: ``value``, but 0 for updates that are skipped because their index is out of bounds."""
    return f"where((x1[i0] >= 0) & (x1[i0] < {shape_of(op.data)[0]}), {value}, 0)"


def _combined(op: ScatterOp, reduction: str, updates: SSAValue, emit: Emit) -> SSAValue:
    """Emit the sum or product of the updates of each row of the data."""
    neutral = filled(emit, int(reduction == "mul"), element_of(updates), shape_of(op.data))
    return emit(ScatterOp(reduction, neutral, op.indices, updates))


def _writers(op: ScatterOp, emit: Emit) -> SSAValue:
    """Emit [rows of the data, 1]: the number of the update that is kept in each row, -1 if there is none."""
    rows, count = shape_of(op.data)[0], shape_of(op.indices)[0]
    none, numbers = filled(emit, -1, "i64", (rows, 1)), emit(ComputeOp("i0", [], (count, 1)))
    return emit(ScatterOp("none", none, op.indices, numbers))
