"""The pipeline for CPUs: all passes from an imported graph to a planned host program, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlc.passes.distribute.distribute import Distribute
from mlc.passes.distribute.gather_anew import GatherAnew
from mlc.passes.fuse.autodiff.recompute_scores import RecomputeScores
from mlc.passes.fuse.autodiff.rematerialize import Rematerialize
from mlc.passes.fuse.deduplicate_kernels import DeduplicateKernels
from mlc.passes.fuse.defer_normalization import DeferNormalization
from mlc.passes.fuse.delay_updates import DelayUpdates
from mlc.passes.fuse.expand_contractions import ExpandContractions
from mlc.passes.fuse.factor_sums import FactorSums
from mlc.passes.fuse.form_kernels import FormKernels
from mlc.passes.fuse.fuse_reductions import FuseReductions
from mlc.passes.fuse.reassociate_sums import ReassociateSums
from mlc.passes.fuse.sink_reshapes import SinkReshapes
from mlc.passes.fuse.split_concats import SplitConcats
from mlc.passes.fuse.split_yields import SplitYields
from mlc.passes.graph import graph_pipeline
from mlc.passes.kernel.count_work import CountWork
from mlc.passes.kernel.lower_kernels import LowerKernels
from mlc.passes.kernel.requantize_in_floats import RequantizeInFloats
from mlc.passes.kernel.verify_kernel import VerifyKernel
from mlc.passes.layout import layout_pipeline
from mlc.passes.layout.factors.narrow_weights import NarrowWeights
from mlc.passes.layout.factors.round_blocks import RoundBlocks
from mlc.passes.layout.factors.round_factors import RoundFactors
from mlc.passes.layout.factors.unpack_blocks import UnpackBlocks
from mlc.passes.loops.lower_tiles import LowerTiles
from mlc.passes.loops.roll_epilogues import RollEpilogues
from mlc.passes.loops.spill_locals import SpillLocals
from mlc.passes.loops.verify_loops import VerifyLoops
from mlc.passes.plan.annotate_launches import AnnotateLaunches
from mlc.passes.plan.build_program import BuildProgram
from mlc.passes.plan.insert_barriers import InsertBarriers
from mlc.passes.plan.outline_loops import OutlineLoops
from mlc.passes.plan.overlap_collectives import OverlapCollectives
from mlc.passes.plan.plan_memory import PlanMemory
from mlc.passes.plan.verify_plan import VerifyPlan
from mlc.passes.schedule.apply_schedules import ApplySchedules
from mlc.passes.schedule.apply_tuned import ApplyTuned
from mlc.passes.schedule.choose_schedule import ChooseSchedule
from mlc.passes.schedule.collapse_iterators import CollapseIterators
from mlc.passes.schedule.masks.compute_bands import ComputeBands
from mlc.passes.schedule.masks.restrict_domains import RestrictDomains
from mlc.passes.schedule.masks.skip_borders import SkipBorders
from mlc.passes.schedule.partition_parallel_loops import PartitionParallelLoops
from mlc.passes.schedule.prove_in_place import ProveInPlace
from mlc.passes.tile.tile_kernels import TileKernels
from mlc.pipelines.backend import Stages

if TYPE_CHECKING:
    from mlc.options import Options


def cpu_pipeline(options: Options) -> Stages:
    """The passes of each stage that transforms IR. They read widths and sizes from the context's target."""
    bytes_of_blocks = RoundBlocks(always=options.numerics == "relaxed")
    rounded = [] if options.numerics == "strict" else [bytes_of_blocks, RoundFactors(exactly=True)]
    stored = [*rounded, UnpackBlocks(), NarrowWeights()]  # read weights in the type in which the model has them
    in_floats = [] if options.numerics == "strict" else [RequantizeInFloats()]
    given = [ApplySchedules(options.schedule)] if options.schedule else []
    return [
        ("graph", [*graph_pipeline(options.numerics, stored), Distribute(), GatherAnew()]),
        ("layout", layout_pipeline(options.numerics)),
        ("fuse", [FactorSums(options.numerics), FuseReductions(), ExpandContractions(), SinkReshapes(), SplitYields(),
                  SplitConcats(), ReassociateSums(options.numerics), RecomputeScores(),
                  Rematerialize(options.peak_memory), DeferNormalization(), FormKernels(),
                  DeduplicateKernels(), DelayUpdates(), ApplyTuned(options.tuned_lines())]),
        ("kernel", [*in_floats, LowerKernels(), CountWork(), VerifyKernel()]),
        ("schedule", [CollapseIterators(), RestrictDomains(options.numerics), SkipBorders(options.numerics),
                      ComputeBands(), ProveInPlace(), *given, ChooseSchedule(options.numerics),
                      PartitionParallelLoops(), VerifyKernel()]),
        ("tile", [TileKernels(), VerifyKernel()]),
        ("loops", [LowerTiles(), RollEpilogues(), SpillLocals(), VerifyLoops()]),
        ("plan", [BuildProgram(), OutlineLoops(), OverlapCollectives(), PlanMemory(redzones=bool(options.sanitize)),
                  InsertBarriers(), AnnotateLaunches(), VerifyPlan()]),
    ]  # fmt: skip
