"""The graph stage: a model as pure operators on tensors, made canonical and laid out for the machine."""

from __future__ import annotations

from typing import Literal

from xdsl.passes import ModulePass


def graph_pipeline(numerics: Literal["strict", "default", "relaxed"] = "default", *, channels: int = 16,
                   columns: int = 32, wide: int = 64) -> list[ModulePass]:  # fmt: skip
    """The passes of the stage, in order.

    ``channels`` in a block of a convolution and ``columns`` in a panel of a packed matrix (``wide``: where rows
    conflict in the cache) are for 4-byte elements.
    """
    from mlc.passes.fuse.fuse_maps import FuseMaps
    from mlc.passes.fuse.hoist_invariants import HoistInvariants
    from mlc.passes.graph.assign_layout import AssignLayout
    from mlc.passes.graph.canonicalize_graph import CanonicalizeGraph
    from mlc.passes.graph.fold_constants import FoldConstants
    from mlc.passes.graph.fold_scale import FoldScale
    from mlc.passes.graph.hoist_loop_invariants import HoistLoopInvariants
    from mlc.passes.graph.integer_products import IntegerProducts
    from mlc.passes.graph.interleave_gates import InterleaveGates
    from mlc.passes.graph.pack_weights import PackWeights
    from mlc.passes.graph.pack_words import PackWords
    from mlc.passes.graph.scale_weights import ScaleWeights
    from mlc.passes.graph.simplify_quantization import SimplifyQuantization
    from mlc.passes.graph.verify_graph import VerifyGraph
    from mlc.passes.graph.winograd import Winograd

    fewer_products = [] if numerics == "strict" else [Winograd()]
    return [
        VerifyGraph(),
        SimplifyQuantization(numerics),
        IntegerProducts(numerics),
        FoldConstants(),
        CanonicalizeGraph(),
        HoistLoopInvariants(),
        FoldScale(numerics),
        AssignLayout(channels),
        PackWeights(columns, wide),
        PackWords(columns),
        FoldConstants(),
        CanonicalizeGraph(),
        FuseMaps(),
        HoistInvariants(),
        InterleaveGates(),
        *fewer_products,
        ScaleWeights(numerics),
        FoldConstants(),
        CanonicalizeGraph(),
        VerifyGraph(),
    ]
