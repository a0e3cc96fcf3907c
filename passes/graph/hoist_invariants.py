"""Broadcast-invariant code motion (``hoist-invariants``): what is equal along a dimension of a map is computed once.

    %y = graph.map "x0 * rsqrt(x1 + 1e-5)"(%x, %var)    →    %1 = graph.map "rsqrt(x0 + 1e-5)"(%var) : 8x1
         : (8x64, 8x1) -> 8x64                               %y = graph.map "x0 * x1"(%x, %1)

Only an expression that costs more than reading its value becomes an operator: divisions, functions of the math library.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import MapOp, broadcast_shapes, source_nodes, with_nodes
from mlc.dialects.semantics.expr import Call, Expr, Load, element_type, loads
from mlc.dialects.types import element_of, shape_of
from mlc.passes.graph.fuse_maps import is_cheap
from mlc.passes.graph.patterns.map_patterns import compact
from mlc.passes.rewriter import bodies, replace


@dataclass(frozen=True)
class HoistInvariants(ModulePass):
    """Split each map whose expression has an expensive subexpression that is equal along a dimension of the result."""

    name = "hoist-invariants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            for reader in [o for o in body.ops if isinstance(o, MapOp)]:
                _split(reader)


def _split(op: MapOp) -> None:
    args: list[SSAValue] = list(op.args)
    new: list[Operation] = []
    expr = _without_invariants(op.scalar, op, args, new)
    if new:
        whole = MapOp(*compact(expr, args, shape_of(op.result)))
        replace(op, [*(with_nodes(o, source_nodes(op)) for o in new), whole])


def _without_invariants(expr: Expr, op: MapOp, args: list[SSAValue], new: list[Operation]) -> Expr:
    """Replace the largest invariant, expensive subexpressions of ``expr`` by loads of new maps; append these maps to
    ``new`` and their results to ``args``."""
    if not isinstance(expr, Call) or is_cheap(expr):
        return expr
    if _invariant(expr, op):
        new.append(MapOp.reading(expr, op.args))
        args.append(new[-1].results[0])
        return Load(len(args) - 1)
    return Call(expr.fn, tuple(_without_invariants(a, op, args, new) for a in expr.args))


def _invariant(expr: Expr, op: MapOp) -> bool:
    """Return whether ``expr`` is equal along some dimension of the result of ``op``."""
    read = [shape_of(op.args[load.operand]) for load in loads(expr)]
    typed = element_type(expr, [element_of(a) for a in op.args]) is not None
    return bool(read) and typed and broadcast_shapes([*read, (1,) * len(shape_of(op.result))]) != shape_of(op.result)
