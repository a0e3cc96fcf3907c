"""Lower a graph module: the passes of the pipeline, then C, with instruments around each pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

import mlc
from mlc.dialects.graph.base import FIXED
from mlc.dialects.weights import WeightStore
from mlc.driver.artifact.names import c_prefix
from mlc.driver.artifact.payload import Payload, PayloadsOfRanks, spool
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.instrument import Instrument, step
from mlc.driver.known_kernels import KnownKernels
from mlc.options import Options
from mlc.passes.codegen.cpu.c_model import Weights
from mlc.passes.codegen.emit_c import FILE_BYTES, Kernels, program_of
from mlc.passes.context import MlcContext
from mlc.passes.schedule.apply_tuned import digests
from mlc.pipelines import STAGES
from mlc.pipelines.backend import Backend
from mlc.pipelines.backends import backend_of
from mlc.plugins import with_passes

CODE_STEPS = 2  # after the passes: printing C, and compiling it


@dataclass
class Lowered:
    """The module after the last stage that ran; after the last stage also C files, signature and weights."""

    module: ModuleOp
    prefix: str
    sources: dict[str, str]
    signature: dict[str, Any]
    weights_writer: Callable[[Path], None]
    families: tuple[str, ...] = ()  # of the runtime library functions that the program calls

    @property
    def kernel_digests(self) -> list[str]:
        """The digests of kernels, which are the keys of tuned schedules."""
        return list(digests(self.module).values())


def lower(
    module: ModuleOp,
    weights: WeightStore,
    options: Options,
    until: str | None = None,
    instruments: Sequence[Instrument] = (),
    cache: Cache | None = None,
) -> Lowered:
    """Run the pipeline in place, up to and including the stage ``until`` (None: all stages). Kernels that ``cache`` has
    are not lowered again, unless an instrument reads the IR."""
    last = STAGES.index(until) if until else len(STAGES)
    unseen = until is None and not any(instrument.reads_ir for instrument in instruments)
    kernels = KnownKernels.of(cache, options) if cache is not None and unseen else None
    run(module, weights, options, STAGES[: last + 1], instruments, kernels)
    if until not in (None, "code"):
        return Lowered(module, "", {}, {}, lambda path: None)
    return code(module, weights, options, instruments, kernels=kernels)


def run(
    module: ModuleOp,
    weights: WeightStore,
    options: Options,
    wanted: Sequence[str],
    instruments: Sequence[Instrument] = (),
    kernels: KnownKernels | None = None,
) -> None:
    """Run the passes of some stages in place, without lowering the ``kernels`` that are known."""
    ctx = MlcContext(weights=weights, target=options.target)
    pipeline = with_passes(backend_of(options.target).pipeline(options))
    stages = [(stage, passes) for stage, passes in pipeline if stage in wanted]
    for instrument in instruments:
        instrument.expect(sum(len(passes) for _, passes in stages) + CODE_STEPS * (STAGES[-1] in wanted))
    for stage, passes in stages:
        if kernels is not None:
            kernels.before(stage, module)
        for each in passes:
            with step(instruments, f"{stage}.{each.name}", module, weights):
                each.apply(ctx, module)


def code(
    module: ModuleOp,
    weights: WeightStore,
    options: Options,
    instruments: Sequence[Instrument] = (),
    file_bytes: int = FILE_BYTES,
    known: Payload | PayloadsOfRanks | None = None,
    kernels: KnownKernels | None = None,
) -> Lowered:
    """Run the last stage: a planned module becomes C files. ``known`` is its payload, if that exists already;
    ``kernels`` are those that need no printing, and what remembers the others."""
    with step(instruments, "code.emit-c", module, weights):
        program, backend = program_of(module), backend_of(options.target)
        prefix = c_prefix((module.sym_name or program.sym_name).data)  # the frontend names the module
        with ThreadPoolExecutor(1) as pool:
            making = pool.submit(lambda: known or spool(program, weights))
            functions = _functions(module, backend, kernels)
        made, target = making.result(), options.target
        inside = options.embeds(made.size) and not made.of_ranks
        file = None if not made.size or inside else f"{prefix}.weights"
        about = {"mlc": mlc.__version__, "target": target.name, "isa": list(target.features), **_fixed(module)}
        weights_of_code = Weights(made.size, made.digest.hex(), file, made.of_ranks)
        printed = backend.print_code(module, prefix, functions, weights_of_code, about, file_bytes)
    return Lowered(module, prefix, printed.sources, printed.signature, made.write, printed.families)


def _functions(module: ModuleOp, backend: Backend, kernels: KnownKernels | None) -> Kernels:
    """The kernels of a planned module as C functions."""
    if kernels is None:
        return backend.print_kernels(module)
    functions = backend.print_others(module, kernels.printed)
    kernels.remember(module, functions.printed)
    return functions


def _fixed(module: ModuleOp) -> dict[str, list[str]]:
    """The entry of the signature that lists inputs whose values are compiled in; empty without such inputs."""
    names = module.attributes.get(FIXED)
    return {"fixed": [name.data for name in names]} if names else {}  # type: ignore[attr-defined]
