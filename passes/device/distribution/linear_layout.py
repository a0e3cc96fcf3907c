"""Linear layouts: which element of a tile each register of each thread holds, as a linear map over GF(2).

The bits of (register, lane, warp) are the inputs, the bits of a tile's coordinates the outputs; a map is the list of
the coordinates of its input bits (*bases*), and the element at an index is the exclusive or of the bases of its set
bits. Distributions over threads, swizzles and conversions between them are such maps, and so closed under composition
and inversion (Zhou et al., Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2, 2025;
Triton).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import xor

Coordinate = tuple[int, ...]
INPUTS = ("register", "lane", "warp")
_INPUT = re.compile(r"(\w+)((?:\[[0-9, ]*\])*)")
_BASIS = re.compile(r"\[([0-9, ]*)\]")


def bits_of(extent: int) -> int:
    """The number of bits of an index below ``extent``, a power of two."""
    if extent < 1 or extent & (extent - 1):
        raise ValueError(f"a linear layout has extents that are powers of two, not {extent}")
    return extent.bit_length() - 1


@dataclass(frozen=True)
class LinearLayout:
    """``bases[n]`` has a coordinate for each bit of input ``names[n]``, lowest bit first; ``shape`` bounds them."""

    names: tuple[str, ...]
    bases: tuple[tuple[Coordinate, ...], ...]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, shape: Sequence[int], **inputs: Iterable[Coordinate]) -> LinearLayout:
        return cls(tuple(inputs), tuple(tuple(each) for each in inputs.values()), tuple(shape))

    @classmethod
    def identity(cls, name: str, extent: int) -> LinearLayout:
        """One input to one output of the same extent: ``x -> x``."""
        return cls.of((extent,), **{name: ((1 << n,) for n in range(bits_of(extent)))})

    @classmethod
    def parse(cls, text: str) -> LinearLayout:
        """The inverse of ``str``: ``register[0, 32] lane[0, 1][0, 2] of 64x64``."""
        inputs, _, shape = text.rpartition(" of ")
        found = {m[1]: [_coordinate(b) for b in _BASIS.findall(m[2])] for m in _INPUT.finditer(inputs)}
        return cls.of(tuple(int(n) for n in shape.split("x")), **found)

    def __str__(self) -> str:
        inputs = (n + "".join(str(list(b)) for b in bases) for n, bases in zip(self.names, self.bases, strict=True))
        return f"{' '.join(inputs)} of {'x'.join(map(str, self.shape))}"

    def of_input(self, name: str) -> tuple[Coordinate, ...]:
        return self.bases[self.names.index(name)]

    def __call__(self, **index: int) -> Coordinate:
        """The coordinates at an index; inputs that are not given are 0."""
        chosen = [self.of_input(n)[b] for n, i in index.items() for b in range(i.bit_length()) if i >> b & 1]
        return reduce(lambda a, b: tuple(map(xor, a, b)), chosen, (0,) * len(self.shape))

    def sliced(self, axes: Iterable[int]) -> LinearLayout:
        """The layout of a value that is constant along all axes but ``axes``: these coordinates are 0."""
        kept = set(axes)
        bases = (tuple(tuple(x if n in kept else 0 for n, x in enumerate(b)) for b in each) for each in self.bases)
        return LinearLayout(self.names, tuple(bases), self.shape)

    def free(self, name: str) -> int:
        """The bits of an input on which no coordinate depends, as a mask: threads or registers with equal elements."""
        return sum(1 << n for n, basis in enumerate(self.of_input(name)) if not any(basis))

    # -- linear algebra ------------------------------------------------------------------------------------------------

    @property
    def columns(self) -> list[int]:
        """The bases of all inputs, in order, as integers: the coordinates' bits, the last axis lowest."""
        return [self._flat(basis) for each in self.bases for basis in each]

    def _flat(self, coordinate: Coordinate) -> int:
        total = 0
        for x, extent in zip(coordinate, self.shape, strict=True):
            total = total << bits_of(extent) | x
        return total

    @property
    def rank(self) -> int:
        """The dimension of the image."""
        return len(_reduced(self.columns))

    @property
    def injective(self) -> bool:
        return self.rank == len(self.columns)

    @property
    def surjective(self) -> bool:
        return self.rank == sum(map(bits_of, self.shape))

    def compose(self, then: LinearLayout, order: Sequence[str]) -> LinearLayout:
        """``then`` after ``self``, whose axis n is input ``order[n]`` of ``then``."""
        bases = (tuple(then(**dict(zip(order, basis, strict=True))) for basis in each) for each in self.bases)
        return LinearLayout(self.names, tuple(bases), then.shape)

    def inverse(self, axes: Sequence[str]) -> LinearLayout:
        """The map from coordinates, named ``axes``, to the inputs; where several indices have one element, to the
        least. Raises ValueError for a layout that does not reach each element."""
        if not self.surjective:
            raise ValueError(f"'{self}' does not reach all elements")
        extents = tuple(1 << len(each) for each in self.bases)
        inputs: dict[str, list[Coordinate]] = {}
        for n, (name, extent) in enumerate(zip(axes, self.shape, strict=True)):
            units = (tuple(1 << b if m == n else 0 for m in range(len(self.shape))) for b in range(bits_of(extent)))
            inputs[name] = [self._index_of(self._flat(unit)) for unit in units]
        return LinearLayout.of(extents, **inputs)

    def _index_of(self, wanted: int) -> Coordinate:
        """The inputs' values at which the flat coordinate is ``wanted``."""
        found = _combination(self.columns, wanted)
        values = []
        for each in self.bases:
            values.append(found & (1 << len(each)) - 1)
            found >>= len(each)
        return tuple(values)

    def conversion(self, to: LinearLayout) -> LinearLayout:
        """Where an element at an index of ``self`` is in ``to``: a map from inputs to inputs. It moves elements within
        a thread's registers only if its lane and warp parts are the identity."""
        axes = tuple(f"x{n}" for n in range(len(self.shape)))
        return self.compose(to.inverse(axes), axes)


def _coordinate(text: str) -> Coordinate:
    return tuple(int(x) for x in text.split(",") if x.strip())


def _reduced(columns: Sequence[int]) -> list[tuple[int, int]]:
    """A basis of the span of ``columns`` in echelon form, with the columns that each is the sum of, as a mask."""
    basis: list[tuple[int, int]] = []
    for n, column in enumerate(columns):
        value, mask = _eliminated(column, 1 << n, basis)
        if value:
            basis.append((value, mask))
    return basis


def _eliminated(value: int, mask: int, basis: Sequence[tuple[int, int]]) -> tuple[int, int]:
    for other, combined in basis:
        if value >> other.bit_length() - 1 & 1:
            value, mask = value ^ other, mask ^ combined
    return value, mask


def _combination(columns: Sequence[int], wanted: int) -> int:
    """The mask of columns whose sum is ``wanted``, which is in their span."""
    value, mask = _eliminated(wanted, 0, _reduced(columns))
    assert not value
    return mask


def inputs_of(layout: LinearLayout) -> Mapping[str, int]:
    """The number of values of each input."""
    return {name: 1 << len(bases) for name, bases in zip(layout.names, layout.bases, strict=True)}
