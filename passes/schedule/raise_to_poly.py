"""``raise-to-poly``: ``kernel.generic`` on buffers become ``poly.statement`` with isl domains and accesses.

    kernel.generic ["i", "j"] ins(%a) outs(%o)    poly.statement "S0" ins(%a) outs(%o) {domain = "{ S0[i, j] : … }",
      {maps = […], monoid = "add"} do {exp}    →    accesses = ["{ S0[i, j] -> b0[i, j] }", …], monoid = "add"} do {exp}
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Region, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel, poly
from mlc.dialects.graph import dims_of
from mlc.passes.schedule.isl_text import Params, access_text, affine_text, domain_text

PARAMS = "poly.params"


@dataclass(frozen=True)
class RaiseToPoly(ModulePass):
    name = "raise-to-poly"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            raise_kernel(fn)


def raise_kernel(fn: kernel.FuncOp) -> None:
    """Rewrite one kernel in place; ``poly.params`` says which dimension an isl parameter stands for."""
    params, names = Params(), array_names(fn)
    raised: list[poly.StatementOp] = []
    for op in [o for o in fn.block.ops if isinstance(o, kernel.GenericOp)]:
        raised.append(_statement(op, f"S{len(raised)}", params, names))
        fn.block.insert_op_before(raised[-1], op)
        op.detach()
        op.erase()
    prefix = params.prefix()
    for statement in raised:
        statement.domain = StringAttr(prefix + statement.domain.data)
        statement.accesses = ArrayAttr(StringAttr(prefix + a.data) for a in statement.accesses)
    if params.texts:
        fn.attributes[PARAMS] = DictionaryAttr({k: StringAttr(v) for k, v in params.texts.items()})


def array_names(fn: kernel.FuncOp) -> dict[SSAValue, str]:
    """isl names of a kernel's buffers: ``b0, b1, …`` its arguments, ``t0, t1, …`` its local ones."""
    names: dict[SSAValue, str] = {a: f"b{n}" for n, a in enumerate(fn.block.args)}
    local = [o.result for o in fn.block.ops if isinstance(o, kernel.LocalOp)]
    return names | {r: f"t{n}" for n, r in enumerate(local)}


def _statement(op: kernel.GenericOp, name: str, params: Params, names: dict[SSAValue, str]) -> poly.StatementOp:
    iters, symbols = [i.data for i in op.iters], [s.data for s in op.symbols or ()]
    accesses = []
    for value, map_ in zip(op.operands, op.maps, strict=True):
        index = [affine_text(e, iters, symbols, params) for e in map_.data.results]
        accesses.append(access_text(name, iters, names[value], index))
    domain = domain_text(name, iters, dims_of(op.bounds), params)
    monoid = op.monoid.data if op.monoid else None
    return poly.StatementOp(name, domain, accesses, op.ins, op.out, _region(op), monoid, op.init)


def _region(op: kernel.GenericOp) -> Region:
    region = op.body
    op.detach_region(region)
    last = region.block.last_op
    assert last is not None
    region.block.insert_op_before(poly.YieldOp(*last.operands), last)
    last.detach()
    last.erase()
    return region
