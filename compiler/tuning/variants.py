"""Variants of one model, with other schedules for some kernels. Everything else is compiled once; variants with other
numbers of parts of a sum have other kernels, and are lowered anew from the kernel stage on. Kernels whose launches have
other buffers, such as the parts and semaphores of stream-K, are lowered anew with all others from the tile stage on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from mlc.dialects.kernel import FuncOp
from mlc.dialects.poly import ScheduleAttr, ScheduleError, schedule_of, schedule_text
from mlc.driver import lower as pipeline
from mlc.driver.artifact.payload import Payload, PayloadsOfRanks, spool
from mlc.driver.artifact.write_artifact import write
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.compile import import_source
from mlc.driver.source import Source
from mlc.options import Options
from mlc.passes.codegen.emit_c import program_of
from mlc.passes.schedule.apply_tuned import digests
from mlc.passes.schedule.gpu.part_numbers import PARTS_SUFFIX, number_of_parts
from mlc.pipelines import STAGES
from mlc.pipelines.backends import backend_of
from mlc.runtime import Model, load

WHOLE, AFTER = STAGES[: STAGES.index("schedule")], ("tile", "loops")


@dataclass
class Variants:
    """``folder`` contains the libraries, and must exist while they are loaded."""

    source: Source
    options: Options
    folder: Path
    kernels: dict[str, FuncOp] = field(default_factory=dict)  # with their statements, before they are tiled
    parts: dict[str, int] = field(default_factory=dict)  # given numbers of parts of sums, by kernel
    _placed: dict[str, FuncOp] = field(default_factory=dict)  # those in the module
    _lowered: dict[tuple[str, str], FuncOp | None] = field(default_factory=dict)
    _payload: Payload | PayloadsOfRanks | None = None

    def __post_init__(self) -> None:
        self.options = replace(self.options, tuned={}, schedule=None, embed_weights=False)
        imported = import_source(self.source, self.options)
        self.whole, self.weights = imported.module, imported.weights
        pipeline.run(self.whole, self.weights, self.options, WHOLE)
        self.divide({})

    def divide(self, parts: Mapping[str, int]) -> None:
        """Begin again with so many parts of the sums of some kernels; of the others as many as estimated."""
        self.parts, self.module = dict(parts), self.whole.clone()
        for fn in [o for o in self.module.ops if isinstance(o, FuncOp)]:
            if given := parts.get(fn.sym_name.data):
                fn.parts = IntegerAttr(given, i64)
        pipeline.run(self.module, self.weights, self.options, ("schedule",))
        self.digests = digests(self.module)
        self.kernels = {name: fn.clone() for name, fn in self._functions().items()}
        self.scheduled = self.module.clone()
        self._plan()
        self._lowered = {(name, self.chosen(name)): fn for name, fn in self._placed.items()}

    def _plan(self) -> None:
        """Lower the scheduled module. Its weights are written anew only where they are others."""
        pipeline.run(self.module, self.weights, self.options, (*AFTER, "plan"))
        self._placed = self._functions()
        made = spool(program_of(self.module), self.weights)
        if self._payload is None or made.digest != self._payload.digest:
            self._payload, self._linked = made, Path(tempfile.mkdtemp(dir=self.folder)) / "weights"

    def numbers(self, name: str) -> list[int]:
        """Numbers of parts of a kernel's sum, the best by the estimate first; none where it has no parts."""
        found = [o for o in self.whole.ops if isinstance(o, FuncOp) and o.sym_name.data == name]
        return backend_of(self.options.target).parts(found[0], self.options.numerics) if found else []

    def number(self, name: str) -> int:
        """The number of parts of a kernel's sum; 1: it is whole."""
        divided = self.kernels.get(name + PARTS_SUFFIX)
        return (divided and number_of_parts(schedule_of(divided))) or 1

    def _functions(self) -> dict[str, FuncOp]:
        functions = [o for o in self.module.ops if isinstance(o, FuncOp)]
        return {fn.sym_name.data: fn for fn in functions if fn.schedule is not None}

    def chosen(self, name: str) -> str:
        """The schedule of a kernel that is not tuned."""
        return schedule_text(schedule_of(self.kernels[name]))

    def candidates(self, name: str) -> Iterator[str]:
        """Schedules for a kernel, the best by the rule's cost model first."""
        candidates = backend_of(self.options.target).candidates(self.kernels[name], self.options.numerics)
        return (schedule.text for schedule in candidates)

    def legal(self, name: str, schedule: str) -> bool:
        """Whether a schedule can be applied to a kernel; if so, the kernel is lowered."""
        if (name, schedule) not in self._lowered:
            fn = self.kernels[name].clone()
            fn.origin = replace(fn.origin, plain=None)
            try:
                fn.schedule = ScheduleAttr.parsed(schedule)
                pipeline.run(ModuleOp([fn]), self.weights, self.options, AFTER)
                fn.detach()
                self._lowered[name, schedule] = fn if fn.origin.plain is None else None
            except ScheduleError:
                self._lowered[name, schedule] = None
        return self._lowered[name, schedule] is not None

    def _fits(self, name: str, schedule: str) -> bool:
        """Whether the launches of a kernel can be those of a candidate: it takes the same buffers and dimensions."""
        if not self.legal(name, schedule):
            raise ValueError(f"schedule {schedule} cannot be applied to kernel {name}")
        new, known = self._lowered[name, schedule], self._placed[name]
        assert new is not None
        return new.block.arg_types == known.block.arg_types and new.symbols == known.symbols

    def model(self, given: Mapping[str, str], threads: int | None) -> Model:
        """The model with these schedules, by kernel, and the chosen ones for the others."""
        schedules = {name: given.get(name, self.chosen(name)) for name in self._placed}
        fits = [self._fits(*each) for each in schedules.items()]
        if all(fits):
            for name, schedule in schedules.items():
                self._place(name, schedule)
        else:
            self._lower_anew(schedules)
        self._forget()
        lowered = pipeline.code(self.module, self.weights, self.options, file_bytes=0, known=self._payload)
        lowered = replace(lowered, weights_writer=partial(self._link, lowered.weights_writer))
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        toolchain = backend_of(self.options.target).toolchain(self.options.cc)
        return load(write(lowered, folder, self.options, toolchain, Cache.default()).library, threads)

    def _place(self, name: str, schedule: str) -> None:
        old, new = self._placed[name], self._lowered[name, schedule]
        assert new is not None and old.parent is not None
        if new is not old:
            old.parent.insert_op_before(new, old)
            old.detach()
            self._placed[name] = new

    def _lower_anew(self, schedules: Mapping[str, str]) -> None:
        """Make the launches again, with the buffers that these schedules need."""
        for fn in self._placed.values():
            fn.detach()
        self.module = self.scheduled.clone()
        for name, fn in self._functions().items():
            if schedules[name] != self.chosen(name):
                fn.origin = replace(fn.origin, plain=None)
                fn.schedule = ScheduleAttr.parsed(schedules[name])
        self._plan()
        self._lowered |= {(name, schedules[name]): fn for name, fn in self._placed.items()}

    def _forget(self) -> None:
        """Drop candidates that were measured: all of them take much memory; one that comes back is lowered again."""
        for (name, schedule), fn in list(self._lowered.items()):
            if fn is not None and fn is not self._placed[name] and schedule != self.chosen(name):
                del self._lowered[name, schedule]

    def _link(self, write: Callable[[Path], None], path: Path) -> None:
        """The weights are those of every variant: written once, and mapped once."""
        if not self._linked.exists():
            write(self._linked)
        os.link(self._linked, path)
