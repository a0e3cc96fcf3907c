"""isl's AST: expressions lowered to index arithmetic, loop bounds and trip counts, and the names in expressions and
nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import islpy as isl
from xdsl.dialects import arith
from xdsl.ir import SSAValue

from mlc.passes.loops.index.index_builder import IndexBuilder

OP, KIND = isl.ast_expr_op_type, isl.ast_expr_type
AND, OR = OP["and_"], OP["or_"]  # by name: islpy's type stubs lack what ends in an underscore
_BINARY: dict[Any, Any] = {
    OP.add: arith.AddiOp,
    OP.sub: arith.SubiOp,
    OP.mul: arith.MuliOp,
    OP.div: arith.DivSIOp,
    OP.pdiv_q: arith.DivSIOp,
    OP.pdiv_r: arith.RemSIOp,
    OP.zdiv_r: arith.RemSIOp,
    OP.fdiv_q: arith.FloorDivSIOp,
    OP.min: arith.MinSIOp,
    OP.max: arith.MaxSIOp,
}
_COMPARE: dict[Any, str] = {OP.eq: "eq", OP.le: "sle", OP.lt: "slt", OP.ge: "sge", OP.gt: "sgt"}
_LOGIC: dict[Any, Any] = {AND: arith.AndIOp, OP.and_then: arith.AndIOp, OR: arith.OrIOp, OP.or_else: arith.OrIOp}


def ast_expr(expr: isl.AstExpr, out: IndexBuilder) -> SSAValue:
    """Return the value of ``expr``; identifiers are looked up in the builder's environment."""
    kind = expr.get_type()
    if kind == KIND.int:
        return out.constant(int(expr.get_val().to_str()))
    if kind == KIND.id:
        return out.env[expr.get_id().get_name()]
    op = expr.get_op_type()
    args = [ast_expr(expr.get_op_arg(n), out) for n in range(expr.get_op_n_arg())]
    if op == OP.minus:
        return out.arithmetic(arith.SubiOp, out.constant(0), args[0])
    if op in _COMPARE:
        return out.emit(arith.CmpiOp(args[0], args[1], _COMPARE[op]))
    if op in (OP.cond, OP.select):
        return out.emit(arith.SelectOp(args[0], args[1], args[2]))
    total = args[0]
    for arg in args[1:]:
        total = out.arithmetic(_BINARY.get(op) or _LOGIC[op], total, arg)
    return total


def names_in(expr: isl.AstExpr) -> Iterator[str]:
    """Yield the identifiers in ``expr``."""
    if expr.get_type() == KIND.id:
        yield expr.get_id().get_name()
    elif expr.get_type() == KIND.op:
        for n in range(expr.get_op_n_arg()):
            yield from names_in(expr.get_op_arg(n))


def tiles_in(node: isl.AstNode) -> set[str]:
    """Return the tiles whose instances ``node`` executes.

    It recurses here, because an exception in a function that isl calls, such as that of Ctrl-C, is lost and leaves the
    heap damaged.
    """
    if node.get_type() == isl.ast_node_type.user:
        return {node.user_get_expr().get_op_arg(0).get_id().get_name()}
    return {name for child in children_of(node) for name in tiles_in(child)}


def children_of(node: isl.AstNode) -> list[isl.AstNode]:
    """Return the nodes directly in ``node``, in the order of execution."""
    kind, kinds = node.get_type(), isl.ast_node_type
    if kind == kinds.block:
        nodes = node.block_get_children()
        return [nodes.get_at(n) for n in range(nodes.n_ast_node())]
    if kind == kinds["for_"]:
        return [node.for_get_body()]
    if kind == kinds["if_"]:
        return [node.if_get_then_node(), *([node.if_get_else_node()] if node.if_has_else_node() else [])]
    return []


def loop_bounds(node: isl.AstNode, out: IndexBuilder) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Return (lower, exclusive upper, step) of an isl for node."""
    if node.for_is_degenerate():
        first = ast_expr(node.for_get_init(), out)
        return first, _plus_one(first, out), out.constant(1)
    condition = node.for_get_cond()
    last = ast_expr(condition.get_op_arg(1), out)
    inclusive = condition.get_op_type() == isl.ast_expr_op_type.le
    upper = _plus_one(last, out) if inclusive else last
    return ast_expr(node.for_get_init(), out), upper, ast_expr(node.for_get_inc(), out)


def _plus_one(value: SSAValue, out: IndexBuilder) -> SSAValue:
    return out.arithmetic(arith.AddiOp, value, out.constant(1))


def iterator_name(node: isl.AstNode) -> str:
    return str(node.for_get_iterator().get_id().get_name())


def trip_count(levels: Sequence[isl.AstNode]) -> int:
    """Return the number of iterations of nested loops; a symbolic extent counts as 1."""
    total = 1
    for node in levels:
        if node.for_is_degenerate():
            continue
        bound = node.for_get_cond()
        last = bound.get_op_arg(1)
        if last.get_type() == isl.ast_expr_type.int:
            total *= int(last.get_val().to_str()) + (bound.get_op_type() == isl.ast_expr_op_type.le)
    return total


def bounds_mention(node: isl.AstNode, levels: Sequence[isl.AstNode]) -> bool:
    """Return whether the bounds of a loop depend on an iterator of the enclosing loops."""
    bounds = [node.for_get_init(), *(() if node.for_is_degenerate() else (node.for_get_cond(),))]
    names = {name for bound in bounds for name in names_in(bound)}
    return any(iterator_name(level) in names for level in levels)
