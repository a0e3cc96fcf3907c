"""Map-reduction fusion (``fuse-reductions``): a reduction that would be in another kernel than its operand computes its
terms itself.

    %p = graph.map "x0 * (x1 - x2)"(%g, %x, %m) : (4x8x6, 4x8x6, 8x1) -> 4x8x6
    %y = graph.reduce "add"(%p) {axes = [0, 2], keepdims = false} : 8
  → %y = graph.compute "x0[r0, i0, r1] * (x1[r0, i0, r1] - x2[i0, 0])"(%g, %x, %m) {reduce = ["4", "6"], …}

The pass skips reductions over trailing axes, which fuse with their operand anyway, and maps that can be the epilogue of
another kernel. The map must have one reader and be cheap: a reduction may have few results, and so few threads.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ComputeOp, MapOp, ReduceOp, ReshapeOp, StructuredOp, ints_of, source_nodes, with_nodes
from mlc.dialects.graph.base import broadcast_index
from mlc.dialects.semantics.expr import Index, Load, parse, substitute
from mlc.dialects.types import shape_of
from mlc.passes.graph.fuse_maps import is_cheap
from mlc.passes.rewriter import bodies, replace


@dataclass(frozen=True)
class FuseReductions(ModulePass):
    name = "fuse-reductions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in bodies(op):
            for each in [o for o in block.ops if isinstance(o, ReduceOp)]:
                terms = each.input.owner
                if isinstance(terms, MapOp) and _fuses(terms, each):
                    nodes = [*source_nodes(terms), *source_nodes(each)]
                    replace(each, [with_nodes(fused(terms, each), nodes)])


def _fuses(terms: MapOp, op: ReduceOp) -> bool:
    axes, rank = ints_of(op.axes), len(shape_of(op.input))
    if axes == tuple(range(rank - len(axes), rank)) or not op.input.has_one_use():
        return False
    return is_cheap(terms.scalar) and not any(map(_has_epilogue, terms.args))


def _has_epilogue(x: SSAValue) -> bool:
    """Return whether the only reader of ``x`` can be fused into the kernel that computes ``x``."""
    if not x.has_one_use():
        return False
    return _has_epilogue(x.owner.input) if isinstance(x.owner, ReshapeOp) else isinstance(x.owner, StructuredOp)


def fused(terms: MapOp, op: ReduceOp) -> ComputeOp:
    """Return the reduction of the map ``terms`` as one operator with one statement."""
    shape, axes = shape_of(op.input), ints_of(op.axes)
    kept = [n for n in range(len(shape)) if n not in axes or bool(op.keepdims)]
    names = {f"i{n}": Index(f"r{axes.index(n)}" if n in axes else f"i{kept.index(n)}") for n in range(len(shape))}

    def element(load: Load) -> Load:
        at = parse(f"x0{broadcast_index(shape_of(terms.args[load.operand]), len(shape))}")
        assert isinstance(at, Load)
        return Load(load.operand, tuple(names.get(str(i), i) for i in at.index or ()))

    expr = substitute(terms.scalar, element)
    return ComputeOp(str(expr), terms.args, shape_of(op.result), [shape[n] for n in axes], op.fn.data)
