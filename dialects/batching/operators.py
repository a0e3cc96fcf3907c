"""The batched forms of operators.

A structured operator of one statement gets another iterator: ``x0[i0, i1]`` becomes ``x0[i0, i1, i2]``, or stays if the
operand is not batched. Named operators that can express the batch have rules: a product gets another letter, a
convolution or a window a larger batch. All other operators run in a loop over the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_letters

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.batching.walk import OTHERWISE, RULES, Batch, Batching, Rule
from mlc.dialects.graph import (
    ArgsortOp,
    BroadcastOp,
    CholeskyOp,
    ComputeOp,
    ConcatOp,
    ContractOp,
    ConvOp,
    ConvTransposeOp,
    CouplingOp,
    ForestOp,
    GraphOp,
    LoopOp,
    LuOp,
    MapOp,
    PadOp,
    PoolOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    ScatterOp,
    SliceOp,
    StructuredOp,
    TransposeOp,
    TriangularSolveOp,
    YieldOp,
    dims_of,
    ints_of,
)
from mlc.dialects.semantics.dims import Dim
from mlc.dialects.semantics.expr import Expr, Index, Load, substitute
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import shape_of


def batched(*ops: type[Operation]) -> Callable[[Rule], Rule]:
    """Register the decorated function as the rule of operators."""

    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(ops, rule))
        return rule

    return register


@batched(MapOp)
def of_map(op: MapOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    rank = len(shape_of(op.result))
    return b.emit(MapOp(op.scalar, [b.of_rank(x, rank) for x in xs]))


@batched(ReshapeOp)
def of_reshape(op: ReshapeOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    return b.emit(ReshapeOp(xs[0].value, (b.size, *shape_of(op.result))))


@batched(BroadcastOp)
def of_broadcast(op: BroadcastOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    shape = shape_of(op.result)
    return b.emit(BroadcastOp(b.of_rank(xs[0], len(shape)), (b.size, *shape)))


@batched(TransposeOp)
def of_transpose(op: TransposeOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    return b.emit(TransposeOp(xs[0].value, [0, *(p + 1 for p in ints_of(op.perm))]))


@batched(SliceOp)
def of_slice(op: SliceOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    starts, sizes, steps = (0, *dims_of(op.starts)), (b.size, *dims_of(op.sizes)), (1, *ints_of(op.steps))
    return b.emit(SliceOp(xs[0].value, starts, sizes, steps))


@batched(PadOp)
def of_pad(op: PadOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    low, high, interior = (0, *dims_of(op.low)), (0, *dims_of(op.high)), (0, *ints_of(op.interior))
    return b.emit(PadOp(xs[0].value, low, high, op.value.data, interior))


@batched(ConcatOp)
def of_concat(op: ConcatOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    return b.emit(ConcatOp([b.whole(x) for x in xs], op.axis.value.data + 1))


@batched(ReduceOp)
def of_reduce(op: ReduceOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    axes = [a + 1 for a in ints_of(op.axes)]
    return b.emit(ReduceOp(op.fn.data, xs[0].value, axes, bool(op.keepdims)))


@batched(PoolOp, ScanOp, ArgsortOp, ForestOp, CouplingOp, CholeskyOp, LuOp)
def of_rows(op: GraphOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    """Lengthen the first dimension, for operators that treat each of its elements alike."""
    size, first, *rest = shape_of(xs[0].value)
    made = op.clone()
    made.operands = [b.reshape(xs[0].value, (size * first, *rest)), *(x.value for x in xs[1:])]
    made.results[0]._type = made.infer()
    return b.reshape(b.emit(made), (b.size, *shape_of(op.results[0])))


@batched(TriangularSolveOp)
def of_triangular_solve(op: TriangularSolveOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    """Solve for more matrices, or for more right-hand sides if all elements of the batch share the matrices."""
    (count, n, columns), size = shape_of(op.right), b.size
    if xs[0].batched:
        rows = [(size * count, *shape_of(x)[1:]) for x in op.operands]
        matrix, right = (b.reshape(b.whole(x), shape) for x, shape in zip(xs, rows, strict=True))
        return b.reshape(b.emit(TriangularSolveOp(matrix, right, *op.flags)), (size, count, n, columns))
    moved = b.emit(TransposeOp(xs[1].value, [1, 2, 0, 3]))
    made = TriangularSolveOp(xs[0].value, b.reshape(moved, (count, n, size * columns)), *op.flags)
    return b.emit(TransposeOp(b.reshape(b.emit(made), (count, n, size, columns)), [2, 0, 1, 3]))


@batched(ContractOp)
def of_contract(op: ContractOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    lhs, rhs, out = op.terms
    letter = next(c for c in ascii_letters if c not in op.equation.data)
    lhs, rhs = (letter * x.batched + term for x, term in zip(xs, (lhs, rhs), strict=True))
    return b.emit(ContractOp(f"{lhs},{rhs}->{letter}{out}", xs[0].value, xs[1].value, op.product))


@batched(ConvTransposeOp)
def of_conv_transpose(op: ConvTransposeOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    return one_by_one(op, xs, b) if xs[1].batched else of_rows(op, xs, b)


@batched(ConvOp)
def of_conv(op: ConvOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    """Join a batch of images to one batch; a batch of filters becomes more filters, in more groups."""
    x, w = xs
    if not w.batched:
        return of_rows(op, xs, b)
    if not isinstance(b.size, int):
        return one_by_one(op, xs, b)
    groups, out = op.groups.value.data, shape_of(op.result)
    size, filters, *rest = shape_of(w.value)
    shared = not x.batched and groups == 1
    images = x.value if shared else _channels(x, b)
    many = b.reshape(w.value, (size * filters, *rest))
    strides, dilations = op.window
    y = b.emit(ConvOp(images, many, strides, dilations, groups if shared else groups * b.size, op.product))
    return _swapped(b.reshape(y, (out[0], b.size, *out[1:])), b)


def _channels(x: Batch, b: Batching) -> SSAValue:
    """Reorder [batch, N, C, …] to [N, batch · C, …]."""
    size, images, channels, *spatial = shape_of(b.whole(x) if not x.batched else x.value)
    return b.reshape(_swapped(b.whole(x), b), (images, size * channels, *spatial))


def _swapped(x: SSAValue, b: Batching) -> SSAValue:
    """Exchange the first two dimensions."""
    return b.emit(TransposeOp(x, [1, 0, *range(2, len(shape_of(x)))]))


@batched(ScatterOp)
def of_scatter(op: ScatterOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    """Scatter into the rows of all elements at once; an index that is out of bounds becomes -1."""
    (cells, width), (count,) = shape_of(op.data), shape_of(op.indices)
    data, indices, updates = (b.whole(x) for x in xs)
    moved = f"where((x0[i0, i1] >= 0) & (x0[i0, i1] < {cells}), x0[i0, i1] + i0 * ({cells}), -1)"
    at = b.emit(ComputeOp(f"i64({moved})", [indices], (b.size, count)))
    rows = b.reshape(data, (b.size * cells, width)), b.reshape(updates, (b.size * count, width))
    made = b.emit(ScatterOp(op.reduction.data, rows[0], b.reshape(at, (b.size * count,)), rows[1]))
    return b.reshape(made, (b.size, cells, width))


def of_statement(op: GraphOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    """Add an iterator to the statement; an operator that is not a single statement of plain iterators runs in a
    loop."""
    s = _plain(op)
    if s is None:
        return one_by_one(op, xs, b)
    rank = len(s.out)
    renamed: dict[str, Expr] = {name: Index(f"i{n + 1}") for n, name in enumerate(s.iters[:rank])}
    renamed |= {name: Index(f"r{n}") for n, name in enumerate(s.iters[rank:])}

    def load(read: Load) -> Expr:
        return Load(read.operand, (Index("i0"), *(read.index or ()))) if xs[read.operand].batched else read

    value = substitute(s.value, load, lambda index: renamed.get(index.name, index))
    shape, reduce = (b.size, *s.bounds[:rank]), s.bounds[rank:]
    return b.emit(ComputeOp(str(value), [x.value for x in xs], shape, reduce, s.monoid))


def _plain(op: GraphOp) -> Statement | None:
    """Return the statement of an operator, if it has only one, which writes at its iterators; None otherwise."""
    statements = op.statements() if isinstance(op, StructuredOp) else ()
    if len(statements) != 1:
        return None
    s = statements[0]
    rank = len(s.out)
    plain = s.out == tuple(Index(name) for name in s.iters[:rank])
    return s if plain and not any(s.reduction[:rank]) and all(s.reduction[rank:]) else None


def one_by_one(op: GraphOp, xs: Sequence[Batch], b: Batching) -> SSAValue:
    """Emit a loop over the batch."""
    block, name = Block(arg_types=[x.value.type for x in xs]), b.loop_index(b.size)
    inner = b.into(block, op)

    def element(x: SSAValue) -> SSAValue:
        _, *shape = shape_of(x)
        row = SliceOp(x, [Dim.symbol(name), *(0 for _ in shape)], [1, *shape], [1] * (1 + len(shape)))
        return inner.reshape(inner.emit(row), shape)

    made = op.clone()
    made.operands = [element(arg) if x.batched else arg for arg, x in zip(block.args, xs, strict=True)]
    block.add_op(YieldOp([inner.emit(made)]))
    return b.emit(LoopOp(name, b.size, [], [x.value for x in xs], block, [Dim.symbol(name)]))


OTHERWISE.append(of_statement)
