"""The pipeline for CPUs: from a graph module to C, every pass in order."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects.weights import WeightStore
from mlc.files import output_error
from mlc.options import Options
from mlc.passes.codegen.c_model import Weights
from mlc.passes.codegen.emit_c import KERNELS_A_FILE, emit_c, payload, print_kernels, program_of
from mlc.passes.context import MlcContext
from mlc.passes.fuse.block_rows import BlockRows
from mlc.passes.fuse.deduplicate_kernels import DeduplicateKernels
from mlc.passes.fuse.form_kernels import FormKernels
from mlc.passes.fuse.group_heads import GroupHeads
from mlc.passes.fuse.sink_reshapes import SinkReshapes
from mlc.passes.fuse.split_yields import SplitYields
from mlc.passes.graph import graph_pipeline
from mlc.passes.kernel.count_work import CountWork
from mlc.passes.kernel.lower_kernels import LowerKernels
from mlc.passes.kernel.verify_kernel import VerifyKernel
from mlc.passes.loops.lower_tiles import LowerTiles
from mlc.passes.loops.verify_loops import VerifyLoops
from mlc.passes.plan.build_program import BuildProgram
from mlc.passes.plan.insert_barriers import InsertBarriers
from mlc.passes.plan.plan_memory import PlanMemory
from mlc.passes.plan.verify_plan import VerifyPlan
from mlc.passes.schedule.apply_schedules import ApplySchedules
from mlc.passes.schedule.apply_tuned import ApplyTuned
from mlc.passes.schedule.choose_schedule import ChooseSchedule
from mlc.passes.schedule.raise_to_poly import RaiseToPoly
from mlc.passes.schedule.split_threads import SplitThreads
from mlc.passes.schedule.verify_poly import VerifyPoly
from mlc.passes.tile.tile_kernels import TileKernels
from mlc.runtime.weights import header


def cpu_passes(options: Options) -> list[tuple[str, list[ModulePass]]]:
    """The passes of each stage that transforms IR, in order."""
    target = options.target
    lanes = target.lanes()
    wide = 4 if target.vector_registers > 16 else 2  # with 16 registers a tile has few rows anyway
    given = [ApplySchedules(options.schedule)] if options.schedule else []
    return [
        ("graph", graph_pipeline(options.numerics, channels=lanes, columns=2 * lanes, wide=wide * lanes)),
        ("fuse", [GroupHeads(), BlockRows(), SinkReshapes(), SplitYields(), FormKernels(), DeduplicateKernels(),
                  ApplyTuned(options.tuned_lines())]),
        ("kernel", [LowerKernels(), CountWork(), VerifyKernel()]),
        ("schedule", [RaiseToPoly(), *given, ChooseSchedule(lanes, target.vector_registers, options.numerics),
                      SplitThreads(), VerifyPoly()]),
        ("tile", [TileKernels(), VerifyPoly()]),
        ("loops", [LowerTiles(), VerifyLoops()]),
        ("plan", [BuildProgram(), PlanMemory(apart=bool(options.sanitize)), InsertBarriers(), VerifyPlan()]),
    ]


COPY = 1 << 24  # bytes at a time
STAGES = ("import", "graph", "fuse", "kernel", "schedule", "tile", "loops", "plan", "code")


def stages() -> tuple[str, ...]:
    """Names of the stages in order; ``--emit`` stops after one."""
    return STAGES


class Instrument(Protocol):
    """Called round every pass, with the pass's name as ``stage.pass``."""

    def before(self, name: str, module: ModuleOp, weights: WeightStore) -> None: ...

    def after(self, name: str, module: ModuleOp, weights: WeightStore) -> None: ...


@dataclass
class Lowered:
    """The module after the last stage that ran; after the last of all also C files, signature and weights."""

    module: ModuleOp
    prefix: str
    sources: dict[str, str]
    signature: dict[str, Any]
    weights_writer: Callable[[Path], None]


def lower(
    module: ModuleOp,
    weights: WeightStore,
    options: Options,
    until: str | None = None,
    instruments: Sequence[Instrument] = (),
) -> Lowered:
    """Run the pipeline in place, up to and with the stage ``until`` (None: all of it)."""
    last = STAGES.index(until) if until else len(STAGES)
    run(module, weights, options, STAGES[: last + 1], instruments)
    if until not in (None, "code"):
        return Lowered(module, "", {}, {}, lambda path: None)
    return code(module, weights, options, instruments)


def run(
    module: ModuleOp,
    weights: WeightStore,
    options: Options,
    wanted: Sequence[str],
    instruments: Sequence[Instrument] = (),
) -> None:
    """Run the passes of some stages in place."""
    ctx = MlcContext(weights=weights)
    for stage, each in ((stage, each) for stage, passes in cpu_passes(options) for each in passes):
        if stage in wanted:
            name = f"{stage}.{each.name}"
            _call(instruments, "before", name, module, weights)
            each.apply(ctx, module)
            _call(instruments, "after", name, module, weights)


def _call(instruments: Sequence[Instrument], event: str, name: str, module: ModuleOp, weights: WeightStore) -> None:
    for instrument in instruments:
        getattr(instrument, event)(name, module, weights)


def code(
    module: ModuleOp,
    weights: WeightStore,
    options: Options,
    instruments: Sequence[Instrument] = (),
    kernels_a_file: int = KERNELS_A_FILE,
    known: Payload | None = None,
) -> Lowered:
    """The last stage: a planned module as C files. ``known``: its payload, where that has been made."""
    from mlc import __version__

    _call(instruments, "before", "code.emit-c", module, weights)
    program = program_of(module)
    prefix = c_identifier((module.sym_name or program.sym_name).data)  # the frontend names the module
    with ThreadPoolExecutor(1) as pool:
        making = pool.submit(lambda: known or spooled(program, weights))
        kernels = print_kernels(module, options.target.lanes())
    made = making.result()
    file = None if not made.size or options.embeds(made.size) else f"{prefix}.weights"
    target = options.target
    about = {"mlc": __version__, "target": target.name, "isa": list(target.isa)}
    about_weights = Weights(made.size, made.digest.hex(), file)
    printed = emit_c(module, prefix, kernels, target.isa, about_weights, about, kernels_a_file)
    _call(instruments, "after", "code.emit-c", module, weights)

    def write(path: Path) -> None:
        with path.open("wb") as out:
            out.write(header(made.size, made.digest))
            made.file.seek(0)
            shutil.copyfileobj(made.file, out, COPY)

    return Lowered(module, prefix, printed.sources, printed.signature, write)


@dataclass(frozen=True)
class Payload:
    """The bytes of the weights, in a temporary file that goes with this object; their number and SHA-256."""

    size: int
    digest: bytes
    file: BinaryIO


def spooled(program: Any, weights: WeightStore) -> Payload:
    """The payload, made once: the library that names its digest comes before the weights' file. OutputError where there
    is no room."""
    file = cast(BinaryIO, tempfile.TemporaryFile(prefix="mlc-payload-"))  # noqa: SIM115 (closed with its last reader)
    digest, size = hashlib.sha256(), 0
    for piece in payload(program, weights):
        digest.update(piece)
        try:
            size += file.write(piece)
        except OSError as error:
            raise output_error(Path(tempfile.gettempdir()), error) from error
    return Payload(size, digest.digest(), file)


def c_identifier(name: str) -> str:
    """A model's name as the prefix of its C symbols."""
    cleaned = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_") or "model"
    return cleaned if not cleaned[0].isdigit() else f"m_{cleaned}"


