"""The pipeline for NVIDIA GPUs: all passes from an imported graph to a planned host program, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlc.passes.device.asynchronous.copy_by_tma import CopyByTma
from mlc.passes.device.asynchronous.pipeline_copies import PipelineCopies
from mlc.passes.device.asynchronous.specialize_warps import SpecializeWarps
from mlc.passes.device.asynchronous.store_by_tma import StoreByTma
from mlc.passes.device.distribute_values import DistributeValues
from mlc.passes.device.insert_block_barriers import InsertBlockBarriers
from mlc.passes.device.raster_tiles import RasterTiles
from mlc.passes.device.set_launch_geometry import SetLaunchGeometry
from mlc.passes.device.stage_operands import StageOperands
from mlc.passes.device.stream_k import StreamK
from mlc.passes.device.streaming.hoist_copies import HoistCopies
from mlc.passes.device.streaming.order_blocks import OrderBlocks
from mlc.passes.device.streaming.promote_locals import PromoteLocals
from mlc.passes.device.streaming.share_locals import ShareLocals
from mlc.passes.device.streaming.split_loops import SplitLoops
from mlc.passes.device.streaming.use_exp2 import UseExp2
from mlc.passes.device.use_tensor_cores import UseTensorCores
from mlc.passes.device.use_warpgroups import UseWarpgroups
from mlc.passes.device.verify_device import VerifyDevice
from mlc.passes.fuse.autodiff.recompute_scores import RecomputeScores
from mlc.passes.fuse.autodiff.rematerialize import Rematerialize
from mlc.passes.fuse.autodiff.split_chains import SplitChains
from mlc.passes.fuse.deduplicate_kernels import DeduplicateKernels
from mlc.passes.fuse.defer_normalization import DeferNormalization
from mlc.passes.fuse.delay_updates import DelayUpdates
from mlc.passes.fuse.expand_contractions import ExpandContractions
from mlc.passes.fuse.expand_winograd import ExpandWinograd
from mlc.passes.fuse.form_kernels import FormKernels
from mlc.passes.fuse.reassociate_sums import ReassociateSums
from mlc.passes.fuse.sink_reshapes import SinkReshapes
from mlc.passes.fuse.split_concats import SplitConcats
from mlc.passes.fuse.split_yields import SplitYields
from mlc.passes.graph import graph_pipeline
from mlc.passes.graph.canonicalize_graph import CanonicalizeGraph
from mlc.passes.graph.fold_constants import FoldConstants
from mlc.passes.graph.fuse_maps import FuseMaps
from mlc.passes.graph.hoist_invariants import HoistInvariants
from mlc.passes.kernel.count_work import CountWork
from mlc.passes.kernel.lower_kernels import LowerKernels
from mlc.passes.kernel.verify_kernel import VerifyKernel
from mlc.passes.layout.assign_layout import AssignLayout
from mlc.passes.layout.decompose_pack import DecomposePack
from mlc.passes.layout.factors.unpack_blocks import UnpackBlocks
from mlc.passes.layout.sink_casts import SinkCasts
from mlc.passes.layout.transpose_operands import TransposeOperands
from mlc.passes.layout.verify_layout import VerifyLayout
from mlc.passes.loops.lower_tiles import LowerTiles
from mlc.passes.loops.merge_tail_reductions import MergeTailReductions
from mlc.passes.loops.spill_locals import SpillLocals
from mlc.passes.loops.verify_loops import VerifyLoops
from mlc.passes.plan.annotate_launches import AnnotateLaunches
from mlc.passes.plan.assign_memory_spaces import AssignMemorySpaces
from mlc.passes.plan.build_program import BuildProgram
from mlc.passes.plan.insert_barriers import InsertBarriers
from mlc.passes.plan.plan_memory import PlanMemory
from mlc.passes.plan.verify_plan import VerifyPlan
from mlc.passes.schedule.apply_parts import ApplyParts
from mlc.passes.schedule.apply_schedules import ApplySchedules
from mlc.passes.schedule.apply_tuned import ApplyTuned
from mlc.passes.schedule.choose_gpu_schedule import ChooseGpuSchedule
from mlc.passes.schedule.collapse_iterators import CollapseIterators
from mlc.passes.schedule.masks.compute_bands import ComputeBands
from mlc.passes.schedule.masks.restrict_domains import RestrictDomains
from mlc.passes.schedule.prove_in_place import ProveInPlace
from mlc.passes.schedule.split_reductions import SplitReductions
from mlc.passes.tile.tile_kernels import TileKernels
from mlc.pipelines.backend import Stages

if TYPE_CHECKING:
    from mlc.options import Options


def gpu_pipeline(options: Options) -> Stages:
    """The passes of each stage that transforms IR. Layouts stay plain, but for images of halves, which are NHWC."""
    parts = [ApplyParts(options.schedule)] if options.schedule else []
    given = [ApplySchedules(options.schedule)] if options.schedule else []
    winograd = [ExpandWinograd(), FoldConstants(), CanonicalizeGraph()] if options.numerics == "default" else []
    tuned = ApplyTuned(options.tuned_lines())
    return [
        ("graph", graph_pipeline(options.numerics, [UnpackBlocks(), SinkCasts(options.numerics)])),
        ("layout", [AssignLayout(), TransposeOperands(options.numerics), DecomposePack(),
                    FoldConstants(masks=options.numerics != "strict"),
                    CanonicalizeGraph(), FuseMaps(),
                    HoistInvariants(), VerifyLayout()]),
        ("fuse", [*winograd, ExpandContractions(), SinkReshapes(), SplitYields(), SplitConcats(),
                  ReassociateSums(options.numerics), RecomputeScores(), SplitChains(),
                  Rematerialize(options.peak_memory), DeferNormalization(), FormKernels(), DeduplicateKernels(),
                  DelayUpdates(), tuned]),
        ("kernel", [LowerKernels(float8=True), CountWork(), VerifyKernel()]),
        ("schedule", [CollapseIterators(), *parts, SplitReductions(options.numerics),
                      RestrictDomains(options.numerics), ComputeBands(), tuned, *given,
                      ChooseGpuSchedule(options.numerics), ProveInPlace(), VerifyKernel()]),
        ("tile", [TileKernels(), VerifyKernel()]),
        ("loops", [LowerTiles(), VerifyLoops(), MergeTailReductions(), PromoteLocals(), SpillLocals(), StageOperands(),
                   UseTensorCores(options.numerics), UseWarpgroups(options.numerics), UseExp2(), HoistCopies(),
                   CopyByTma(), StoreByTma(), SpecializeWarps(), RasterTiles(), StreamK(), PipelineCopies(),
                   SplitLoops(), OrderBlocks(), ShareLocals(), DistributeValues(), InsertBlockBarriers(),
                   SetLaunchGeometry(), VerifyDevice()]),
        ("plan", [BuildProgram(), AssignMemorySpaces(), PlanMemory(redzones=bool(options.sanitize)), InsertBarriers(),
                  AnnotateLaunches(), VerifyPlan()]),
    ]  # fmt: skip
