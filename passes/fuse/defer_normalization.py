"""Deferred normalization (``defer-normalization``): the rows of an attention are scaled after the product with the
values.

    %p = graph.map "x0 * x1"(%e, %r) : 64x512, 64x1          %c = graph.contract "mk,kn->mn"(%e, %v) : 64x32
    %o = graph.contract "mk,kn->mn"(%p, %v) : 64x32     →    %o = graph.compute "x0[i0, i1] * x1[i0, 0]"(%c, %r)

A factor of all terms of a row is a factor of the row's sums. If the scaled rows are rounded to 16 bits, the unscaled
rows are rounded instead, which keeps the relative error. The product has fewer columns than there are keys, and can
begin before the factor is known, as the blocks of a running reduction require (Rabe and Staats, Self-attention does not
need O(n²) memory, 2021). The pass applies to attentions whose keys are streamed. If there may be no keys, the factor
may be infinite, and the result is ``where(n > 0, x0[i0, i1] * x1[i0, 0], 0)``, which is 0 for the empty sum.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from mlc.dialects.graph import ComputeOp, ContractOp, MapOp, source_nodes, with_nodes
from mlc.dialects.graph.base import iterators
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.types import element_of, shape_of
from mlc.passes.context import machine_of
from mlc.passes.fuse.grouping.attention import attentions, can_defer, is_streamed, row_factor
from mlc.passes.rewriter import bodies, erase_unused


@dataclass(frozen=True)
class DeferNormalization(ModulePass):
    name = "defer-normalization"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = machine_of(ctx)
        for body in bodies(op):
            for found in attentions(list(body.ops)):
                if can_defer(found) and is_streamed(found, target):
                    _defer(found.ops[-1], body)


def _defer(product: Operation, body: Block) -> None:
    assert isinstance(product, ContractOp)
    weights = product.lhs.owner
    assert isinstance(weights, MapOp)
    numerator, factor = weights.args
    scaling = row_factor(weights)
    assert scaling is not None
    symbol = " * " if scaling.fn == "mul" else " / "
    nodes, element = source_nodes(product), element_of(weights.result)
    if element != element_of(numerator):
        rounded = MapOp(f"{element}(x0)", [numerator])
        body.insert_op_before(with_nodes(rounded, nodes), product)
        numerator = rounded.result
    rows, _, out = product.terms
    names = iterators(len(out))
    at = [names[out.index(c)] for c in rows[:-1]]
    expr = f"x0[{', '.join(names)}]{symbol}x1[{', '.join([*at, '0'])}]"
    if _may_be_0(keys := shape_of(numerator)[-1]):
        expr = f"where({keys} > 0, {expr}, 0)"
    summed = ContractOp(product.equation.data, numerator, product.rhs, product=product.product)
    scaled = ComputeOp(expr, [summed.result, factor], shape_of(product.result))
    body.insert_ops_before([with_nodes(o, nodes) for o in (summed, scaled)], product)
    scaled.result.name_hint = product.result.name_hint
    product.result.replace_all_uses_with(scaled.result)
    erase_unused([product, weights])


def _may_be_0(extent: DimLike) -> bool:
    """Return whether an extent may be 0, given that symbols are at least 0."""
    if not isinstance(extent, Dim):
        return False
    terms = dict(extent.terms)
    plain = all(isinstance(atom, str) for monomial in terms for atom in monomial)
    return not (plain and min(terms.values()) > 0 and () in terms)
