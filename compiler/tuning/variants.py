"""Variants of one model: some of its kernels run other schedules. What no schedule changes is compiled once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr

from mlc import artifact, pipeline
from mlc.build import import_source
from mlc.cache import Cache
from mlc.dialects.kernel import FuncOp
from mlc.identity import Source
from mlc.instruments import Digests
from mlc.options import Options, environment
from mlc.passes.codegen.emit_c import program_of
from mlc.passes.schedule.choose_schedule import schedules
from mlc.passes.schedule.machine import Machine
from mlc.passes.schedule.schedule import SCHEDULE
from mlc.passes.schedule.split_threads import split_like
from mlc.passes.schedule.view import ScheduleError, statements_of
from mlc.runtime import Model, load
from mlc.toolchain import find

BEFORE, AFTER = pipeline.STAGES[: pipeline.STAGES.index("tile")], ("tile", "loops")


@dataclass
class Variants:
    """``folder`` takes the libraries, and has to stay while they are loaded."""

    source: Source
    options: Options
    folder: Path
    kernels: dict[str, FuncOp] = field(default_factory=dict)  # with their statements, before they are tiled
    _placed: dict[str, FuncOp] = field(default_factory=dict)  # those in the module
    _lowered: dict[tuple[str, str], FuncOp | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.options = replace(self.options, tuned={}, schedule=None, embed_weights=False)
        imported, seen = import_source(self.source, self.options), Digests()
        self.module, self.weights = imported.module, imported.weights
        pipeline.run(self.module, self.weights, self.options, BEFORE, [seen])
        self.digests = seen.of
        self.kernels = {name: fn.clone() for name, fn in self._functions().items()}
        pipeline.run(self.module, self.weights, self.options, (*AFTER, "plan"))
        self._placed = self._functions()
        self._lowered = {(name, self.chosen(name)): fn for name, fn in self._placed.items()}
        self._payload = pipeline.spooled(program_of(self.module), self.weights)

    def _functions(self) -> dict[str, FuncOp]:
        functions = [o for o in self.module.ops if isinstance(o, FuncOp)]
        return {fn.sym_name.data: fn for fn in functions if SCHEDULE in fn.attributes}

    def chosen(self, name: str) -> str:
        """The schedule of a kernel that is not tuned."""
        schedule = self.kernels[name].attributes[SCHEDULE]
        assert isinstance(schedule, StringAttr)
        return schedule.data

    def candidates(self, name: str) -> Iterator[str]:
        """Schedules for a kernel, the best by the rule's cost model first."""
        target = self.options.target
        found = schedules(statements_of(self.kernels[name]), Machine(target.lanes(), target.vector_registers))
        return (split_like(schedule, self.chosen(name)) for schedule in found)

    def legal(self, name: str, schedule: str) -> bool:
        """Whether a kernel can run a schedule; if so, it is lowered."""
        if (name, schedule) not in self._lowered:
            fn = self.kernels[name].clone()
            fn.attributes[SCHEDULE] = StringAttr(schedule)
            try:
                pipeline.run(ModuleOp([fn]), self.weights, self.options, AFTER)
                fn.detach()
                self._lowered[name, schedule] = fn
            except ScheduleError:
                self._lowered[name, schedule] = None
        return self._lowered[name, schedule] is not None

    def model(self, given: Mapping[str, str], threads: int | None) -> Model:
        """The model with these schedules, by kernel, and the chosen ones for the others."""
        for name in self._placed:
            self._place(name, given.get(name, self.chosen(name)))
        self._forget()
        lowered = pipeline.code(self.module, self.weights, self.options, kernels_a_file=1, known=self._payload)
        lowered = replace(lowered, weights_writer=partial(self._link, lowered.weights_writer))
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        toolchain = find(self.options.cc or environment().cc, self.options.target)
        return load(artifact.write(lowered, folder, self.options, toolchain, Cache.default()).library, threads)

    def _place(self, name: str, schedule: str) -> None:
        if not self.legal(name, schedule):
            raise ValueError(f"kernel {name} cannot run {schedule}")
        old, new = self._placed[name], self._lowered[name, schedule]
        assert new is not None and old.parent is not None
        if new is not old:
            old.parent.insert_op_before(new, old)
            old.detach()
            self._placed[name] = new

    def _forget(self) -> None:
        """Candidates that had their turn are lowered again if they come back: all of them would take much memory."""
        for (name, schedule), fn in list(self._lowered.items()):
            if fn is not None and fn is not self._placed[name] and schedule != self.chosen(name):
                del self._lowered[name, schedule]

    def _link(self, write: Callable[[Path], None], path: Path) -> None:
        """The weights are those of every variant: written once, and mapped once."""
        if not (first := self.folder / "weights").exists():
            write(first)
        os.link(first, path)
