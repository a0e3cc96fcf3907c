"""The graph stage: it simplifies and canonicalizes a model of pure operators on tensors. Its result is the same for all
targets, except for the passes that a target inserts before constant folding (``before_folding``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from xdsl.passes import ModulePass


def graph_pipeline(
    numerics: Literal["strict", "default", "relaxed"] = "default", before_folding: Sequence[ModulePass] = ()
) -> list[ModulePass]:
    """Return the passes of the stage, in order. ``before_folding``: passes of a target that need constants in their
    stored type."""
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
