"""Derivatives of reductions (sum, maximum, minimum, product) of an axis, a window, or any statement."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from mlc.dialects.autodiff.emitting import WIDE, Adjoints, Emit, mapped, moved_back, reshaped, stretched, summed
from mlc.dialects.autodiff.operators import derivative
from mlc.dialects.autodiff.scalar import NoDerivative
from mlc.dialects.autodiff.statements import of_statements, through_statements
from mlc.dialects.graph import ComputeOp, PoolOp, ReduceOp, TransposeOp, ints_of
from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.semantics.expr import Expr, Index, substitute
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.types import element_of, shape_of


@derivative(ReduceOp)
def of_reduce(op: ReduceOp, bar: SSAValue, emit: Emit) -> Adjoints:
    return [_of_reduced(op.fn.data, op.input, op.result, bar, ints_of(op.axes), emit)]


@derivative(ComputeOp)
@derivative(PoolOp)
def of_compute(op: ComputeOp | PoolOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """For a maximum or minimum, the first element of a window that attains it gets the adjoint. A product is
    differentiated as the reduction of a tensor of all combined terms."""
    (s,) = op.statements()
    if s.monoid in (None, "add"):
        return through_statements(op, bar, emit)
    if s.monoid in ("max", "min"):
        return _of_chosen(op, s, bar, emit)
    names: dict[str, Expr] = {name: Index(f"i{n}") for n, name in enumerate(s.iters)}
    every = ComputeOp(str(substitute(s.value, index=lambda i: names.get(i.name, i))), list(op.operands), s.bounds)
    axes = [n for n, reduced in enumerate(s.reduction) if reduced]
    inner = _of_reduced(str(s.monoid), emit(every), op.result, bar, axes, emit)
    return through_statements(every, inner, emit)


def _of_chosen(op: ComputeOp | PoolOp, s: Statement, bar: SSAValue, emit: Emit) -> Adjoints:
    """For a maximum or minimum, pass the whole adjoint to the first position in the window that attains it, or that is
    NaN (as PyTorch's and JAX's ``max_pool`` do)."""
    value, outer, window = _in_window(s)
    at, place = [f"i{n}" for n in range(len(outer))], "0"
    for n, size in enumerate(window):
        place = f"({place} * ({size}) + r{n})"
    here = f"x{len(op.operands)}[{', '.join(at) or '()'}]"
    attained = f"where(({value} == {here}) | ({value} != {value}), {place}, {product(window)})"
    first = emit(ComputeOp(attained, [*op.operands, op.result], outer, window, "min"))
    reduced, bounds = " ".join(f"r{n}" for n in range(len(window))), (*outer, *window)
    chosen = statement(" ".join(at), bounds, f"where({here} == {place}, {value}, 0)", reduce=reduced, monoid="add")
    return of_statements([chosen], [*op.operands, first], bar, emit)[:-1]


def _in_window(s: Statement) -> tuple[Expr, list[DimLike], list[DimLike]]:
    """Return the value of a statement in the iterators i0, … of the result and r0, … of its window, and the extents of
    both."""
    inner = [n for n, reduced in enumerate(s.reduction) if reduced]
    outer = [n for n, reduced in enumerate(s.reduction) if not reduced]
    names: dict[str, Expr] = {s.iters[n]: Index(f"i{k}") for k, n in enumerate(outer)}
    names |= {s.iters[n]: Index(f"r{k}") for k, n in enumerate(inner)}
    value = substitute(s.value, index=lambda i: names.get(i.name, i))
    return value, [s.bounds[n] for n in outer], [s.bounds[n] for n in inner]


def _of_reduced(fn: str, x: SSAValue, y: SSAValue, bar: SSAValue, axes: Sequence[int], emit: Emit) -> SSAValue:
    """Return the adjoint of the input. A sum passes the adjoint on. A maximum or minimum divides it equally among the
    elements that attain it, as JAX and PyTorch's ``amax`` do. A product multiplies it by the product of the other
    elements, which may be 0."""
    shape, element = shape_of(x), element_of(x)
    kept = [1 if n in axes else d for n, d in enumerate(shape)]
    bar, y = reshaped(emit, bar, kept), reshaped(emit, y, kept)
    if fn == "add":
        return stretched(emit, bar, shape)
    if fn in ("max", "min"):
        wide = WIDE[element]
        count = summed(emit, mapped(emit, f"{wide}(x0 == x1)", x, y), axes, keepdims=True)
        return mapped(emit, f"where(x0 == x1, {element}({wide}(x2) / x3), 0)", x, y, bar, count)
    if fn == "mul":
        return mapped(emit, "x0 * x1", _products_of_others(x, axes, emit), bar)
    raise NoDerivative(f"a reduction by {fn} has no derivative")


def _products_of_others(x: SSAValue, axes: Sequence[int], emit: Emit) -> SSAValue:
    """Emit, for each element of ``x``, the product of the others along ``axes``: quadratic in time, but not in
    memory."""
    shape, outer = shape_of(x), [n for n in range(len(shape_of(x))) if n not in axes]
    perm, kept, size = [*outer, *axes], [shape[n] for n in outer], product(shape[n] for n in axes)
    rows = reshaped(emit, emit(TransposeOp(x, perm)), (*kept, size))
    read = f"x0[{', '.join([*(f'i{n}' for n in range(len(kept))), 'r0'])}]"
    others = f"where(i{len(kept)} == r0, {element_of(x)}(1), {read})"
    products = emit(ComputeOp(others, [rows], (*kept, size), [size], "mul"))
    return moved_back(emit, reshaped(emit, products, [shape[n] for n in perm]), perm)
