"""Memory accesses of a kernel in C: reads and writes of tiles, gathers, transposed reads, local arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.dialects.kernel.access import valid_of
from mlc.dialects.types import element_of, elements_in
from mlc.passes.codegen.c_like import c_memory
from mlc.passes.codegen.c_like.c_types import layout
from mlc.passes.codegen.cpu.c_kernel_values import CKernelValues


@dataclass
class CKernelMemory(CKernelValues):
    """A printer of accesses to buffers, which ``pointers`` names. ``rows``: for each value that is a number of valid
    rows, the most rows of a tile that is read."""

    rows: dict[SSAValue, int] = field(default_factory=dict)

    def count_rows(self) -> None:
        """Find the reads of tiles some of whose rows may not be valid."""
        for op in (o for o in self.fn.walk() if isinstance(o, kernel.ReadOp)):
            for axis, points in valid_of(op).items():
                self.rows[points] = max(self.rows.get(points, 0), layout(op.result.type, self.lanes).shape[axis])

    def name_rows(self, values: Sequence[SSAValue]) -> None:
        """Declare the indices of rows once, before the loops that read them."""
        for points in filter(self.rows.__contains__, values):
            text = self.scalar(points)
            if not text.isidentifier():
                self.line(f"const int64_t {(name := self.name())} = {text};")
                self.alias(points, [name])
            for line in c_memory.clamped_rows(self.scalar(points), self.rows[points]):
                self.line(line)

    def local(self, op: kernel.LocalOp) -> None:
        name, size = self.name(), elements_in(op.result)
        assert isinstance(size, int)
        self.line(f"_Alignas(64) {c_memory.pointer_type(element_of(op.result))} {name}[{max(size, 1)}];")
        self.pointers[op.result] = name

    def _strides(self, op: kernel.ReadOp | kernel.WriteOp) -> list[str]:
        return [str(s) if isinstance(s, int) else self.scalar(s) for s in op.mixed_strides]

    def _valid(self, op: kernel.ReadOp | kernel.WriteOp | kernel.GatherOp) -> dict[int, str]:
        """Return the numbers of valid points along axes of rows that may have fewer than the tile."""
        return {axis: self.scalar(points) for axis, points in valid_of(op).items()}

    def read(self, op: kernel.ReadOp) -> None:
        shape, strides = layout(op.result.type, self.lanes), self._strides(op) or ["0"]
        pointer, base = self.pointers[op.buffer], self.scalar(op.offset)
        lanes, valid = self.scalar(op.lanes) if op.lanes else None, self._valid(op)
        axis = c_memory.transposed_axis(shape, strides)
        if axis is not None:
            self.read_transposed(op, axis, strides)
            return
        strings = []
        for leading, c in shape.positions():
            at = c_memory.offset(base, c_memory.clamped(leading, valid), shape.chunks[c], strides)
            if strides[-1] == "2" and lanes is None and c_memory.in_pairs(shape):
                strings.append(c_memory.read_pairs(pointer, at, shape, c, op.odd is not None))
            else:
                strings.append(c_memory.read(pointer, at, shape, shape.chunks[c], strides[-1], lanes))
        self.define(op.result, strings)

    def slide(self, op: kernel.SlideOp) -> None:
        rows, last = self.env[op.rows], self.env[op.next]
        self.define(op.result, [c_memory.slide(rows, last, leading, c) for leading, c in rows.layout.positions()])

    def read_transposed(self, op: kernel.ReadOp, axis: int, strides: Sequence[str]) -> None:
        """Read square blocks, with as many points along ``axis`` as a vector has lanes, and transpose them in
        registers."""
        shape, pointer, base = layout(op.result.type, self.lanes), self.pointers[op.buffer], self.scalar(op.offset)
        lanes, valid = self.scalar(op.lanes) if op.lanes else None, self._valid(op)
        squares: dict[tuple[tuple[int, ...], int], str] = {}
        names = []
        for leading, c in shape.positions():
            chunk, n = shape.chunks[c], leading[axis] % shape.chunks[c].width
            at = (*leading[:axis], leading[axis] - n, *leading[axis + 1 :])
            if (at, c) not in squares:
                vectors = c_memory.read_transposed(pointer, base, shape, chunk, at, axis, strides, lanes, valid)
                squares[at, c] = self.square(vectors, shape.c_type(chunk), chunk.width)
            names.append(f"{squares[at, c]}[{n}]")
        self.alias(op.result, names)

    def square(self, vectors: Sequence[str], type_: str, size: int) -> str:
        """Declare an array of ``size`` vectors: the columns of ``vectors``."""
        name = self.name()
        self.line(f"{type_} {name}[{size}] = {{{', '.join(vectors)}}};")
        self.line(f"mlc_transpose_{type_}({name});")
        return name

    def write(self, op: kernel.WriteOp) -> None:
        tile, strides = self.env[op.value], self._strides(op) or ["0"]
        pointer, base = self.pointers[op.buffer], self.scalar(op.offset)
        lanes, valid = self.scalar(op.lanes) if op.lanes else None, self._valid(op)
        for (leading, c), value in zip(tile.layout.positions(), tile.names, strict=True):
            chunk = tile.layout.chunks[c]
            at = c_memory.offset(base, leading, chunk, strides)
            written = c_memory.write(pointer, at, tile, value, chunk, strides[-1], lanes)
            inside = c_memory.inside(leading, valid)
            self.line(f"if ({inside}) {written}" if inside else written)

    def gather(self, op: kernel.GatherOp) -> None:
        shape, offsets = layout(op.result.type, self.lanes), self.env[op.offsets]
        lanes, valid = self.scalar(op.lanes) if op.lanes else None, self._valid(op)
        strings = []
        if op.lane_offsets is not None:
            constant = [int(p) for p in op.lane_offsets.get_values()]
            for leading, c in shape.positions():
                at = offsets.at(leading, 0) if len(offsets.names) > 1 else offsets.names[0]
                chunk = shape.chunks[c]
                value = c_memory.gather_constant(self.pointers[op.buffer], at, shape, chunk, constant, lanes)
                strings.append(c_memory.guarded(value, leading, valid, shape.c_type(chunk)))
            self.define(op.result, strings)
            return
        for (leading, c), at in zip(shape.positions(), offsets.names, strict=True):
            value = c_memory.gather(self.pointers[op.buffer], at, shape, shape.chunks[c], lanes)
            strings.append(c_memory.guarded(value, leading, valid, shape.c_type(shape.chunks[c])))
        self.define(op.result, strings)
