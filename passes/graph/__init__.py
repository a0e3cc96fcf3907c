"""The graph stage: a model as pure operators on tensors, made canonical. Its result is the same for every target, but
for what a target does before constants are folded (``before_folding``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xdsl.passes import ModulePass


def graph_pipeline(
    numerics: Literal["strict", "default", "relaxed"] = "default", before_folding: Sequence[ModulePass] = ()
) -> list[ModulePass]:
    """The passes of the stage, in order. ``before_folding``: those of a target, which need constants as stored."""
    from mlc.passes.graph.canonicalize_graph import CanonicalizeGraph
    from mlc.passes.graph.distribute_loops import DistributeLoops
    from mlc.passes.graph.fold_constants import FoldConstants
    from mlc.passes.graph.fold_scale import FoldScale
    from mlc.passes.graph.hoist_loop_invariants import HoistLoopInvariants
    from mlc.passes.graph.integer_products import IntegerProducts
    from mlc.passes.graph.simplify_quantization import SimplifyQuantization
    from mlc.passes.graph.verify_graph import VerifyGraph

    return [
        VerifyGraph(),
        SimplifyQuantization(numerics),
        IntegerProducts(numerics),
        *before_folding,
        FoldConstants(masks=numerics != "strict"),
        CanonicalizeGraph(),
        HoistLoopInvariants(),
        DistributeLoops(),
        FoldScale(numerics),
        VerifyGraph(),
    ]
