"""Raising to polyhedral statements (``raise-to-poly``): a ``kernel.generic`` on buffers becomes a ``poly.statement``
with domain and accesses.

kernel.generic ["i", "j"] ins(%a) outs(%o)    poly.statement "S0" ins(%a) outs(%o) {domain = #poly.domain<"0 <= …">,
  {maps = […], monoid = "add"} do {exp}    →    accesses = [#poly.access<"b0[i, j]">, …], monoid = "add"} do {exp}
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Region, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel, poly
from mlc.dialects.graph import dims_of
from mlc.dialects.semantics.dims import Dim, DimLike

_OPERATORS: dict[AffineBinaryOpKind, Callable[[DimLike, DimLike], DimLike]] = {
    AffineBinaryOpKind.Add: operator.add,
    AffineBinaryOpKind.Mul: operator.mul,
    AffineBinaryOpKind.FloorDiv: operator.floordiv,
    AffineBinaryOpKind.Mod: operator.mod,
}


@dataclass(frozen=True)
class RaiseToPoly(ModulePass):
    name = "raise-to-poly"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            raise_kernel(fn)


def raise_kernel(fn: kernel.FuncOp) -> None:
    """Replace each ``kernel.generic`` of a kernel by a ``poly.statement``."""
    names = array_names(fn)
    for n, op in enumerate([o for o in fn.block.ops if isinstance(o, kernel.GenericOp)]):
        fn.block.insert_op_before(_statement(op, f"S{n}", names), op)
        Rewriter.erase_op(op)


def array_names(fn: kernel.FuncOp) -> dict[SSAValue, str]:
    """Return the isl names of a kernel's buffers: arguments are ``b0, b1, …``, local arrays ``t0, t1, …``."""
    names: dict[SSAValue, str] = {a: f"b{n}" for n, a in enumerate(fn.block.args)}
    local = [o.result for o in fn.block.ops if isinstance(o, kernel.LocalOp)]
    return names | {r: f"t{n}" for n, r in enumerate(local)}


def _statement(op: kernel.GenericOp, name: str, names: dict[SSAValue, str]) -> poly.StatementOp:
    iters = [i.data for i in op.iters]
    dims, symbols = tuple(map(Dim.symbol, iters)), dims_of(op.symbols or ArrayAttr[StringAttr](()))
    accesses = [
        poly.AccessAttr((names[value], tuple(index(e, dims, symbols) for e in map_.data.results)))
        for value, map_ in zip(op.operands, op.maps, strict=True)
    ]
    domain = poly.DomainAttr(zip(iters, dims_of(op.bounds), strict=True))
    monoid = op.monoid.data if op.monoid else None
    return poly.StatementOp(name, domain, accesses, op.ins, op.out, _region(op), monoid, op.init)


def index(expr: AffineExpr, dims: Sequence[DimLike], symbols: Sequence[DimLike]) -> DimLike:
    """Return an affine expression as a polynomial of iterators and symbolic dimensions."""
    match expr:
        case AffineConstantExpr():
            return expr.value
        case AffineDimExpr():
            return dims[expr.position]
        case AffineSymExpr():
            return symbols[expr.position]
        case AffineBinaryOpExpr():
            return _OPERATORS[expr.kind](index(expr.lhs, dims, symbols), index(expr.rhs, dims, symbols))
    raise AssertionError(f"unexpected affine expression {expr}")


def _region(op: kernel.GenericOp) -> Region:
    region = op.body
    op.detach_region(region)
    last = region.block.last_op
    assert last is not None
    region.block.insert_op_before(poly.YieldOp(*last.operands), last)
    Rewriter.erase_op(last)
    return region
