"""Linear layouts: which element of a tile each register of each thread holds, as a linear map over GF(2).

The bits of (register, lane, warp) are the inputs, the bits of a tile's coordinates the outputs; a map is the list of
the coordinates of its input bits (*bases*), and the element at an index is the exclusive or of the bases of its set
bits. Distributions over threads and swizzles are such maps, and so is a composition of them (Zhou et al., Linear
Layouts: Robust Code Generation of Efficient Tensor Computation Using F2, 2025; Triton).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import xor

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

Coordinate = tuple[int, ...]
_INPUT = re.compile(r"(\w+)((?:\[[0-9, ]*\])*)")
_BASIS = re.compile(r"\[([0-9, ]*)\]")
_LAYOUT = re.compile(rf"{_INPUT.pattern}( {_INPUT.pattern})* of [0-9]+(x[0-9]+)*")


def bits_of(extent: int) -> int:
    """Return the number of bits of an index below ``extent``, a power of two."""
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
        """Return the layout ``x -> x`` of one input and one output of the same extent."""
        return cls.of((extent,), **{name: ((1 << n,) for n in range(bits_of(extent)))})

    @classmethod
    def parse(cls, text: str) -> LinearLayout:
        """Return the layout whose ``str`` is ``text``: ``register[0, 32] lane[0, 1][0, 2] of 64x64``.

        Raises:
            ValueError: ``text`` is not a layout.
        """
        if not _LAYOUT.fullmatch(text):
            raise ValueError(f"{text!r} is not a linear layout; write 'lane[0, 1][0, 2] of 4x4'")
        inputs, _, shape = text.rpartition(" of ")
        found = {m[1]: [_coordinate(b) for b in _BASIS.findall(m[2])] for m in _INPUT.finditer(inputs)}
        extents = tuple(int(n) for n in shape.split("x"))
        for basis in (b for bases in found.values() for b in bases):
            if len(basis) != len(extents) or any(x >= n for x, n in zip(basis, extents, strict=True)):
                raise ValueError(f"{list(basis)} is not an element of {shape}, which the linear layout {text!r} names")
        return cls.of(extents, **found)

    def __str__(self) -> str:
        inputs = (n + "".join(str(list(b)) for b in bases) for n, bases in zip(self.names, self.bases, strict=True))
        return f"{' '.join(inputs)} of {'x'.join(map(str, self.shape))}"

    def of_input(self, name: str) -> tuple[Coordinate, ...]:
        return self.bases[self.names.index(name)]

    def __call__(self, **index: int) -> Coordinate:
        """Return the coordinates at an index; inputs that are not given are 0."""
        chosen = [self.of_input(n)[b] for n, i in index.items() for b in range(i.bit_length()) if i >> b & 1]
        return reduce(lambda a, b: tuple(map(xor, a, b)), chosen, (0,) * len(self.shape))

    def sliced(self, axes: Iterable[int]) -> LinearLayout:
        """Return the layout of a value that is constant along all axes except ``axes``: the other coordinates are 0."""
        kept = set(axes)
        bases = (tuple(tuple(x if n in kept else 0 for n, x in enumerate(b)) for b in each) for each in self.bases)
        return LinearLayout(self.names, tuple(bases), self.shape)

    def free(self, name: str) -> int:
        """Return the bits of an input on which no coordinate depends, as a mask: threads or registers that differ only
        in these bits hold equal elements."""
        return sum(1 << n for n, basis in enumerate(self.of_input(name)) if not any(basis))

    def scaled(self, by: int) -> LinearLayout:
        """Return the layout with coordinates in units of 1 / ``by``, a power of two: elements as bytes."""
        bases = (tuple(tuple(x * by for x in basis) for basis in each) for each in self.bases)
        return LinearLayout(self.names, tuple(bases), tuple(n * by for n in self.shape))

    def compose(self, then: LinearLayout, order: Sequence[str]) -> LinearLayout:
        """Return ``then`` after ``self``; axis n of ``self`` is the input ``order[n]`` of ``then``."""
        bases = (tuple(then(**dict(zip(order, basis, strict=True))) for basis in each) for each in self.bases)
        return LinearLayout(self.names, tuple(bases), then.shape)


def _coordinate(text: str) -> Coordinate:
    return tuple(int(x) for x in text.split(",") if x.strip())


@irdl_attr_definition
class LayoutAttr(Data[LinearLayout]):
    """A linear layout: of the elements of a local array in shared memory, or of a vector's over the threads of a block.

    ``#kernel.layout<"offset[1][2][4][40][16] of 64">``
    """

    name = "kernel.layout"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> LinearLayout:
        with parser.in_angle_brackets():
            text = parser.parse_str_literal()
        try:
            return LinearLayout.parse(text)
        except ValueError as error:
            parser.raise_error(str(error))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(str(self.data))
