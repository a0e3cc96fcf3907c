"""Deferred normalization (``defer-normalization``): the rows of an attention are scaled after the product with values.

    %p = graph.map "x0 * x1"(%e, %r) : 64x512, 64x1          %c = graph.contract "mk,kn->mn"(%e, %v) : 64x32
    %o = graph.contract "mk,kn->mn"(%p, %v) : 64x32     →    %o = graph.compute "x0[i0, i1] * x1[i0, 0]"(%c, %r)

A factor of a row is one of each sum along it. The product has fewer columns than there are keys, and can begin before
the factor is known, which the blocks of a running reduction need (Rabe and Staats, Self-attention does not need O(n²)
memory, 2021). For attentions whose keys are streamed.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from mlc.dialects.graph import ComputeOp, ContractOp, MapOp, source_nodes, with_nodes
from mlc.dialects.graph.base import iterators
from mlc.dialects.semantics.expr import Call, Load
from mlc.dialects.types import element_of, is_float, shape_of
from mlc.passes.context import machine_of
from mlc.passes.fuse.grouping.attention import attentions, is_streamed
from mlc.passes.rewriter import bodies, erase_unused


@dataclass(frozen=True)
class DeferNormalization(ModulePass):
    name = "defer-normalization"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = machine_of(ctx)
        for body in bodies(op):
            for found in attentions(list(body.ops)):
                product = found.ops[-1]
                if isinstance(product, ContractOp) and is_streamed(found, target):
                    _defer(product, body)


def _defer(product: ContractOp, body: Block) -> None:
    weights = product.lhs.owner
    if not isinstance(weights, MapOp) or not _scales_rows(weights) or not _follows(product):
        return
    numerator, factor = weights.args
    symbol = " * " if isinstance(weights.scalar, Call) and weights.scalar.fn == "mul" else " / "
    rows, _, out = product.terms
    names = iterators(len(out))
    at = [names[out.index(c)] for c in rows[:-1]]
    expr = f"x0[{', '.join(names)}]{symbol}x1[{', '.join([*at, '0'])}]"
    summed = ContractOp(product.equation.data, numerator, product.rhs)
    scaled = ComputeOp(expr, [summed.result, factor], shape_of(product.result))
    nodes = source_nodes(product)
    body.insert_ops_before([with_nodes(o, nodes) for o in (summed, scaled)], product)
    scaled.result.name_hint = product.result.name_hint
    product.result.replace_all_uses_with(scaled.result)
    erase_unused([product, weights])


def _scales_rows(weights: MapOp) -> bool:
    """Whether a map of floats is its first operand, by or over one number a row."""
    match weights.scalar:
        case Call("mul" | "div", (Load(0), Load(1))) if len(weights.args) == 2:
            whole, each = map(shape_of, weights.args)
            used_once = len(list(weights.result.uses)) == 1
            return is_float(element_of(weights.result)) and used_once and each == (*whole[:-1], 1)
    return False


def _follows(product: ContractOp) -> bool:
    """Whether each axis of the rows is one of the result, so that a row's factor is one of each of its sums."""
    rows, _, out = product.terms
    return product.product is None and rows[-1] not in out and all(c in out for c in rows[:-1])
