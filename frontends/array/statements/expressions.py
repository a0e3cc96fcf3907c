"""Scalar expressions of a trace: records of rank 0 that depend on iterators (``dialects/semantics/expr.py``).

Reads of arrays become loads with their indices; all other records are lowered and must give elementwise operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, BlockArgument, SSAValue

from mlc.dialects.graph import ConstantOp, MapOp
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.expr import Call, Const, Expr, Index, Load, loads, parse, substitute, walk
from mlc.dialects.weights import WeightStore
from mlc.errors import InputError
from mlc.frontends.array.array import Array, constant
from mlc.frontends.array.functions.indexing import indexed, sliced
from mlc.frontends.array.functions.shaping import reshaped
from mlc.frontends.array.lowering import lower_records
from mlc.frontends.array.record import Emit, Record, dimension
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.clamp_indices import range_of
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.module import argument
from mlc.frontends.build.tensors import Tensor

READS = (indexed, sliced, reshaped)


class Expressions:
    """Expressions over iterators of ``names`` and ``bounds``. ``operands`` are the arrays that they read, in order."""

    def __init__(
        self,
        names: Mapping[Record, str],
        bounds: Mapping[Record, DimLike],
        reduced: Callable[[Record], Array],
        reduction: Emit,
    ) -> None:
        self.names, self.reduced, self.reduction = names, reduced, reduction
        self.extents = {names[each]: extent for each, extent in bounds.items()}
        self.operands: list[Array] = []
        self._varies: dict[Record, bool] = {}

    def of(self, root: Record) -> Expr:
        """The expression of a record of rank 0."""
        leaves: dict[Record, Expr] = {}
        self._find_leaves(root, leaves)
        build = Builder(Block(), WeightStore())
        values = {each: argument(build, f"x{n}", each.element, ()) for n, each in enumerate(leaves)}
        (result,) = lower_records(build, [root], dict(values))
        expr = _folded(result, list(leaves.values()), root)
        return Call(root.element, (expr,)) if isinstance(expr, Const) else expr

    def _find_leaves(self, each: Record, leaves: dict[Record, Expr]) -> None:
        """Find the leaves of an expression: arrays that it loads, and iterators."""
        if each in leaves or each.emit is constant:
            return
        if each.shape != ():
            raise InputError(f"{each.where}: compute needs an element, and this is an array of shape {each.shape}")
        if each.emit is dimension:
            leaves[each] = parse(str(each.params[0]))
        elif each in self.names:
            leaves[each] = Index(self.names[each])
        elif each.emit is self.reduction:
            leaves[each] = self._load(self.reduced(each), [Index(name) for name in self.names.values()], each)
        elif not self._is_varied(each) or each.emit in READS:
            leaves[each] = self._element(each, [])
        else:
            for operand in each.operands:
                self._find_leaves(operand, leaves)

    def _is_varied(self, each: Record) -> bool:
        """Whether a record depends on an iterator."""
        if each not in self._varies:
            inside = each in self.names or each.emit is self.reduction
            self._varies[each] = inside or any(self._is_varied(operand) for operand in each.operands)
        return self._varies[each]

    def _element(self, each: Record, at: list[Expr]) -> Expr:
        """The element of a record at indices; reads of reads are one load."""
        if not self._is_varied(each):
            return self._load(Array(each), at, each)
        if each.emit is indexed:
            return self._element(each.operands[0], self._indices(each, at))
        if each.emit is sliced:
            starts, _, steps = each.params
            moved = [_plus(parse(str(s)), _times(i, k)) for i, s, k in zip(at, starts, steps, strict=True)]
            return self._element(each.operands[0], moved)
        if each.emit is reshaped and _without_ones(each.shape) == _without_ones(each.operands[0].shape):
            rest = iter([i for i, d in zip(at, each.shape, strict=True) if d != 1])
            return self._element(each.operands[0], [Const(0) if d == 1 else next(rest) for d in each.operands[0].shape])
        raise InputError(
            f"{each.where}: compute reads an element of an array of shape {each.shape} that depends on an iterator",
            hint="Index arrays down to elements, and combine these",
        )

    def _indices(self, each: Record, at: list[Expr]) -> list[Expr]:
        """Indices into the operand of an indexed record."""
        axes, first = each.params
        if any(index.shape != () for index in each.operands[1:]):
            raise InputError(f"{each.where}: compute reads at an array of indices", hint="Index by integers")
        found = dict(zip(axes, map(self.of, each.operands[1:]), strict=True))
        rest = iter(at)
        return [found[n] if n in found else next(rest) for n in range(len(each.operands[0].shape))]

    def _load(self, x: Array, at: list[Expr], read: Record) -> Expr:
        """A load of an operand, within its bounds."""
        if x.record not in [each.record for each in self.operands]:
            self.operands.append(x)
        operand = next(n for n, each in enumerate(self.operands) if each.record is x.record)
        return Load(operand, tuple(self._within(i, n, x, read) for n, i in enumerate(at)))

    def _within(self, index: Expr, axis: int, x: Array, read: Record) -> Expr:
        """The index, unchanged if it provably lies inside the dimension, else clamped."""
        extent = x.shape[axis]
        low, high = (None, None) if loads(index) else range_of(index, [], self.extents)
        if low is not None and high is not None and at_least(low, 0) and at_least(extent - 1, high):
            return index
        if _is_exact(index) and low is not None and high is not None:
            what = f"compute reads index {index} from {low} to {high}"
            hint = "Change the shape, or clamp the index by mlc.numpy.clip"
            raise InputError(f"{read.where}: {what} of a dimension of {extent}", hint=hint)
        index = Call("i64", (index,)) if loads(index) else index
        return Call("min", (Call("max", (index, Const(0))), parse(str(extent - 1))))


def _folded(value: Tensor, leaves: list[Expr], root: Record) -> Expr:
    """The expression of a lowered record, maps substituted into one another."""
    if value.known is not None:
        return Const(value.known.reshape(()).item())

    def expression(given: SSAValue) -> Expr:
        if isinstance(given, BlockArgument):
            return leaves[given.index]
        op = given.owner
        if isinstance(op, MapOp):
            return substitute(op.scalar, lambda load: expression(op.args[load.operand]))
        if isinstance(op, ConstantOp) and isinstance(given.type, TensorType):
            return Const(op.array().reshape(()).item())
        raise InputError(f"{root.where}: compute needs scalar operations, and there is {given}")

    assert value.value is not None
    return expression(value.value)


def _is_exact(index: Expr) -> bool:
    """Whether the range of an index that names each iterator once is exact."""
    names = [node.name for node in walk(index) if isinstance(node, Index)]
    return not loads(index) and len(set(names)) == len(names) and "where" not in str(index)


def _without_ones(shape: tuple[DimLike, ...]) -> list[DimLike]:
    return [d for d in shape if d != 1]


def _plus(a: Expr, b: Expr) -> Expr:
    return b if a == Const(0) else Call("add", (a, b))


def _times(a: Expr, k: int) -> Expr:
    return a if k == 1 else Call("mul", (a, Const(k)))
