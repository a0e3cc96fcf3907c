"""Narrow weights (``narrow-weights``): products of few rows read weights of 16 bits and multiply f32.

    %b = graph.map "f32(x0)"(%w : 4096x4096xf16)
    %y = graph.contract "mk,kn->mn"(%x : 1x4096xf32, %b)

  → %y = graph.contract "mk,kn->mn"(%x, %w) {product = "x0 * f32(x1)"}

Such products, as in a step of a decoder, take the time in which their weights are read from memory, half as long for
half the bytes, where these are together more than the L3 cache holds. Weights that a model has in 16 bits stay so, and
no value changes; f16 only where the target has an instruction that widens them. With ``numerics = "relaxed"`` weights
of f32 are rounded to bf16 (``rounds``). Where the target multiplies pairs of bf16, ``round-factors`` has been before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, MapOp
from mlc.dialects.semantics.dims import product
from mlc.dialects.types import bytes_of, element_of, shape_of
from mlc.passes.context import target_of
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.passes.graph.patterns.constants import constant_values
from mlc.passes.layout.blocking.packed_products import OF_NARROW_WEIGHTS
from mlc.passes.layout.blocking.panel_width import few_rows
from mlc.passes.layout.sink_casts import narrowed
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused
from mlc.target import CpuTarget

HALVES = ("bf16", "f16")


@dataclass(frozen=True)
class NarrowWeights(ModulePass):
    """Let products of few rows read weights of 16 bits. ``rounds``: weights of f32 are rounded to bf16."""

    name = "narrow-weights"
    rounds: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants, target = constant_values(body), target_of(ctx)
            found = [o for o in body.ops if isinstance(o, ContractOp) and _is_read_once(o, constants, target)]
            read = sum(size for o in found if isinstance(size := bytes_of(o.rhs), int))
            if read > target.l3.size:
                self._narrow(found, HALVES if target.widens_halves else HALVES[:1])
        eliminate_dead(op)

    def _narrow(self, products: Sequence[ContractOp], halves: Sequence[str]) -> None:
        for op in products:
            if (weight := self._narrowed(op, halves)) is not None:
                _replace(op, weight)

    def _narrowed(self, op: ContractOp, halves: Sequence[str]) -> SSAValue | None:
        """Return the weight of ``op`` in one of the types ``halves``; None if that rounds and may not."""
        found = narrowed(op.rhs, "f32")
        if found is not None and element_of(found) in halves:
            return found
        return OpBuilder(op).emit(MapOp("bf16(x0)", [op.rhs])) if self.rounds else None


def _is_read_once(op: ContractOp, constants: set[SSAValue], target: CpuTarget) -> bool:
    """Return whether ``op`` is a product of few rows in f32 with a constant matrix."""
    (lhs, rhs, out), weight = op.terms, op.rhs
    if op.product or op.layouts or element_of(weight) != "f32" or len(rhs) != 2 or not lhs or not out:
        return False
    plain = out == lhs[:-1] + out[-1] and sorted(rhs) == sorted(lhs[-1] + out[-1])
    rows = product(shape_of(op.lhs)[:-1])
    return plain and weight in constants and op.lhs not in constants and few_rows(rows, target)


def _replace(op: ContractOp, weight: SSAValue) -> None:
    made = ContractOp(op.equation.data, op.lhs, weight, OF_NARROW_WEIGHTS)
    OpBuilder(op).emit(made)
    made.result.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(made.result)
    erase_unused([op])
