"""Attributes of the ``poly`` dialect: Python values that are parsed once, and printed as text."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Data, Operation
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from mlc.dialects.poly.index_text import index_text, parse_access, parse_box
from mlc.dialects.poly.schedule import LoopNest
from mlc.dialects.poly.schedule_error import ScheduleError
from mlc.dialects.poly.schedule_text import parse_schedule, schedule_text
from mlc.dialects.semantics.dims import DimLike

SCHEDULE = "schedule"
"""The name of a kernel's property that holds its schedule."""


@irdl_attr_definition
class ScheduleAttr(Data[tuple[LoopNest, ...]]):
    """The loop nests of a kernel: ``#poly.schedule<"contraction: S0 S1 | n/32v m/14*4 | k">``."""

    name = "poly.schedule"

    def __init__(self, nests: Iterable[LoopNest]):
        super().__init__(tuple(nests))

    @staticmethod
    def parsed(text: str) -> ScheduleAttr:
        """Parse ``text``; raise ScheduleError if it is not a schedule."""
        return ScheduleAttr(parse_schedule(text))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[LoopNest, ...]:
        with parser.in_angle_brackets():
            text = parser.parse_str_literal()
        try:
            return parse_schedule(text)
        except ScheduleError as error:
            parser.raise_error(str(error))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.text)

    @property
    def text(self) -> str:
        return schedule_text(self.data)


@irdl_attr_definition
class DomainAttr(Data[tuple[tuple[str, DimLike], ...]]):
    """A box of integer points: the iterators, the outermost first, each with its extent.

    ``#poly.domain<"0 <= i < 4 and 0 <= j < 2*n">``
    """

    name = "poly.domain"

    def __init__(self, extents: Iterable[tuple[str, DimLike]]):
        super().__init__(tuple(extents))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, DimLike], ...]:
        with parser.in_angle_brackets():
            text = parser.parse_str_literal()
        extents = parse_box(text)
        if extents is None:
            parser.raise_error(f"domain {text!r} is not a box '0 <= i < bound and …'")
        return extents

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(" and ".join(f"0 <= {i} < {extent}" for i, extent in self.data))


@irdl_attr_definition
class AccessAttr(Data[tuple[str, tuple[DimLike, ...]]]):
    """An element of an array, by indices over iterators and symbols: ``#poly.access<"b0[i, 2*j+1]">``."""

    name = "poly.access"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[str, tuple[DimLike, ...]]:
        with parser.in_angle_brackets():
            text = parser.parse_str_literal()
        access = parse_access(text)
        if access is None:
            parser.raise_error(f"{text!r} is not an access 'array[index, …]'")
        return access

    def print_parameter(self, printer: Printer) -> None:
        array, index = self.data
        with printer.in_angle_brackets():
            printer.print_string_literal(f"{array}[{', '.join(map(index_text, index))}]")


def schedule_of(op: Operation) -> tuple[LoopNest, ...]:
    """Return the loop nests of a kernel; none if it has no schedule."""
    attr = op.properties.get(SCHEDULE)
    return attr.data if isinstance(attr, ScheduleAttr) else ()
