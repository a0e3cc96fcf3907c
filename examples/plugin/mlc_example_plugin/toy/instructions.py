"""Instruction selection: the statements of a kernel as loops of loads, tile products, vector operations and stores.

    arguments 3                                    # b0, b1 and b2
    loop r0 12 8                                   # r0 = 0, 8: rows of the result
    loop r1 16 8
    fill t0 0x0.0p+0
    loop r2 20 8
    load t1 b0[0] rows r0*20 cols r2*1             # 8 × 8 floats from b0 + 20 r0 + r2 on; zeros beyond the loops' ends
    load t2 b1[0] rows r2*16 cols r1*1
    matmul8x8 t0 t1 t2                             # t0 += t1 · t2
    end
    store t0 b2[0] rows r0*16 cols r1*1
    end
    end

Register 8 and 9 are always 0 and end at 1: a tile with ``rows r8*0`` has one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, i1
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.poly import StatementOp, YieldOp
from mlc.dialects.types import shape_of
from mlc_example_plugin.toy.accesses import Access, CannotRun, accesses, extents
from mlc_example_plugin.toy.target import SIDE, ToyTarget

VECTOR = {
    "arith.addf": "add", "arith.subf": "sub", "arith.mulf": "mul", "arith.divf": "div", "arith.maximumf": "max",
    "arith.minimumf": "min", "arith.negf": "neg", "math.absf": "abs", "math.exp": "exp", "math.log": "log",
    "math.sqrt": "sqrt", "math.tanh": "tanh", "math.erf": "erf", "arith.select": "select",
}  # fmt: skip
COMPARED = {1: "eq", 2: "gt", 3: "ge", 4: "lt", 5: "le", 13: "ne"}
"""Predicates of ``arith.cmpf``: the result is 1 or 0."""
MONOIDS = ("add", "mul", "max", "min")
NONE = (8, 9)  # registers that are always 0, for rows and for columns


def program_of(fn: kernel.FuncOp, target: ToyTarget) -> str:
    """The instructions of a kernel.

    Raises:
        CannotRun: it does what no instruction does.
    """
    selection = Selection(target, {arg: n for n, arg in enumerate(fn.block.args)})
    for op in fn.block.ops:
        if isinstance(op, StatementOp):
            selection.statement(op)
        elif isinstance(op, kernel.LocalOp):
            selection.local(op)
        elif not isinstance(op, kernel.ReturnOp):
            called = op.function.data if isinstance(op, kernel.LibraryCallOp) else op.name
            raise CannotRun(f"it has no instruction for {called}")
    if len(selection.buffers) > target.buffers:
        raise CannotRun(f"it addresses {target.buffers} buffers, and the kernel has {len(selection.buffers)}")
    return "\n".join([f"arguments {len(fn.block.args)}", *selection.heads, *selection.lines])


@dataclass
class Selection:
    target: ToyTarget
    buffers: dict[SSAValue, int]
    heads: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    tiles: int = 0

    def local(self, op: kernel.LocalOp) -> None:
        count = 1
        for extent in extents(shape_of(op.result)):
            count *= extent
        self.buffers[op.result] = len(self.buffers)
        self.heads.append(f"buffer b{self.buffers[op.result]} {count}")

    def statement(self, op: StatementOp) -> None:
        names = [name for name, _ in op.domain.data]
        if op.restrictions:
            raise CannotRun("it has no masked iterations")
        if len(names) > self.target.loops:
            raise CannotRun(f"it has {self.target.loops} loop registers, and the operator {len(names)} iterators")
        self.tiles = 0
        sizes = extents([extent for _, extent in op.domain.data])
        if 0 in sizes and op.monoid is None:
            return
        *reads, write = accesses(op, self.buffers, names)
        Nest(self, op, sizes, reads, write).select()

    def tile(self) -> str:
        if self.tiles == self.target.tiles:
            raise CannotRun(f"its scratchpad has {self.target.tiles} tiles, which the expression exceeds")
        self.tiles += 1
        return f"t{self.tiles - 1}"

    def filled(self, value: float) -> str:
        tile = self.tile()
        self.lines.append(f"fill {tile} {float(value).hex()}")
        return tile


@dataclass
class Nest:
    """One statement. Iterator n is counted by register n; the register of a tile's rows or columns goes by 8."""

    to: Selection
    op: StatementOp
    sizes: Sequence[int]
    reads: Sequence[Access]
    write: Access

    def select(self) -> None:
        kept = [n for n, stride in enumerate(self.write.strides) if stride]
        reduced = [n for n in range(len(self.sizes)) if n not in kept]
        if self.op.monoid is None:
            *_, rows, cols = (*NONE, *range(len(self.sizes)))[-2:]
            with self.loops(range(len(self.sizes)), (rows, cols)):
                self.store(self.computed(rows, cols), rows, cols)
        elif self.is_product():
            self.product(kept, reduced)
        else:
            self.reduction(kept, reduced)

    def is_product(self) -> bool:
        multiply, *rest = self.op.body.block.ops
        args = self.op.body.block.args
        plain = isinstance(multiply, arith.MulfOp) and len(rest) == 1 and len(args) == 2
        return plain and tuple(multiply.operands) == tuple(args) and self.monoid() == "add"

    def product(self, kept: Sequence[int], reduced: Sequence[int]) -> None:
        """Rows are read by the left operand alone, columns by the right one alone, the summed dimension by both."""
        left, right = self.reads
        rows = next((n for n in reversed(kept) if left.strides[n] and not right.strides[n]), NONE[0])
        cols = next((n for n in reversed(kept) if right.strides[n] and not left.strides[n]), NONE[1])
        summed = next((n for n in reversed(reduced) if left.strides[n] and right.strides[n]), None)
        if summed is None:
            return self.reduction(kept, reduced)
        with self.loops(kept, (rows, cols)):
            total = self.initial()
            with self.loops(reduced, (summed,)):
                a, b = self.load(left, rows, summed), self.load(right, summed, cols)
                self.to.lines.append(f"matmul8x8 {total} {a} {b}")
            self.store(total, rows, cols)
        return None

    def reduction(self, kept: Sequence[int], reduced: Sequence[int]) -> None:
        """The totals are in the first column of a tile."""
        rows, cols = (kept[-1] if kept else NONE[0]), (reduced[-1] if reduced else NONE[1])
        with self.loops(kept, (rows,)):
            total = self.initial()
            with self.loops(reduced, (cols,)):
                self.to.lines.append(f"reduce_{self.monoid()} {total} {self.computed(rows, cols)} r{cols}")
            self.store(total, rows, NONE[1])

    def monoid(self) -> str:
        name = self.op.monoid.data if self.op.monoid is not None else ""
        if name not in MONOIDS:
            raise CannotRun(f"it reduces by {', '.join(MONOIDS)}, not {name}")
        return name

    def initial(self) -> str:
        assert isinstance(self.op.init, FloatAttr)
        return self.to.filled(self.op.init.value.data)

    @contextmanager
    def loops(self, iterators: Sequence[int], by_tiles: Sequence[int]) -> Iterator[None]:
        lines = self.to.lines
        lines += [f"loop r{n} {self.sizes[n]} {SIDE if n in by_tiles else 1}" for n in iterators]
        yield
        lines += ["end"] * len(iterators)

    def address(self, access: Access, rows: int, cols: int) -> str:
        steps = [*access.strides, *(0 for _ in range(len(access.strides), NONE[1] + 1))]
        inner = [f" + r{n}*{stride}" for n, stride in enumerate(access.strides) if stride and n not in (rows, cols)]
        return f"b{access.buffer}[{access.base}{''.join(inner)}] rows r{rows}*{steps[rows]} cols r{cols}*{steps[cols]}"

    def load(self, access: Access, rows: int, cols: int) -> str:
        tile = self.to.tile()
        self.to.lines.append(f"load {tile} {self.address(access, rows, cols)}")
        return tile

    def store(self, tile: str, rows: int, cols: int) -> None:
        self.to.lines.append(f"store {tile} {self.address(self.write, rows, cols)}")

    def computed(self, rows: int, cols: int) -> str:
        """The statement's value in a tile."""
        block: Block = self.op.body.block
        tiles: dict[SSAValue, str] = {
            arg: self.load(read, rows, cols) for arg, read in zip(block.args, self.reads, strict=True)
        }
        for op in block.ops:
            if isinstance(op, YieldOp):
                return tiles[op.operands[0]]
            tiles[op.results[0]] = self.operation(op, lambda value: tiles[value])
        raise AssertionError("a region without an end")

    def operation(self, op: Operation, tile_of: Callable[[SSAValue], str]) -> str:
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr):
            return self.to.filled(op.value.value.data)
        if isinstance(op, arith.UIToFPOp) and op.operands[0].type == i1:
            return tile_of(op.operands[0])  # which is 1 or 0
        compared = isinstance(op, arith.CmpfOp)
        name = COMPARED.get(op.predicate.value.data) if compared else VECTOR.get(op.name)  # type: ignore[attr-defined]
        if name is None:
            raise CannotRun(f"it has no vector instruction for {op.name}")
        made = self.to.tile()
        self.to.lines.append(" ".join([name, made, *map(tile_of, op.operands)]))
        return made
