"""Data layout: the order of a tensor's elements in a buffer, in the form of MLIR's ``linalg.pack``.

Some dimensions are split into tiles, the tiles become the innermost dimensions, and the outer dimensions may be
permuted. A layout is written like oneDNN's format tags. ``aBcd16b``: dimensions a, c and d are not split, b is split
into blocks of 16, and these are the innermost dimension (``inner_dims_pos = [1]``, ``inner_tiles = [16]``). ``Ba32b``:
a matrix in panels of 32 columns (in addition ``outer_dims_perm = [1, 0]``).

The layout is an attribute of the operator that reads or writes a buffer; ``graph.pack`` and ``graph.unpack`` convert
between layouts. An encoding on the tensor type would express the same, but then every operator between two convolutions
would still be defined on channels and be rewritten to blocks when kernels are formed. With explicit operations, the
passes that fold reshapes, transposes and paddings also fold packing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import DenseArrayBase, StringAttr
from xdsl.ir import ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import ints, ints_of
from mlc.dialects.semantics.dims import DimLike, ceildiv
from mlc.dialects.semantics.expr import Call, Const, Expr
from mlc.dialects.types import Shape

Layouts = Sequence["LayoutAttr"]


@irdl_attr_definition
class LayoutAttr(ParametrizedAttribute):
    """A data layout: ``#graph.layout<"aBcd16b">``, or ``#graph.layout<"Ba32b", padding = [6]>`` if 6 columns of the
    last panel are padding.

    ``padding`` is the number of padding elements of each tiled dimension, in the order of the tiles. Without it, there
    is no padding, or it is computed like any other element.
    """

    name = "graph.layout"
    tag: StringAttr
    padding: DenseArrayBase

    def __init__(self, tag: StringAttr | str, padding: DenseArrayBase | Sequence[int] = ()):
        tag = StringAttr(tag) if isinstance(tag, str) else tag
        padding = padding if isinstance(padding, DenseArrayBase) else ints(padding if any(padding) else ())
        super().__init__(tag, padding)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> tuple[StringAttr, DenseArrayBase]:
        with parser.in_angle_brackets():
            tag, padding = parser.parse_str_literal(), [0][:0]
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("padding")
                parser.parse_punctuation("=")
                padding = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        return StringAttr(tag), ints(padding)

    def print_parameters(self, printer: Printer) -> None:
        padding = f", padding = {list(ints_of(self.padding))}" if len(self.padding) else ""
        printer.print_string(f'<"{self.tag.data}"{padding}>')

    def verify(self) -> None:
        order, tiles = self.order, self.tiles
        if sorted(order) != list(range(len(order))) or any(axis >= len(order) or n < 1 for axis, n in tiles):
            raise VerifyException(f"layout {self.tag.data!r} does not name each dimension once, then the tiles")
        if len({axis for axis, _ in tiles}) != len(tiles) or len(self.padding) not in (0, len(tiles)):
            raise VerifyException(f"layout {self.tag.data!r} must have one tile a dimension, and one padding a tile")

    @property
    def order(self) -> tuple[int, ...]:
        """The dimensions of the tensor in the order of the buffer's outer dimensions."""
        return _parse(self.tag.data)[0]

    @property
    def tiles(self) -> tuple[tuple[int, int], ...]:
        """(dimension, extent) of each tile, in the order of the buffer's inner dimensions."""
        return _parse(self.tag.data)[1]

    @property
    def plain(self) -> bool:
        return not self.tiles and self.order == tuple(range(len(self.order)))

    def tile(self, axis: int) -> int | None:
        """Return the extent of the tiles of a dimension, or None."""
        return dict(self.tiles).get(axis)

    def packed(self, shape: Shape) -> Shape:
        """Return the shape of the buffer for a tensor of ``shape``."""
        if len(shape) != len(self.order):
            raise VerifyException(f"layout {self.tag.data!r} does not fit the shape {shape}")
        outer = [ceildiv(shape[axis], self.tile(axis) or 1) for axis in self.order]
        return (*outer, *(n for _, n in self.tiles))

    def unpacked(self, shape: Shape) -> Shape:
        """Return the shape of the tensor in a buffer of ``shape``.

        Raises:
            VerifyException: no buffer of this shape has this layout.
        """
        rank, tiles = len(self.order), [n for _, n in self.tiles]
        if len(shape) != rank + len(tiles) or list(shape[rank:]) != tiles:
            raise VerifyException(f"a tensor of shape {shape} does not have the layout {self.tag.data!r}")
        plain: list[DimLike] = [0] * rank
        for axis, extent in zip(self.order, shape, strict=False):
            plain[axis] = extent
        for (axis, n), missing in zip(self.tiles, ints_of(self.padding) or [0] * len(tiles), strict=True):
            plain[axis] = plain[axis] * n - missing
            if not 0 <= missing < n:
                raise VerifyException(f"layout {self.tag.data!r} has {missing} padding values in a tile of {n}")
        return tuple(plain)

    def index(self, at: Sequence[Expr]) -> tuple[Expr, ...]:
        """Return the index in the buffer of the element ``at`` of the tensor."""
        outer = [_call("floordiv", at[axis], self.tile(axis)) for axis in self.order]
        return (*outer, *(_call("mod", at[axis], n) for axis, n in self.tiles))


def _call(fn: str, value: Expr, by: int | None) -> Expr:
    return value if by is None else Call(fn, (value, Const(by)))


@lru_cache
def _parse(tag: str) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    found = re.fullmatch(r"([a-zA-Z]*)((?:\d+[a-z])*)", tag)
    if found is None:
        raise VerifyException(f"{tag!r} is not a layout; write one as 'aBcd16b'")
    tiles = tuple((ord(letter) - ord("a"), int(n)) for n, letter in re.findall(r"(\d+)([a-z])", found[2]))
    capital = {ord(letter) - ord("A") for letter in found[1] if letter.isupper()}
    if capital != {axis for axis, _ in tiles}:
        raise VerifyException(f"layout {tag!r}: capital letters must be the dimensions with tiles")
    return tuple(ord(letter.lower()) - ord("a") for letter in found[1]), tiles


def layout(rank: int, tiles: Sequence[tuple[int, int]] = (), order: Sequence[int] | None = None,
           padding: Sequence[int] = ()) -> LayoutAttr:  # fmt: skip
    """Return the layout of a tensor of ``rank`` dimensions with tiles (dimension, extent)."""
    cut = {axis for axis, _ in tiles}
    letters = [chr(ord("A" if axis in cut else "a") + axis) for axis in (range(rank) if order is None else order)]
    return LayoutAttr("".join(letters) + "".join(f"{n}{chr(ord('a') + axis)}" for axis, n in tiles), padding)
