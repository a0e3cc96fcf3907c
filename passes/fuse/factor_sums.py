"""Factors of reductions (``factor-sums``): a factor that is equal along the summed axes multiplies the sum, not its
terms.

    %p = graph.map "neg(((x0 * x1) * rsqrt(x2)))"(%g, %s, %v)         %r = graph.reduce "add"(%g) {axes = [0, 2], …}
         : (4x8x64, 8x1, 8x1) -> 4x8x64                          →    %y = graph.map "-1 * x0 * x1 * rsqrt(x2)"(…)
    %y = graph.reduce "add"(%p) {axes = [0, 2], …}                         : (8, …) -> 8

The pullback of batch normalization has five such sums of one tensor, of which three are left: the others differ from
these by a factor. The remaining factors of a term are sorted, so that equal sums are found. Reductions over the
trailing axes are not changed, because they fuse with their operand. A result is rounded no more often than before, but
after other operations, so ``numerics = strict`` changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import MapOp, ReduceOp, broadcast_shapes, ints_of, source_nodes
from mlc.dialects.semantics.expr import Call, Const, Expr, Load, loads, rename_operands
from mlc.dialects.types import Shape, element_of, is_float, shape_of
from mlc.passes.graph.patterns.cleanup import eliminate_dead, merge_common
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused

ONE = Const(1)
Product = tuple[Expr, list[Expr]]
"""A factor that is equal along the summed axes, and the other factors."""


@dataclass(frozen=True)
class FactorSums(ModulePass):
    """Move factors out of sums. ``numerics``: ``strict`` does nothing."""

    name = "factor-sums"
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.numerics == "strict":
            return
        for block in bodies(op):
            order = _order(block)
            for each in [o for o in block.ops if isinstance(o, ReduceOp)]:
                _factor(each, order)
        merge_common(op)
        eliminate_dead(op)


def _order(block: Block) -> dict[SSAValue, int]:
    values = [*block.args, *(r for o in block.ops for r in o.results)]
    return {value: n for n, value in enumerate(values)}


def _factor(op: ReduceOp, order: dict[SSAValue, int]) -> None:
    terms, axes, shape = op.input.owner, ints_of(op.axes), shape_of(op.input)
    rows = axes == tuple(range(len(shape) - len(axes), len(shape)))
    if not isinstance(terms, MapOp) or op.fn.data != "add" or rows or not _of_one_float(terms):
        return
    args = list(terms.args)
    factor, rest = split(terms.scalar, lambda load: _is_invariant(shape_of(args[load.operand]), shape, axes))
    rest = sorted(rest, key=lambda e: [order.get(args[load.operand], -1) for load in loads(e)])
    read = {load.operand for e in rest for load in loads(e)}
    if factor == ONE or not rest or broadcast_shapes([shape_of(args[n]) for n in read]) != shape:
        return
    builder = OpBuilder(op, source_nodes(op))
    left = _sum(op, reduce(lambda a, b: Call("mul", (a, b)), rest), args, builder)
    whole = builder.emit(MapOp.reading(Call("mul", (factor, Load(len(args)))), [*args, left]))
    op.result.replace_all_uses_with(builder.reshape(whole, shape_of(op.result)))
    erase_unused([op, terms])


def _sum(op: ReduceOp, rest: Expr, args: Sequence[SSAValue], builder: OpBuilder) -> SSAValue:
    """Return the sum of ``rest``, with extents of 1 for the summed axes."""
    kept = [1 if n in ints_of(op.axes) else d for n, d in enumerate(shape_of(op.input))]
    terms = args[rest.operand] if isinstance(rest, Load) else builder.emit(_compacted(rest, args))
    return builder.reshape(builder.emit(ReduceOp("add", terms, ints_of(op.axes))), tuple(kept))


def _compacted(expr: Expr, args: Sequence[SSAValue]) -> MapOp:
    """Return a map that computes ``expr``, with its operands in the order in which ``expr`` reads them."""
    read = list(dict.fromkeys(load.operand for load in loads(expr)))
    position = [read.index(n) if n in read else 0 for n in range(len(args))]
    return MapOp(rename_operands(expr, position), [args[n] for n in read])


def _of_one_float(op: MapOp) -> bool:
    return is_float(element_of(op.result)) and all(a.type.element_type == op.result.type.element_type for a in op.args)  # type: ignore[attr-defined]


def _is_invariant(operand: Shape, shape: Shape, axes: Sequence[int]) -> bool:
    return all(n < len(shape) - len(operand) or operand[n - len(shape)] == 1 for n in axes)


def split(expr: Expr, invariant: Callable[[Load], bool]) -> Product:
    """Return ``expr`` as a product of a factor that reads only invariant operands, and a list of other factors."""
    if all(map(invariant, loads(expr))):
        return expr, []
    if not isinstance(expr, Call):
        return ONE, [expr]
    parts = [split(a, invariant) for a in expr.args]
    match expr.fn, parts:
        case "neg", [(factor, rest)]:
            return Call("neg", (factor,)), rest
        case "mul", [(a, left), (b, right)]:
            return _times(a, b), [*left, *right]
        case "div", [(a, left), (b, [])]:
            return Call("div", (a, b)), left
        case "add", [(a, left), (b, right)] if left == right:
            return Call("add", (a, b)), left
    return ONE, [expr]


def _times(a: Expr, b: Expr) -> Expr:
    return b if a == ONE else a if b == ONE else Call("mul", (a, b))
