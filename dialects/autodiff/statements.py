"""The derivative of a statement, from its expression and its indices.

    out[w(i)] += f(x[r(i)], …)   →   x̄[j] = Σ over i with r(i) = j of ∂f/∂x(i) · ōut[w(i)]

If the indices r are affine, j determines some iterators, and the sum is over the others: the adjoint of x[2*i + k] at j
reads i = (j - k) // 2, if this is a point of the loop. If the indices are not affine (a gather), each point of the
loop adds at a computed index: graph.scatter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from mlc.dialects.autodiff.emitting import WIDE, Adjoints, Emit, added, cast, computed, filled, reshaped
from mlc.dialects.autodiff.scalar import NoDerivative, Part, pullback
from mlc.dialects.graph import ScatterOp, StructuredOp
from mlc.dialects.semantics.dims import Dim, DimError, DimLike, parse_dim, product, symbols_of
from mlc.dialects.semantics.expr import Call, Const, Expr, Index, Load, loads, parse, substitute, walk
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import element_of, shape_of

Bounds = Mapping[str, DimLike]


def through_statements(op: StructuredOp, bar: SSAValue, emit: Emit) -> Adjoints:
    """Return the contribution of ``op`` to the adjoints of its operands, where ``bar`` is the adjoint of its result.

    Raises:
        NoDerivative: a statement has a monoid other than ``add``.
    """
    return of_statements(op.statements(), op.operands, bar, emit)


def of_statements(
    statements: Sequence[Statement], operands: Sequence[SSAValue], bar: SSAValue, emit: Emit
) -> Adjoints:
    """Return the contribution of ``statements`` over ``operands`` to the adjoints of the operands."""
    xs = [*operands, bar]
    elements = [element_of(x) for x in xs]
    found: dict[int, list[SSAValue]] = {}
    for s in (_renamed(s) for s in statements if 0 not in s.bounds):
        if s.monoid not in (None, "add"):
            raise NoDerivative(f"a statement that combines by {s.monoid} has no derivative")
        for part in pullback(s.value, Load(len(operands), s.out), elements):
            found.setdefault(part[0].operand, []).append(_of_read(s, part, xs, emit))
    return [added(emit, found.get(n, [])) for n in range(len(operands))]


def _renamed(s: Statement) -> Statement:
    """Return the statement with iterators renamed to names that ``graph.compute`` does not use."""
    names: dict[str, Expr] = {name: Index(f"_{name}") for name in s.iters}
    out, value = tuple(_with(e, names) for e in s.out), _with(s.value, names)
    return Statement(tuple(f"_{n}" for n in s.iters), s.bounds, s.reduction, out, value, s.monoid)


def _with(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    return substitute(expr, index=lambda index: values.get(index.name, index))


def _of_read(s: Statement, part: Part, xs: Sequence[SSAValue], emit: Emit) -> SSAValue:
    load, g = part
    assert load.index is not None
    bounds = dict(zip(s.iters, s.bounds, strict=True))
    point = [f"i{n}" for n in range(len(load.index))]
    solved = _solve(load.index, point, shape_of(xs[load.operand]), bounds)
    if solved is None or any(loads(e) for e in load.index):
        return _scattered(load, g, bounds, xs, emit)
    return _summed(load, g, solved, bounds, xs, emit)


# -- affine indices, where the element determines iterators


def _solve(
    index: Sequence[Expr], point: Sequence[str], shape: Sequence[DimLike], bounds: Bounds
) -> dict[str, Expr] | None:
    """Solve ``index = point`` for iterators: return each determined iterator as an expression of ``point``. Indices
    that consist of one iterator are solved first.

    Return None if a dimension depends on iterators but determines none.
    """
    solved: dict[str, Expr] = {}
    left = list(range(len(index)))
    for plain in (True, False):
        for n in list(left):
            free = [name for name in bounds if name not in solved]  # iterators that are not reduced come first
            new = _inverse(_with(index[n], solved), point[n], shape[n], free, bounds, plain)
            if new is not None:
                solved = {name: _with(old, dict([new])) for name, old in solved.items()} | dict([new])
                left.remove(n)
    rest = {node.name for n in left for node in walk(index[n]) if isinstance(node, Index)}
    return solved if rest & bounds.keys() <= solved.keys() else None


def _inverse(
    e: Expr, at: str, extent: DimLike, free: Sequence[str], bounds: Bounds, plain: bool
) -> tuple[str, Expr] | None:
    """Return an iterator of the affine index ``e`` and its value at ``e = at``, clamped to its loop; None if there is
    none."""
    if plain:
        if not isinstance(e, Index) or e.name not in free:
            return None
        return e.name, Index(at) if bounds[e.name] == extent else _clamped(at, bounds[e.name])
    for name in free:
        line = _line(e, name)
        if line is not None:
            step, rest = line
            up = f"({at}) - ({rest})" if step > 0 else f"({rest}) - ({at})"
            return name, _clamped(up if abs(step) == 1 else f"({up}) // {abs(step)}", bounds[name])
    return None


def _clamped(number: str, bound: DimLike) -> Expr:
    return parse(f"max(min({number}, ({bound}) - 1), 0)")


def _line(e: Expr, name: str) -> tuple[int, DimLike] | None:
    """Return ``(step, rest)`` of an index ``step * name + rest``; None for other indices."""
    try:
        dim = parse_dim(str(e))
    except DimError:
        return None
    step = dict(dim.terms).get((name,), 0) if isinstance(dim, Dim) else 0
    rest = dim - step * Dim.symbol(name)
    return (step, rest) if step and name not in symbols_of([rest]) else None


def _summed(
    load: Load, g: Expr, solved: Mapping[str, Expr], bounds: Bounds, xs: Sequence[SSAValue], emit: Emit
) -> SSAValue:
    """Emit the sum, over the iterators that the element does not determine, of the points of the loop that read the
    element."""
    rest = [name for name in bounds if name not in solved]
    summed: dict[str, Expr] = {name: Index(f"r{n}") for n, name in enumerate(rest)}
    names = summed | {name: _with(e, summed) for name, e in solved.items()}
    value = _with(g, names)
    for n, e in enumerate(load.index or ()):
        again, at = _with(e, names), Index(f"i{n}")
        if again != at:
            value = Call("where", (Call("eq", (again, at)), value, Const(0)))
    return computed(emit, value, xs, shape_of(xs[load.operand]), [bounds[name] for name in rest])


# -- elements at computed indices


def _scattered(load: Load, g: Expr, bounds: Bounds, xs: Sequence[SSAValue], emit: Emit) -> SSAValue:
    """Emit a scatter by which each point of the loop adds to its element. Trailing dimensions, each indexed by an
    iterator of its own, form one row."""
    index, shape, element = load.index or (), shape_of(xs[load.operand]), element_of(xs[load.operand])
    first = len(index)
    while first and _moves_whole(index, first - 1, shape, bounds):
        first -= 1
    rows = [str(e) for e in index[first:]]
    points = [name for name in bounds if name not in rows]
    names: dict[str, Expr] = {name: Index(f"i{n}") for n, name in enumerate([*points, *rows])}
    row = _linear([_with(e, names) for e in index[:first]], shape)
    count, cells, width = product(bounds[p] for p in points), product(shape[:first]), product(shape[first:])
    indices = computed(emit, f"i64({row})", xs, [bounds[p] for p in points])
    updates = computed(emit, _with(g, names), xs, [bounds[p] for p in (*points, *rows)])
    wide = reshaped(emit, cast(emit, updates, WIDE[element]), (count, width))
    zeros = filled(emit, 0, WIDE[element], (cells, width))
    summed = emit(ScatterOp("add", zeros, reshaped(emit, indices, (count,)), wide))
    return reshaped(emit, cast(emit, summed, element), shape)


def _linear(index: Sequence[Expr], shape: Sequence[DimLike]) -> Expr:
    """Return the row-major index of an element of the leading dimensions."""
    place: Expr | None = None
    for e, d in zip(index, shape, strict=False):
        e = Call("i64", (e,)) if loads(e) and len(index) > 1 else e
        place = e if place is None else Call("add", (Call("mul", (place, parse(str(d)))), e))
    return Const(0) if place is None else place


def _moves_whole(index: Sequence[Expr], n: int, shape: Sequence[DimLike], bounds: Bounds) -> bool:
    """Return whether an iterator covers dimension ``n`` completely and indexes no dimension before it."""
    e = index[n]
    if not isinstance(e, Index) or bounds.get(e.name) != shape[n]:
        return False
    return all(e not in walk(other) for other in index[:n])
