"""The facts that a ``kernel.func`` declares beside its name and its type: all that passes may write on a kernel."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, IntegerType, StringAttr, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation, opt_prop_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import NODE
from mlc.dialects.kernel.facts import (
    Fusion,
    FusionAttr,
    Launch,
    LaunchAttr,
    Loop,
    LoopAttr,
    Origin,
    OriginAttr,
    Scratch,
    ScratchAttr,
    Work,
    WorkAttr,
)
from mlc.dialects.poly.attributes import ScheduleAttr

LOOP = "kernel.loop"
FACTS = (
    *("fusion", "origin", "work", "parts", "in_place", "schedule", "schedule_tree"),
    *("serial", "scratch", "launch"),
)
"""The properties of a kernel, in the order of the passes that write them first."""


class DeclaredFacts(IRDLOperation):
    """The facts of a kernel as properties. A record that no pass has written is the record of all defaults.

    ``parts``: how many parts ``split-reductions`` makes of a sum; 1 keeps it whole. ``serial``: why one thread runs the
    kernel. ``schedule_tree``: the isl schedule tree between ``tile-kernels`` and ``lower-tiles``.
    """

    schedule = opt_prop_def(ScheduleAttr)
    schedule_tree = opt_prop_def(StringAttr)
    parts = opt_prop_def(IntegerAttr)
    serial = opt_prop_def(StringAttr)
    origin_attr = opt_prop_def(OriginAttr, prop_name="origin")
    fusion_attr = opt_prop_def(FusionAttr, prop_name="fusion")
    work_attr = opt_prop_def(WorkAttr, prop_name="work")
    scratch_attr = opt_prop_def(ScratchAttr, prop_name="scratch")
    launch_attr = opt_prop_def(LaunchAttr, prop_name="launch")
    in_place_attr = opt_prop_def(ArrayAttr[DenseArrayBase[IntegerType]], prop_name="in_place")

    @property
    def origin(self) -> Origin:
        return self.origin_attr.data if self.origin_attr else Origin()

    @origin.setter
    def origin(self, record: Origin) -> None:
        self.origin_attr = None if record == Origin() else OriginAttr(record)

    @property
    def fusion(self) -> Fusion:
        return self.fusion_attr.data if self.fusion_attr else Fusion()

    @fusion.setter
    def fusion(self, record: Fusion) -> None:
        self.fusion_attr = None if record == Fusion() else FusionAttr(record)

    @property
    def work(self) -> Work:
        return self.work_attr.data if self.work_attr else Work()

    @work.setter
    def work(self, record: Work) -> None:
        self.work_attr = None if record == Work() else WorkAttr(record)

    @property
    def scratch(self) -> Scratch:
        return self.scratch_attr.data if self.scratch_attr else Scratch()

    @scratch.setter
    def scratch(self, record: Scratch) -> None:
        self.scratch_attr = None if record == Scratch() else ScratchAttr(record)

    @property
    def launch(self) -> Launch:
        return self.launch_attr.data if self.launch_attr else Launch()

    @launch.setter
    def launch(self, record: Launch) -> None:
        self.launch_attr = None if record == Launch() else LaunchAttr(record)

    @property
    def in_place(self) -> frozenset[tuple[int, int]]:
        """The pairs (input, output) of buffers that may be the same memory (``prove-in-place``)."""
        pairs = (pair.get_values() for pair in self.in_place_attr or ())
        return frozenset((first, second) for first, second in pairs)

    @in_place.setter
    def in_place(self, pairs: Iterable[tuple[int, int]]) -> None:
        self.in_place_attr = ArrayAttr(DenseArrayBase.from_list(i64, pair) for pair in sorted(pairs))

    def split_parts(self) -> int | None:
        """Return the number of parts that the user or the tuner gave for a kernel's sum; None if an estimate
        decides."""
        return None if self.parts is None else self.parts.value.data

    def declared(self) -> dict[str, Attribute]:
        """Return the facts that are written, in the order of ``FACTS``."""
        return {name: self.properties[name] for name in FACTS if name in self.properties}

    def declare(self, attributes: dict[str, Attribute]) -> None:
        """Set the attributes of a parsed kernel: facts become properties, all others stay attributes."""
        self.properties |= {name: each for name, each in attributes.items() if name in FACTS}
        self.attributes |= {name: each for name, each in attributes.items() if name not in FACTS}

    def check_facts(self, arguments: int) -> None:
        """Raise VerifyException if a fact contradicts the kernel's number of arguments, or an attribute is no fact."""
        if unknown := self.attributes.keys() - {NODE}:
            raise VerifyException(f"kernel.func has no fact '{min(unknown)}'; it has {', '.join(FACTS)}")
        last = self.scratch.arrays + self.scratch.semaphores
        if last > arguments:
            raise VerifyException(f"{last} arguments are scratch arrays and semaphores, of {arguments}")
        numbers = [*self.launch.aligned, *(n for pair in self.in_place for n in pair)]
        if any(not 0 <= n < arguments for n in numbers):
            raise VerifyException(f"there is no argument {max(numbers)}; the kernel has {arguments}")
        if self.parts is not None and self.parts.value.data < 1:
            raise VerifyException(f"a sum has {self.parts.value.data} parts; it has at least one")


def loop_of(op: Operation) -> Loop:
    """Return what passes say about a loop."""
    attr = op.attributes.get(LOOP)
    return attr.data if isinstance(attr, LoopAttr) else Loop()


def set_loop(op: Operation, record: Loop) -> None:
    """Record what a pass says about a loop."""
    op.attributes[LOOP] = LoopAttr(record)
