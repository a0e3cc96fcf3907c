"""Restriction of domains (``restrict-domains``): a constant mask that is a band matrix becomes conditions of
domains.

    %mask = graph.weight "mask"                      // 0 where n <= m, -inf elsewhere
    S1[m, n]: t1[m] max= t0[m, n] + b2[m, n]
      →
    S1[m, n], m - n >= 0: t1[m] max= where(n <= m, t0[m, n], -inf)

Blocks of the iteration space outside of the condition then have no tiles, and no mask is read: half of the products of
a causal attention remain (Dao et al., FlashAttention, 2022, section 3; block masks of FlexAttention, Dong et al.,
2024). Expressions and monoids determine which iterations are masked (``polyhedral/masks.py``). ``numerics = strict``
changes nothing, so that a masked NaN or infinity still reaches the result, as 0 * inf.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel, poly
from mlc.dialects.graph import WeightOp
from mlc.dialects.graph.base import dims_attr
from mlc.dialects.types import bytes_of, shape_of
from mlc.dialects.weights import WeightStore
from mlc.passes.constant_bands import bands_of_argument, calls_of
from mlc.passes.context import weights_of
from mlc.passes.kernel.lowering.array_names import array_names
from mlc.passes.schedule.polyhedral.bounded import ISL_OPERATIONS, IslLimit, bounded
from mlc.passes.schedule.polyhedral.masks import Masks
from mlc.passes.schedule.polyhedral.restricted_body import RestrictedBody
from mlc.passes.schedule.polyhedral.statement_view import statements_of


@dataclass(frozen=True)
class RestrictDomains(ModulePass):
    name = "restrict-domains"
    numerics: str = "default"
    isl_operations: int = ISL_OPERATIONS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.numerics == "strict":
            return
        called = calls_of(op)
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            calls = called.get(fn.sym_name.data, [])
            try:
                with bounded(fn, self.name, self.isl_operations):
                    masks = _masks_of(fn, calls, weights_of(ctx))
            except IslLimit:
                continue
            if masks:
                _restrict(masks)
                _drop(fn, calls, masks)


def _masks_of(fn: kernel.FuncOp, calls: Sequence[kernel.CallOp], weights: WeightStore) -> Masks | None:
    """Return the masks of a kernel, and the statements that they restrict; None if there are none."""
    statements = statements_of(fn)
    reductions = [s for s in statements if s.op.monoid]
    if len(reductions) < 2:  # nothing is reduced after a product
        return None
    found = {f"b{n}": each for n, arg in enumerate(fn.block.args) if (each := bands_of_argument(arg, calls, weights))}
    for chosen in itertools.product(*found.values()):
        masks = Masks(statements, dict(zip(found, chosen, strict=True)))
        if found and masks.holds():
            return masks
    return None


def _restrict(masks: Masks) -> None:
    for s in masks.statements:
        conditions = masks.conditions.get(s.name, ())
        op = RestrictedBody(s, conditions, masks).rewritten() if s.name in masks.masked else s.op
        if conditions:
            op.properties["conditions"] = dims_attr(conditions)


def _drop(fn: kernel.FuncOp, calls: Sequence[kernel.CallOp], masks: Masks) -> None:
    """Remove the arguments of masks, which no statement reads, and reduce the counted work to the share that is
    left."""
    unused = [n for n, arg in enumerate(fn.block.args) if f"b{n}" in masks.bands and not arg.uses]
    shares = [masks.bands[f"b{n}"].share(*shape_of(fn.block.args[n])[-2:]) for n in unused]  # type: ignore[arg-type]
    if isinstance(fn.work.flops, int):
        fn.work = replace(fn.work, flops=round(fn.work.flops * min(shares, default=1)))
    drop_arguments(fn, calls, unused)


def drop_arguments(fn: kernel.FuncOp, calls: Sequence[kernel.CallOp], unused: Sequence[int]) -> None:
    """Remove arguments that no statement reads, and weights that no other kernel reads."""
    saved = sum(cast(int, bytes_of(fn.block.args[n])) for n in unused)
    if isinstance(fn.work.bytes, int):
        fn.work = replace(fn.work, bytes=fn.work.bytes - saved)
    for n in reversed(unused):
        fn.block.erase_arg(fn.block.args[n])
    fn.function_type = FunctionType.from_lists([a.type for a in fn.block.args], [])
    _rename(fn)
    for call in calls:
        weights = [call.args[n].owner for n in unused]
        call.operands = [v for n, v in enumerate(call.args) if n not in unused]
        for weight in dict.fromkeys(weights):
            if isinstance(weight, WeightOp) and not weight.result.uses:
                Rewriter.erase_op(weight)


def _rename(fn: kernel.FuncOp) -> None:
    """Name the arrays in the accesses after the remaining arguments."""
    names = array_names(fn.block)
    for op in [o for o in fn.block.ops if isinstance(o, poly.StatementOp)]:
        indices = [a.data[1] for a in op.accesses]
        arrays = [names[v] for v in (*op.ins, op.out)]
        op.properties["accesses"] = ArrayAttr(map(poly.AccessAttr, zip(arrays, indices, strict=True)))
