"""Operators of the graph dialect as StableHLO operations, a function each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation

from mlc.dialects import graph
from mlc.dialects.graph.base import StructuredOp, dims_of, ints_of
from mlc.dialects.semantics.dims import parse_dim
from mlc.dialects.semantics.expr import Call, Expr, Load, loads, parse
from mlc.dialects.types import element_of
from mlc.dialects.weights import WeightStore
from mlc.errors import InputError
from mlc.export.stablehlo.ordered import argsort, scan, scatter
from mlc.export.stablehlo.products import contract, convolution, transposed_convolution
from mlc.export.stablehlo.scalars import Scalars
from mlc.export.stablehlo.statements import broadcast, combined, identity, reduction, reshaped, structured, transposed
from mlc.export.stablehlo.writer import Value, Writer, ints, type_of

Rule = Callable[[Writer, Any, Sequence[Value]], Value]


def _map(w: Writer, op: graph.MapOp, args: Sequence[Value]) -> Value:
    element, shape = type_of(op.result)

    def load(each: Load) -> Value:
        x = args[each.operand]
        return broadcast(w, x, shape, range(len(shape) - len(x.shape), len(shape)))

    elements = [x.element for x in args]
    scalars = Scalars(w, elements, shape, load, lambda name: broadcast(w, w.dim(parse_dim(name)), shape, []))
    return scalars.write(op.scalar, element)


def factors(w: Writer, op: Any, args: Sequence[Value]) -> list[Value] | None:
    """The operands of a product, cast as in ``i32(x0) * i32(x1)``; None for another one."""
    if op.product is None:
        return list(args)
    expr = parse(op.product.data)
    sides = sorted(expr.args, key=_first) if isinstance(expr, Call) and expr.fn == "mul" else []
    if [{load.operand for load in loads(side)} for side in sides] != [{0}, {1}]:
        return None
    made = []
    for n, side in enumerate(sides):
        scalars = Scalars(w, [x.element for x in args], args[n].shape, lambda load: args[load.operand], _no_index)
        made.append(scalars.write(side, element_of(op.results[0])))
    return made


def _first(side: Expr) -> int:
    return min((x.operand for x in loads(side)), default=0)


def _no_index(name: str) -> Value:
    raise InputError(f"export_stablehlo: a product that reads the index {name} has no form in StableHLO")


def _contract(w: Writer, op: graph.ContractOp, args: Sequence[Value]) -> Value:
    sides = factors(w, op, args)
    made = None if sides is None else contract(w, op, *sides)
    return structured(w, op, args) if made is None else made


def _conv(w: Writer, op: graph.ConvOp, args: Sequence[Value]) -> Value:
    sides = factors(w, op, args)
    return structured(w, op, args) if sides is None or not op.strides else convolution(w, op, *sides)


def _reduce(w: Writer, op: graph.ReduceOp, args: Sequence[Value]) -> Value:
    return reshaped(w, reduction(w, op.fn.data, args[0], ints_of(op.axes)), type_of(op.result)[1])


def _pool(w: Writer, op: graph.PoolOp, args: Sequence[Value]) -> Value:
    (x,) = args
    after = [1] * (len(x.shape) - 2 - len(op.kernel))
    window, strides, dilations = (ints([1, 1, *ints_of(a), *after]) for a in (op.kernel, op.strides, op.dilations))
    element, shape = type_of(op.result)
    scalar, rank = (element, ()), len(shape)
    (made,) = w.emit_regions(
        "reduce_window", [x, identity(w, op.fn.data, element)], [(element, shape)],
        [([scalar, scalar], lambda a: [combined(w, op.fn.data, *a)])], window_dimensions=window, window_strides=strides,
        window_dilations=dilations, base_dilations=ints([1] * rank), padding=f"dense<0> : tensor<{rank}x2xi64>",
    )  # fmt: skip
    return made


def _reshape(w: Writer, op: graph.ReshapeOp, args: Sequence[Value]) -> Value:
    return reshaped(w, args[0], type_of(op.result)[1])


def _transpose(w: Writer, op: graph.TransposeOp, args: Sequence[Value]) -> Value:
    return transposed(w, args[0], ints_of(op.perm))


def _broadcast(w: Writer, op: graph.BroadcastOp, args: Sequence[Value]) -> Value:
    shape = type_of(op.result)[1]
    return broadcast(w, args[0], shape, range(len(shape) - len(args[0].shape), len(shape)))


def _slice(w: Writer, op: graph.SliceOp, args: Sequence[Value]) -> Value:
    """A slice from the least index; a negative step reverses it."""
    (x,), shape, steps = args, type_of(op.result)[1], ints_of(op.steps)
    starts = [start + (n - 1) * step if step < 0 and n else start
              for start, n, step in zip(dims_of(op.starts), shape, steps, strict=True)]  # fmt: skip
    if 0 in shape:
        return w.splat(0, x.element, shape)
    if not all(isinstance(n, int) for n in starts):
        room = tuple((n - 1) * abs(step) + 1 for n, step in zip(shape, steps, strict=True))
        x = w.emit("dynamic_slice", [x, *map(w.dim, starts)], x.element, room, slice_sizes=ints(room))
        starts = [0] * len(starts)
    by = [abs(step) for step in steps]
    ends = [int(start) + (n - 1) * step + 1  # type: ignore[arg-type]
            for start, n, step in zip(starts, shape, by, strict=True)]  # fmt: skip
    first = [int(n) for n in starts]  # type: ignore[arg-type]
    if x.shape != shape or any(first):
        x = w.emit(
            "slice", [x], x.element, shape, start_indices=ints(first), limit_indices=ints(ends), strides=ints(by)
        )
    turned = [n for n, step in enumerate(steps) if step < 0]
    return w.emit("reverse", [x], x.element, shape, dimensions=ints(turned)) if turned else x


def _pad(w: Writer, op: graph.PadOp, args: Sequence[Value]) -> Value:
    (x,), (element, shape) = args, type_of(op.result)
    low, high = ([int(n) for n in dims_of(each)] for each in (op.low, op.high))  # type: ignore[arg-type]
    return w.emit("pad", [x, w.splat(op.number, element)], element, shape, edge_padding_low=ints(low),
                  edge_padding_high=ints(high), interior_padding=ints(ints_of(op.interior)))  # fmt: skip


def _concat(w: Writer, op: graph.ConcatOp, args: Sequence[Value]) -> Value:
    return w.emit("concatenate", args, *type_of(op.results[0]), dimension=f"{int(op.axis.value.data)} : i64")


def _cholesky(w: Writer, op: graph.CholeskyOp, args: Sequence[Value]) -> Value:
    """The lower factor; what XLA leaves above the diagonal is cleared."""
    (x,) = args
    made = w.emit("cholesky", [x], x.element, x.shape, lower="true")
    rows, columns = (w.emit("iota", [], "i64", x.shape, iota_dimension=f"{n} : i64") for n in (1, 2))
    return w.select(w.compare("GE", rows, columns), made, w.splat(0, x.element, x.shape))


def _triangular(w: Writer, op: graph.TriangularSolveOp, args: Sequence[Value]) -> Value:
    lower, unit, turned = op.flags
    kind = f"#stablehlo<transpose {'TRANSPOSE' if turned else 'NO_TRANSPOSE'}>"
    flags = {"left_side": "true", "lower": str(lower).lower(), "unit_diagonal": str(unit).lower()}
    return w.emit("triangular_solve", args, args[1].element, args[1].shape, **flags, transpose_a=kind)


RULES: dict[type[Operation], Rule] = {
    graph.MapOp: _map, graph.ContractOp: _contract, graph.ConvOp: _conv, graph.ReduceOp: _reduce,
    graph.ConvTransposeOp: transposed_convolution, graph.PoolOp: _pool, graph.ReshapeOp: _reshape,
    graph.TransposeOp: _transpose, graph.BroadcastOp: _broadcast, graph.SliceOp: _slice, graph.PadOp: _pad,
    graph.ConcatOp: _concat, graph.ArgsortOp: argsort, graph.ScanOp: scan, graph.ScatterOp: scatter,
    graph.CholeskyOp: _cholesky, graph.TriangularSolveOp: _triangular,
}  # fmt: skip


def written(w: Writer, op: Operation, weights: WeightStore) -> Value:
    """The result of an operator.

    Raises:
        InputError: StableHLO has no form of it.
    """
    if isinstance(op, graph.WeightOp):
        return w.constant(weights[op.entry.data], element_of(op.result))
    if isinstance(op, graph.ConstantOp):
        return w.constant(op.array(), element_of(op.result))
    rule: Rule | None = RULES.get(type(op)) or (structured if isinstance(op, StructuredOp) else None)
    if rule is None:
        what = op.fn.data if isinstance(op, graph.RoutineOp) else op.name
        hint = "Export a part of the network without it"
        raise InputError(f"export_stablehlo: {what} has no form in StableHLO", hint=hint)
    return rule(w, op, [w.values[x] for x in op.operands])
