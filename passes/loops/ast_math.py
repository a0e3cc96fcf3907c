"""isl AST expressions as index arithmetic."""

from __future__ import annotations

from typing import Any

import islpy as isl
from xdsl.dialects import arith
from xdsl.ir import SSAValue

from mlc.passes.loops.index_math import Emitter

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


def ast_expr(expr: isl.AstExpr, out: Emitter) -> SSAValue:
    """The value of ``expr``; identifiers are looked up in the emitter's environment."""
    kind = expr.get_type()
    if kind == KIND.int:
        return out.constant(int(expr.get_val().to_str()))
    if kind == KIND.id:
        return out.env[expr.get_id().get_name()]
    op = expr.get_op_type()
    args = [ast_expr(expr.get_op_arg(n), out) for n in range(expr.get_op_n_arg())]
    if op == OP.minus:
        return out.emit(arith.SubiOp(out.constant(0), args[0]))
    if op in _COMPARE:
        return out.emit(arith.CmpiOp(args[0], args[1], _COMPARE[op]))
    if op in (OP.cond, OP.select):
        return out.emit(arith.SelectOp(args[0], args[1], args[2]))
    total = args[0]
    for arg in args[1:]:
        total = out.emit((_BINARY.get(op) or _LOGIC[op])(total, arg))
    return total


