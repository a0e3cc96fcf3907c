"""One thread's part of a distributed vector: its registers as C variables, their coordinates, and which of them are
valid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from mlc.dialects.kernel.linear_layout import LinearLayout


@dataclass(frozen=True)
class ThreadPart:
    """The part of a value with extents ``shape`` in the distribution ``layout`` of its class.

    A register of the class is named by its index; a value that is constant along some axes has equal registers, of
    which the one with the least index stands for all.
    """

    layout: LinearLayout | None  # None for a scalar, which all threads have
    shape: tuple[int, ...]

    @cached_property
    def aligned(self) -> tuple[int, ...]:
        """``shape`` with the rank of the class."""
        rank = len(self.layout.shape) if self.layout else 0
        return (1,) * (rank - len(self.shape)) + self.shape

    @cached_property
    def own(self) -> LinearLayout:
        """The distribution of the value, constant along axes of extent 1."""
        assert self.layout is not None
        return self.layout.sliced(n for n, extent in enumerate(self.aligned) if extent > 1)

    @cached_property
    def mask(self) -> int:
        """The bits of a register's index on which its element depends."""
        return 0 if self.layout is None else (1 << len(self.own.of_input("register"))) - 1 & ~self.own.free("register")

    def registers(self) -> Iterator[int]:
        """Yield the distinct registers, except those that hold only padding."""
        if self.layout is None:
            yield 0
            return
        for r in range(1 << len(self.layout.of_input("register"))):
            if r & ~self.mask == 0 and self._holds(r):
                yield r

    def _holds(self, register: int) -> bool:
        """Return whether a register of some thread has an element of the value."""
        at = self.own(register=register)
        return all(x < extent or extent == 1 for x, extent in zip(at, self.aligned, strict=True))

    def partial(self, axis: int) -> bool:
        """Return whether some coordinates of the distribution along an axis are beyond the value."""
        assert self.layout is not None
        return 1 < self.aligned[axis] < self.layout.shape[axis]

    @property
    def axes(self) -> list[int]:
        """The axes of the class along which the value varies."""
        return [n for n, extent in enumerate(self.aligned) if extent > 1]

    def replicas(self) -> tuple[int, int]:
        """Return the bits of (lane, warp) whose threads hold the same elements, as masks."""
        return (self.own.free("lane"), self.own.free("warp")) if self.layout is not None else (-1, -1)


@dataclass(frozen=True)
class Held:
    """A value in the text of a kernel: its part, and the C expression of each distinct register. ``array``: the C array
    whose elements these are, in order."""

    part: ThreadPart
    names: dict[int, str]
    array: str | None = None

    def at(self, register: int) -> str:
        return self.names.get(register & self.part.mask, next(iter(self.names.values())))

    @property
    def only(self) -> str:
        """The expression of a scalar, or of a value with one register."""
        return next(iter(self.names.values()))
