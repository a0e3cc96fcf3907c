"""The layout stage: it assigns the data layouts of one target to tensors (blocked channels, packed weights, Winograd
tiles)."""

from __future__ import annotations

from typing import Literal

from xdsl.passes import ModulePass


def layout_pipeline(numerics: Literal["strict", "default", "relaxed"] = "default") -> list[ModulePass]:
    """Return the passes of the stage, in order."""
    from mlc.passes.graph.canonicalize_graph import CanonicalizeGraph
    from mlc.passes.graph.fold_constants import FoldConstants
    from mlc.passes.graph.fuse_maps import FuseMaps
    from mlc.passes.graph.fuse_stencils import FuseStencils
    from mlc.passes.graph.hoist_invariants import HoistInvariants
    from mlc.passes.graph.hoist_loop_invariants import HoistLoopInvariants
    from mlc.passes.layout.assign_layout import AssignLayout
    from mlc.passes.layout.decompose_pack import DecomposePack
    from mlc.passes.layout.factors.narrow_weights import NarrowWeights
    from mlc.passes.layout.factors.round_factors import RoundFactors
    from mlc.passes.layout.factors.winograd_bytes import WinogradBytes
    from mlc.passes.layout.interleave_gates import InterleaveGates
    from mlc.passes.layout.pack_operands import PackOperands
    from mlc.passes.layout.pack_quantized_weights import PackQuantizedWeights
    from mlc.passes.layout.pack_weights import PackWeights
    from mlc.passes.layout.scale_weights import ScaleWeights
    from mlc.passes.layout.transpose_operands import TransposeOperands
    from mlc.passes.layout.verify_layout import VerifyLayout
    from mlc.passes.layout.winograd import Winograd
    from mlc.passes.layout.winograd_gradients import WinogradGradients

    fewer_products = [] if numerics == "strict" else [Winograd(), WinogradGradients()]
    return [
        *([RoundFactors(), NarrowWeights(rounds=True)] if numerics == "relaxed" else []),
        AssignLayout(),
        PackWeights(),
        PackOperands(),
        TransposeOperands(),
        PackQuantizedWeights(),
        DecomposePack(),
        HoistLoopInvariants(),
        FoldConstants(masks=numerics != "strict"),
        CanonicalizeGraph(),
        FuseMaps(),
        FuseStencils(),
        HoistInvariants(),
        InterleaveGates(),
        DecomposePack(),
        WinogradBytes(),
        *fewer_products,
        ScaleWeights(numerics),
        FoldConstants(masks=numerics != "strict"),
        CanonicalizeGraph(),
        VerifyLayout(),
    ]
