"""The states of a tensor along one mesh axis: whole, split, partial or a window (OneFlow: SBP signatures)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, StringAttr
from xdsl.ir import ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import ints, ints_of
from mlc.dialects.semantics.dims import Dim, DimLike, parse_dim
from mlc.dialects.semantics.statement import MONOIDS


@irdl_attr_definition
class WholeAttr(ParametrizedAttribute):
    """Whole: every rank has all elements. ``#dist.whole``."""

    name = "dist.whole"


class _Numbers(ParametrizedAttribute):
    """A state that is described by integers: ``<1>``. Each class has them as a parameter, which makes states unequal."""

    numbers: DenseArrayBase

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[DenseArrayBase]:
        return [ints(parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parser.parse_integer))]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{', '.join(map(str, ints_of(self.numbers)))}>")


@irdl_attr_definition
class SplitAttr(_Numbers):
    """Split: rank c has block c of one dimension, in balanced blocks. ``#dist.split<1>``; ``#dist.split<0, 4>``: in
    blocks of units of 4 elements, which the ranks do not divide evenly."""

    name = "dist.split"
    numbers: DenseArrayBase

    @staticmethod
    def of(dim: int, granule: int = 1) -> SplitAttr:
        return SplitAttr(ints((dim,) if granule == 1 else (dim, granule)))

    @property
    def dim(self) -> int:
        return ints_of(self.numbers)[0]

    @property
    def granule(self) -> int:
        """The elements of a unit."""
        return (*ints_of(self.numbers), 1)[1]

    def verify(self) -> None:
        if len(self.numbers) not in (1, 2) or self.dim < 0 or self.granule < 1:
            raise VerifyException(f"{self.name}: {list(ints_of(self.numbers))} is not the number of a dimension")


@irdl_attr_definition
class WindowAttr(_Numbers):
    """Window: rank c has ``length`` elements of a dimension from ``c * step + offset`` on; windows of neighbours
    overlap. ``#dist.window<dim, step, offset, length>``.

    With a fifth number, ``units``, that many units are in balanced blocks, and rank c, which has ``n`` units from
    ``first`` on, has ``n * step + length`` elements from ``first * step + offset`` on. Units that are known at run time
    only follow as text: ``#dist.window<0, 1, -1, 2, "n">``.
    """

    name = "dist.window"
    numbers: DenseArrayBase
    extent: StringAttr

    @staticmethod
    def of(dim: int, step: int, offset: int, length: int, units: DimLike = 0) -> WindowAttr:
        given = [units] if isinstance(units, int) and units else []
        extent = str(units) if isinstance(units, Dim) else ""
        return WindowAttr(ints((dim, step, offset, length, *given)), StringAttr(extent))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[DenseArrayBase | StringAttr]:  # type: ignore[override]
        found = parser.parse_comma_separated_list(
            parser.Delimiter.ANGLE, lambda: parser.parse_optional_str_literal() or parser.parse_integer()
        )
        extent = found.pop() if isinstance(found[-1], str) else ""
        return [ints([each for each in found if isinstance(each, int)]), StringAttr(str(extent))]

    def print_parameters(self, printer: Printer) -> None:
        extent = [f'"{self.extent.data}"'] if self.extent.data else []
        printer.print_string(f"<{', '.join([*map(str, ints_of(self.numbers)), *extent])}>")

    @property
    def parts(self) -> tuple[int, int, int, int]:
        """(dimension, step, offset, length)"""
        dim, step, offset, length, *_ = ints_of(self.numbers)
        return dim, step, offset, length

    @property
    def units(self) -> DimLike:
        """Into how many units the ranks divide what they compute of it; 0: all windows are equally long."""
        return parse_dim(self.extent.data) if self.extent.data else (*ints_of(self.numbers), 0)[4]

    @property
    def dim(self) -> int:
        return ints_of(self.numbers)[0]

    def verify(self) -> None:
        if len(self.numbers) not in (4, 5) or self.dim < 0 or (not self.units and self.parts[3] < 0):
            raise VerifyException(
                f"{self.name}: {list(ints_of(self.numbers))} is no dimension, step, offset and length"
            )


@irdl_attr_definition
class PartialAttr(ParametrizedAttribute):
    """Partial: the value is what all ranks' tensors combine to, by a monoid. ``#dist.partial<"add">``."""

    name = "dist.partial"
    fn: StringAttr

    @staticmethod
    def of(fn: str) -> PartialAttr:
        return PartialAttr(StringAttr(fn))

    def verify(self) -> None:
        if self.fn.data not in MONOIDS:
            raise VerifyException(f"{self.name}: {self.fn.data!r} is none of {', '.join(MONOIDS)}")


State = WholeAttr | SplitAttr | WindowAttr | PartialAttr
WHOLE = WholeAttr()


def text(state: State) -> str:
    """Return a state for tables and messages: ``split 1``."""
    match state:
        case SplitAttr():
            return f"split {state.dim}" + (f" by {state.granule}" if state.granule > 1 else "")
        case PartialAttr():
            return f"partial {state.fn.data}"
        case WindowAttr():
            return f"window of {state.dim}"
    return "whole"
