"""Equal parts of the columns of a product in one row, and the elementwise operators that combine them."""

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
    """``slices`` (which part each is) of ``scalar`` of ``args``: a product, or what is elementwise of it.

    ``maps`` combine parts, elementwise and with nothing else that the product leads to; something else reads the slices
    ``left``.
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
        """Columns of a part."""
        return int(shape_of(next(iter(self.slices)))[1])  # type: ignore[arg-type]

    @property
    def count(self) -> int:
        return int(shape_of(self.contract.result)[1]) // self.width  # type: ignore[arg-type]

    def block(self, target: CpuTarget) -> int:
        """Columns of each part in a panel: the panel keeps its width where that divides evenly, else a part has as many
        whole vectors as the panel has room for, at least one. Fewer where threads need more panels; 0: none fits."""
        panel, lanes = self.held.tiles[0][1], target.lanes * 4 // ITEMSIZE[element_of(self.contract.result)]
        even = [panel // self.count] if panel % self.count == 0 else []
        vectors = range(max(panel // (self.count * lanes), 1), 0, -1)
        fits = (b for b in (*even, *(n * lanes for n in vectors)) if self.width % b == 0)
        return next((b for b in fits if self.width // b >= target.threads), 0)


def column_parts(op: ContractOp, positions: Mapping[Operation, int]) -> Parts | None:
    """The parts of a product of one row with a packed matrix, if nothing reads it but slices of equal width.

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
    """The layout of a right operand in panels of columns; None: it has another one."""
    held = op.data_layouts[1] if op.data_layouts else None
    return held if held and held.order == (1, 0) and [axis for axis, _ in held.tiles] == [1] else None


def _slices(row: SSAValue) -> dict[SSAValue, int]:
    """The slices that alone read a row, and which part each is, if they are aligned and of equal width."""
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
    """The elementwise operators of slices that read nothing else that ``op`` leads to but each other's results."""
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
    """The operations from position ``start`` on that ``values`` depend on."""
    found, waiting = set[Operation](), [v.owner for v in values]
    while waiting:
        owner = waiting.pop()
        if isinstance(owner, Operation) and owner not in found and positions[owner] >= start:
            found.add(owner)
            waiting += [v.owner for v in owner.operands]
    return found
