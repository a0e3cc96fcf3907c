"""The interface of collectives: an operator whose result on one rank follows from the operands of all ranks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, TensorType, i64
from xdsl.ir import SSAValue
from xdsl.irdl import BaseAttr, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.comm.world import NONE, World, current
from mlc.dialects.graph.base import GraphOp, ints, ints_of
from mlc.dialects.semantics import blocks
from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import STRING, element_of, is_narrow, shape_of
from mlc.errors import RunError

T = TypeVar("T")
EXTENT = BaseAttr(IntegerAttr) | BaseAttr(StringAttr)  # text where it is known at run time only


@dataclass(frozen=True)
class Group:
    """The groups of ranks along one axis of a mesh of ``world`` ranks: ``size`` ranks that are ``stride`` apart."""

    size: int
    stride: int
    world: int

    def members(self, rank: int) -> list[int]:
        """Return the ranks of the group of a rank, in the order of their numbers within it."""
        first = rank - rank // self.stride % self.size * self.stride
        return [first + n * self.stride for n in range(self.size)]


class CommOp(GraphOp, ABC):
    """A collective. All ranks of a program reach its collectives in the same order.

    ``needs`` is the number of ranks if the shapes depend on it, or None.
    """

    @property
    def needs(self) -> int | None:
        return None

    @abstractmethod
    def meaning(self, values: Sequence[Array]) -> list[Array]:
        """Return the results on all ranks from the operands on all ranks, in the order of the ranks. For an operator
        without an operand, the values are empty arrays."""

    def shapes(self, ranks: int, mine: tuple[int, ...], symbols: Mapping[str, int] = NONE) -> list[tuple[int, ...]]:
        """Return the shapes of the operands of all ranks of a job; ``mine`` is that of this rank, and ``symbols`` are
        the extents that are known at run time only."""
        return [mine] * ranks

    def over_all(self, values: Sequence[Array]) -> list[Array]:
        """Return the results on all ranks of a job: of a collective within groups those of each group."""
        return self.meaning(values)

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """Return the result on this rank, of the simulated world or of the process's world.

        Raises:
            RunError: there are more or fewer ranks than the shapes say, or the other ranks are at another collective.
        """
        world = current()
        self.check_ranks(world)
        return world.exchange(self, operands[0] if operands else None, symbols or {})

    def check_ranks(self, world: World) -> None:
        if self.needs is not None and self.needs != world.ranks:
            raise RunError(f"{self.name} is for {self.needs} ranks, and there are {world.ranks}")


class GroupedOp(CommOp, ABC):
    """A collective of all ranks, or within each of the groups along an axis of a mesh: ``group`` is their size, the
    distance of their ranks, and the number of all ranks."""

    group = opt_prop_def(DenseArrayBase)

    @property
    def groups(self) -> Group | None:
        return Group(*ints_of(self.group)) if self.group is not None else None

    @property
    def needs(self) -> int | None:
        return self.groups.world if self.groups else None

    def over_all(self, values: Sequence[Array]) -> list[Array]:
        if self.groups is None:
            return self.meaning(values)
        found: list[Array] = list(values)
        for first in (rank for rank in range(len(values)) if self.groups.members(rank)[0] == rank):
            members = self.groups.members(first)
            for rank, value in zip(members, self.meaning([values[n] for n in members]), strict=True):
                found[rank] = value
        return found

    def verify_(self) -> None:
        if self.group is not None:
            check_group(self.name, ints_of(self.group))
        super().verify_()


class FixedRanksOp(GroupedOp, ABC):
    """A collective for ``ranks`` ranks, those of a group where there are groups, which its shapes depend on.

    ``units``: axis 0 of the whole is that many units in balanced blocks; without it blocks are equal. Run-time extents
    are text.
    """

    ranks = prop_def(IntegerAttr)
    units = opt_prop_def(EXTENT)
    ahead = opt_prop_def(IntegerAttr)
    """One such collective is under way at a time, beside what is computed: little memory is in use. The numbers tell
    gathers of one operand apart (``gather-anew``)."""

    @property
    def size(self) -> int:
        """The number of ranks that exchange elements."""
        return int(self.ranks.value.data)

    @property
    def needs(self) -> int:
        return self.groups.world if self.groups else self.size

    def verify_(self) -> None:
        super().verify_()
        if self.groups is not None and self.groups.size != self.size:
            raise VerifyException(f"{self.name}: groups of {self.groups.size} ranks, and shapes for {self.size}")


def group_attr(group: Group | None) -> DenseArrayBase | None:
    return ints((group.size, group.stride, group.world)) if group is not None else None


def number(value: DimLike | None) -> IntegerAttr | StringAttr | None:
    """Return an extent as an attribute: text, if it is known at run time only."""
    return IntegerAttr(value, i64) if isinstance(value, int) else None if value is None else StringAttr(str(value))


def number_of(attribute: IntegerAttr | StringAttr) -> DimLike:
    """Return the extent that an attribute is."""
    return parse_dim(attribute.data) if isinstance(attribute, StringAttr) else attribute.value.data


def check_group(name: str, numbers: Sequence[int]) -> None:
    """Raise VerifyException unless the numbers are a size, a stride and a world that they divide."""
    if len(numbers) != 3 or min(numbers) < 1 or numbers[2] % (numbers[0] * numbers[1]):
        raise VerifyException(f"{name}: group {list(numbers)} is no size, stride and number of ranks that they divide")


def check_units(units: DimLike, extent: DimLike) -> None:
    """Raise VerifyException unless an axis of ``extent`` elements is of ``units`` units."""
    if units == 0 or extent % units != 0:
        raise VerifyException(f"an axis of {extent} elements is not of {units} units")


def starts(units: int, extent: int, ranks: int) -> list[int]:
    """Return the first element of each rank's block of an axis of ``units`` units, but for that of rank 0."""
    if not extent:
        return [0] * (ranks - 1)
    check_units(units, extent)
    return [blocks.first(units, ranks, n) * (extent // units) for n in range(1, ranks)]


def combined(values: Sequence[T], combine: Callable[[T, T], T]) -> T:
    """Combine all values by a fixed tree: neighbours in pairs, then the pairs in pairs, so that aligned groups of 2, 4,
    … values are subtrees. An odd last value moves to the next level."""
    level = list(values)
    while len(level) > 1:
        pairs = [combine(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]


def check_moved(name: str, x: SSAValue) -> None:
    """Raise VerifyException for elements that ranks do not send each other."""
    element = element_of(x)
    if element == STRING or is_narrow(element):
        raise VerifyException(f"{name}: elements of type {element} are not sent between ranks; cast them first")


def leading(name: str, x: SSAValue) -> DimLike:
    """Return the extent of axis 0, along which the operand is divided among ranks."""
    if not shape_of(x):
        raise VerifyException(f"{name}: it takes a tensor of rank 1 or more, not {x.type}")
    return shape_of(x)[0]


def divided(name: str, x: SSAValue, ranks: int) -> DimLike:
    """Return the extent of a rank's part of axis 0; raise VerifyException if axis 0 does not divide evenly."""
    extent = leading(name, x)
    if extent % ranks != 0:
        raise VerifyException(f"{name}: axis 0 of {extent} elements is not divided evenly among {ranks} ranks")
    return extent // ranks


def checked_ranks(name: str, ranks: int) -> int:
    if ranks < 1:
        raise VerifyException(f"{name}: {ranks} ranks; give 1 or more")
    return ranks


def same_type(name: str, x: SSAValue) -> TensorType:
    """Return the operand's type, for a collective whose result has that type."""
    check_moved(name, x)
    assert isinstance(x.type, TensorType)
    return x.type
