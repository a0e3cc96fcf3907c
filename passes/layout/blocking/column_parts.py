"""Column parts: a product of one row whose columns are read in equal parts, such as the gates of a recurrent cell, and
the elementwise operators that combine the parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph import ContractOp, LayoutAttr, MapOp, SliceOp, dims_of, ints_of
from mlc.dialects.semantics.expr import Expr, Load
from mlc.dialects.types import ITEMSIZE, Shape, element_of, shape_of
from mlc.passes.graph.patterns.constants import sole_user
from mlc.target import CpuTarget


@dataclass(frozen=True)
class Parts:
    """A product of one row, and the slices of equal width that read it.

    ``slices`` maps each slice to the number of its part. They slice ``scalar`` of ``args``: the product, or an
    elementwise function of it. ``maps`` combine parts elementwise, and read nothing else that depends on the product.
    ``left`` are the slices that other operators read too.
    """

    contract: ContractOp
    held: LayoutAttr  # of the packed right operand
    scalar: Expr
    args: Sequence[SSAValue]
    slices: Mapping[SSAValue, int]
    maps: Sequence[MapOp]
    left: Sequence[SliceOp]

    @property
    def width(self) -> int:
        """The columns of a part."""
        return int(shape_of(next(iter(self.slices)))[1])  # type: ignore[arg-type]

    @property
    def count(self) -> int:
        return int(shape_of(self.contract.result)[1]) // self.width  # type: ignore[arg-type]

    def block(self, target: CpuTarget) -> int:
        """Return how many columns of each part a panel gets; 0 if no number fits.

        A panel keeps its width if the number of parts divides it. Otherwise each part gets as many whole vectors as the
        panel has room for, at least one. It gets fewer if threads need more panels.
        """
        panel, lanes = self.held.tiles[0][1], target.lanes * 4 // ITEMSIZE[element_of(self.contract.result)]
        even = [panel // self.count] if panel % self.count == 0 else []
        vectors = range(max(panel // (self.count * lanes), 1), 0, -1)
        fits = (b for b in (*even, *(n * lanes for n in vectors)) if self.width % b == 0)
        return next((b for b in fits if self.width // b >= target.threads), 0)


def column_parts(op: ContractOp, positions: Mapping[Operation, int]) -> Parts | None:
    """Return the parts of a product of one row with a packed matrix; None unless all its readers are slices of equal
    width, and elementwise operators combine these.

    ``positions`` has the position of each operation in the block.
    """
    held, reader = panels_of(op), sole_user(op.result)
    if held is None or op.product or shape_of(op.result)[:-1] != (1,):
        return None
    row = reader if isinstance(reader, MapOp) and shape_of(reader.result) == shape_of(op.result) else op
    slices = _slices(row.result)
    maps = _combining(op, slices, positions)
    left = [s.owner for s in slices if any(use.operation not in maps for use in s.uses)]
    scalar, args = (row.scalar, list(row.args)) if isinstance(row, MapOp) else (Load(0), [op.result])
    found = Parts(op, held, scalar, args, slices, maps, [s for s in left if isinstance(s, SliceOp)])
    return found if maps else None


def panels_of(op: ContractOp) -> LayoutAttr | None:
    """Return the layout of the right operand if it is packed in panels of columns; None otherwise."""
    held = op.data_layouts[1] if op.data_layouts else None
    return held if held and held.order == (1, 0) and [axis for axis, _ in held.tiles] == [1] else None


def _slices(row: SSAValue) -> dict[SSAValue, int]:
    """Return the slices of a row and the number of each part; none unless all readers of the row are slices of equal
    width that start at multiples of it."""
    readers = [use.operation for use in row.uses]
    slices = [s for s in readers if isinstance(s, SliceOp)]
    if not slices or len(slices) != len(readers):
        return {}
    columns, width = shape_of(row)[1], shape_of(slices[0].result)[1]
    if not isinstance(columns, int) or not isinstance(width, int) or not 0 < width < columns or columns % width:
        return {}
    starts = {s.result: dims_of(s.starts)[1] for s in slices}
    equal = all(shape_of(s.result) == (1, width) and ints_of(s.steps)[1] == 1 for s in slices)
    aligned = all(isinstance(at, int) and at % width == 0 for at in starts.values())
    return {value: int(at) // width for value, at in starts.items()} if equal and aligned else {}  # type: ignore[arg-type]


def _combining(op: ContractOp, slices: Mapping[SSAValue, int], positions: Mapping[Operation, int]) -> list[MapOp]:
    """Return the elementwise operators that read slices and each other's results, but nothing else that depends on
    ``op``."""
    shape: Shape = shape_of(next(iter(slices))) if slices else ()
    readers = {use.operation: None for value in slices for use in value.uses}
    own, maps = set(slices), list[MapOp]()
    for each in sorted(readers, key=positions.__getitem__):
        if not isinstance(each, MapOp) or shape_of(each.result) != shape:
            continue
        if op not in producers(set(each.args) - own, positions[op], positions):
            maps.append(each)
            own.add(each.result)
    return maps


def producers(values: Iterable[SSAValue], start: int, positions: Mapping[Operation, int]) -> set[Operation]:
    """Return the operations at position ``start`` or later on which ``values`` depend."""
    found, waiting = set[Operation](), [v.owner for v in values]
    while waiting:
        owner = waiting.pop()
        if isinstance(owner, Operation) and owner not in found and positions[owner] >= start:
            found.add(owner)
            waiting += [v.owner for v in owner.operands]
    return found
