"""The values of a CUDA function: each value is the variables in which a thread holds its part."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from mlc.dialects.kernel.linear_layout import LayoutAttr, LinearLayout
from mlc.passes.codegen.c_like.c_text import KernelText
from mlc.passes.codegen.c_like.c_types import c_scalar, element
from mlc.passes.codegen.cuda.thread.coordinates import Coordinates
from mlc.passes.codegen.cuda.thread.register_order import RegisterOrder
from mlc.passes.codegen.cuda.thread.thread_part import Held, ThreadPart
from mlc.passes.device.distribute_values import DISTRIBUTION
from mlc.passes.device.distribution.value_classes import extents


@dataclass
class KernelValues(KernelText, ABC):
    """A printer of a CUDA function that keeps the variables of each value, and the pointers of each buffer."""

    team: ClassVar[tuple[str, str]] = ("MLC_GRID_THREAD", "MLC_GRID_THREADS")

    head: list[str] = field(default_factory=list)  # declarations at the start of the function
    env: dict[SSAValue, Held] = field(default_factory=dict)
    starts: dict[SSAValue, str] = field(default_factory=dict)  # of a ring's buffers, in bytes from the first one
    order: RegisterOrder = field(default_factory=RegisterOrder)
    layouts: dict[SSAValue, LinearLayout] = field(default_factory=dict)  # of local arrays that are not row-major

    @cached_property
    def coordinates(self) -> Coordinates:
        return Coordinates(lambda name, text: self.head.append(f"const int {name} = {text};"))

    def scalar(self, value: SSAValue) -> str:
        return self.env[value].only

    def part(self, value: SSAValue, like: Sequence[Held] = ()) -> ThreadPart:
        """Return the part of a value, in the distribution of the operation that defines it, or else of an operand."""
        shape, owner = extents(value), value.owner
        found = owner.attributes.get(DISTRIBUTION) if isinstance(owner, Operation) else None
        if not shape:
            return ThreadPart(None, ())
        if isinstance(found, LayoutAttr):
            return ThreadPart(found.data, shape)
        return ThreadPart(next(h.part.layout for h in like if h.part.layout is not None), shape)

    def define(self, value: SSAValue, part: ThreadPart, names: dict[int, str]) -> None:
        """Declare a variable for each register of ``value``."""
        base, type_ = self.name(), c_scalar(element(value.type))
        held = {r: f"{base}_{r}" if len(names) > 1 else base for r in names}
        for r, text in names.items():
            self.register_line(r, f"{type_} {held[r]} = {text};")
        self.env[value] = Held(part, held)

    def register_line(self, register: int, text: str) -> None:
        """Print a line about one register, or collect it while operations are ordered by register."""
        if self.order.active:
            self.order.lines.append((register, text))
        else:
            self.line(text)

    def end_order(self) -> None:
        """Print the collected lines."""
        for text in self.order.take():
            self.line(text)

    def define_array(self, value: SSAValue, held: Held) -> None:
        """Declare an array with the registers of ``value``, initialized by those of ``held``."""
        base, type_ = self.name(), c_scalar(element(value.type))
        self.line(f"{type_} {base}[{len(held.names)}] = {{{', '.join(held.names.values())}}};")
        self.env[value] = Held(held.part, {r: f"{base}[{n}]" for n, r in enumerate(held.names)}, base)

    def name_scalar(self, value: SSAValue, text: str) -> None:
        self.env[value] = Held(ThreadPart(None, ()), {0: text})
