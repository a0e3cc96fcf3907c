"""Operators on tensors with data layouts: the statements on plain tensors become statements on packed buffers.

Only this module translates a layout into the bounds and indices of a statement.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import opt_prop_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import StructuredOp
from mlc.dialects.graph.layouts import LayoutAttr, Layouts
from mlc.dialects.graph.pack import PackOp
from mlc.dialects.semantics.dims import floordiv
from mlc.dialects.semantics.expr import Call, Const, Expr, Index, Load, loads, substitute, walk
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import Shape, element_of, shape_of, tensor


def infer_in_layouts(
    operands: Sequence[SSAValue], layouts: Layouts | None, infer: Callable[[Sequence[Shape]], TensorType]
) -> TensorType:
    """Return the result type of an operator; ``infer`` infers it for the shapes of plain operands."""
    shapes = [shape_of(v) for v in operands]
    if layouts is None:
        return infer(shapes)
    if len(layouts) != len(shapes) + 1:
        raise VerifyException(f"{len(layouts)} layouts for {len(shapes)} operands and a result")
    result = infer([held.unpacked(shape) for held, shape in zip(layouts, shapes, strict=False)])
    return tensor(element_of(result), layouts[-1].packed(shape_of(result)))


class LayoutOp(StructuredOp):
    """An operator whose operands and result may have layouts: ``layouts`` lists one for each operand, then the
    result's.

    Without ``layouts`` all are plain. A subclass declares its statements on plain tensors.

    ``%y = graph.conv(%x, %w) {…, layouts = [#graph.layout<"aBcd16b">, #graph.layout<"ABcd16b16a">,
    #graph.layout<"aBcd16b">]} : (tensor<1x4x58x58x16xf32>, tensor<8x4x3x3x16x16xf32>) -> tensor<1x8x56x56x16xf32>``
    """

    layouts = opt_prop_def(ArrayAttr[LayoutAttr])

    @abstractmethod
    def plain_statements(self) -> tuple[Statement, ...]:
        """Return the statements on plain operands, whose shapes are :meth:`plain_shape`."""

    def statements(self) -> tuple[Statement, ...]:
        layouts = self.data_layouts
        plain = self.plain_statements()
        return plain if layouts is None else tuple(in_layouts(s, layouts) for s in plain)

    @property
    def data_layouts(self) -> Layouts | None:
        """The layouts of operands and result; None if all are plain."""
        return None if self.layouts is None else self.layouts.data

    def plain_shape(self, n: int) -> Shape:
        """Return the plain shape of operand n, or of the result (-1)."""
        shape = shape_of(self.operands[n] if n >= 0 else self.results[0])
        return shape if self.data_layouts is None else self.data_layouts[n].unpacked(shape)

    def verify_(self) -> None:
        super().verify_()
        for held, value in zip(self.data_layouts or (), self.operands, strict=False):
            if isinstance(value.owner, PackOp) and value.owner.layout.tag != held.tag:
                packed = f"an operand packed as {value.owner.layout} is read as {held}"
                raise VerifyException(f"{self.name}: {packed}")


def layouts_attr(layouts: Layouts | None) -> ArrayAttr[LayoutAttr] | None:
    """Return the property ``layouts`` of an operator; None if all layouts are plain."""
    return None if layouts is None or all(held.plain for held in layouts) else ArrayAttr(layouts)


def in_layouts(s: Statement, layouts: Layouts) -> Statement:
    """Translate a statement on plain operands and result to a statement on buffers with ``layouts``.

    An iterator that indexes only dimensions with tiles of one extent becomes two: ``c`` over tiles and, innermost,
    ``ci`` within a tile. If another access has no such tiles, the index is divided instead: ``x1[n // 32, k, n % 32]``.
    """
    tiles = _split_iterators(s, layouts)
    extents = {n: floordiv(b, tiles.get(n, 1)) for n, b in zip(s.iters, s.bounds, strict=True)}
    extents |= {_inner(n): size for n, size in tiles.items()}
    parallel, reduced = ([n for n, r in zip(s.iters, s.reduction, strict=True) if r == flag] for flag in (False, True))
    names = [*parallel, *(_inner(n) for n in parallel if n in tiles)]
    flags = [False] * len(names) + [True] * (len(extents) - len(names))
    names += [*reduced, *(_inner(n) for n in reduced if n in tiles)]

    def load(node: Load) -> Expr:
        return Load(node.operand, _buffer_index(node.index or (), layouts[node.operand], tiles))

    value, out = substitute(s.value, load), _buffer_index(s.out, layouts[-1], tiles)
    return Statement(tuple(names), tuple(extents[n] for n in names), tuple(flags), out, value, s.monoid)


def _inner(iterator: str) -> str:
    return f"{iterator}i"


def _split_iterators(s: Statement, layouts: Layouts) -> dict[str, int]:
    """Return the iterators that are split in two, with the extent of their tiles: those that index only dimensions with
    such tiles."""
    found: dict[str, set[int]] = {}
    bounds = dict(zip(s.iters, s.bounds, strict=True))
    for held, at in ((layouts[-1], s.out), *((layouts[x.operand], x.index or ()) for x in loads(s.value))):
        for axis, value in enumerate(at):
            tile, last = held.tile(axis) or 0, _last(value)
            fits = tile and last in bounds and bounds[last] % tile == 0 and _tiles(value, tile) is not None
            for name in [last] if tile and last else [n.name for n in walk(value) if isinstance(n, Index)]:
                found.setdefault(name, set()).add(tile if fits else 0)
    return {n: min(sizes) for n, sizes in found.items() if len(sizes) == 1 and min(sizes)}


def _last(value: Expr) -> str | None:
    """Return the last, unscaled iterator of an index: ``f`` of ``f`` and of ``g*64 + f``; None if there is none."""
    match value:
        case Index(name=name) | Call(fn="add", args=(_, Index(name=name))):
            return name
    return None


def _tiles(value: Expr, tile: int) -> Expr | None:
    """Return the index of the tile: ``g*64 + f`` in tiles of 16 is ``g*4 + f``, where f now counts tiles."""
    match value:
        case Index():
            return value
        case Call(fn="add", args=(Call(fn="mul", args=(group, Const(value=int(n)))), last)) if n % tile == 0:
            return Call("add", (Call("mul", (group, Const(n // tile))), last))
    return None


def _buffer_index(at: Sequence[Expr], held: LayoutAttr, tiles: Mapping[str, int]) -> tuple[Expr, ...]:
    """Return the index in the buffer of element ``at`` of the tensor."""
    place = list(held.index(at))
    for n, axis in enumerate((*held.order, *(axis for axis, _ in held.tiles))):
        last = _last(at[axis])
        if last is None or last not in tiles:
            continue
        tiled = _tiles(at[axis], tiles[last]) if n < len(held.order) else Index(_inner(last))
        assert tiled is not None, f"{at[axis]} does not count tiles of {tiles[last]}"
        place[n] = tiled
    return tuple(place)
