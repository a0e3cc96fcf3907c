"""Accesses to the local arrays that are in registers, as C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.dialects.semantics.dims import parse_dim
from mlc.dialects.types import ITEMSIZE, bytes_of, element_of
from mlc.passes.codegen.c_like import c_memory
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_types import CTile, Layout, layout
from mlc.passes.codegen.cpu.c_kernel_memory import CKernelMemory
from mlc.passes.codegen.cpu.register_arrays import RegisterArray, accessed, array_of, updates_of

ALONE = ("0", "1")
"""The number of a thread and the size of its team in a kernel that one thread runs."""


@dataclass
class CRegisters(CKernelMemory):
    """A printer of a kernel that is made of others, whose small arrays are variables. ``shapes``: the layouts of the
    arrays that are; ``arrays``: their variables; ``alone``: whether one thread runs the kernel, and calls of library
    functions are its own."""

    alone: bool = False
    shapes: dict[SSAValue, Layout] = field(default_factory=dict)
    arrays: dict[SSAValue, RegisterArray] = field(default_factory=dict)

    def in_registers(self, value: SSAValue) -> tuple[RegisterArray, int] | None:
        """Return the variables of an array, and the element at which the view ``value`` begins."""
        found = array_of(value) if self.arrays else None
        return (self.arrays[found[0]], found[1]) if found and found[0] in self.arrays else None

    def local(self, op: kernel.LocalOp) -> None:
        if (shape := self.shapes.get(op.result)) is None:
            super().local(op)
            return
        base, names = self.name(), []
        for n, (_, c) in enumerate(shape.positions()):
            names.append(f"{base}_{n}")
            chunk = shape.chunks[c]
            zeros = " = {0}" if chunk.valid < chunk.width else ""  # no lane is a denormal, which is slow
            self.line(f"{shape.c_type(chunk)} {names[-1]}{zeros};")
        self.arrays[op.result] = RegisterArray(tuple(names), shape)

    def view(self, op: kernel.ViewOp) -> None:
        if self.in_registers(op.result):
            return
        name, type_ = self.name(), c_memory.pointer_type(element_of(op.result))
        address = f"(char *){self.pointers[op.source]} + {c_dim(parse_dim(op.offset.data))}"
        self.line(f"{type_} *const {name} = ({type_} *)({address});")
        self.pointers[op.result] = name

    def read(self, op: kernel.ReadOp) -> None:
        if (found := self.in_registers(op.buffer)) is None:
            super().read(op)
            return
        array, at = found
        tile, offsets = layout(op.result.type, self.lanes), accessed(op, self.lanes, at)
        assert offsets is not None
        strings = [_lanes(array, each, tile, c) for each, (_, c) in zip(offsets, tile.positions(), strict=True)]
        self.define(op.result, strings)

    def write(self, op: kernel.WriteOp) -> None:
        if (found := self.in_registers(op.buffer)) is None:
            super().write(op)
            return
        array, at = found
        tile, offsets = self.env[op.value], accessed(op, self.lanes, at)
        assert offsets is not None
        for each, value, (_, c) in zip(offsets, tile.names, tile.layout.positions(), strict=True):
            width = tile.layout.chunks[c].width
            if (name := array.whole(each, width)) is not None:
                self.line(f"{name} = {value};")
                continue
            for lane, offset in enumerate(each):
                self.line(f"{array.element(offset)} = {value}{f'[{lane}]' if width > 1 else ''};")

    def library_call(self, op: kernel.LibraryCallOp) -> None:
        """Print a scatter of few elements as assignments, which passes over a row that is outside of the data."""
        updates = updates_of(op) if self.alone else None
        if updates is None:
            self.call_in(op, ALONE if self.alone else self.team)
            return
        data, indices, new, out = op.args
        target = self.pointers[out]
        if self.pointers[data] != target:
            self.line(f"memcpy({target}, {self.pointers[data]}, (size_t){c_dim(bytes_of(out))});")
        for n in range(updates.count):
            self.line(f"const int64_t {(row := self.name())} = {self.element(indices, n)};")
            self.open(f"if ({row} >= 0 && {row} < {updates.cells})")
            for k in range(updates.width):
                at, value = f"{row} * {updates.width} + {k}", self.element(new, n * updates.width + k)
                self.line(f"{updates.statement.format(old=f'{target}[{at}]', new=value)};")
            self.close()

    def element(self, buffer: SSAValue, n: int) -> str:
        """Return the C expression of an element of a buffer, in registers or memory."""
        found = self.in_registers(buffer)
        return found[0].element(found[1] + n) if found else f"{self.pointers[buffer]}[{n}]"

    def copy(self, op: kernel.CopyOp) -> None:
        source, target = self.in_registers(op.source), self.in_registers(op.target)
        size = bytes_of(op.target)
        if source is None and target is None:
            self.line(f"memcpy({self.pointers[op.target]}, {self.pointers[op.source]}, (size_t){c_dim(size)});")
            return
        assert isinstance(size, int)
        count = size // ITEMSIZE[element_of(op.target)]
        if source and target and (source[1], target[1]) == (0, 0) and source[0].shape == target[0].shape:
            for new, old in zip(target[0].names, source[0].names, strict=True):
                self.line(f"{new} = {old};")
        elif target and target[1] == 0 and count == _elements(target[0]) and source is None:
            self._load(target[0], self.pointers[op.source])
        elif source and source[1] == 0 and count == _elements(source[0]) and target is None:
            self._store(source[0], self.pointers[op.target])
        else:
            for n in range(count):
                self.line(f"{self.element(op.target, n)} = {self.element(op.source, n)};")

    def _load(self, array: RegisterArray, pointer: str) -> None:
        for name, (leading, c) in zip(array.names, array.shape.positions(), strict=True):
            chunk = array.shape.chunks[c]
            at = c_memory.offset("0", leading, chunk, [str(array.shape.shape[-1]), "1"])
            self.line(f"{name} = {c_memory.read(pointer, at, array.shape, chunk, '1', None)};")

    def _store(self, array: RegisterArray, pointer: str) -> None:
        tile = CTile(array.shape, array.names)
        for name, (leading, c) in zip(array.names, array.shape.positions(), strict=True):
            chunk = array.shape.chunks[c]
            at = c_memory.offset("0", leading, chunk, [str(array.shape.shape[-1]), "1"])
            self.line(c_memory.write(pointer, at, tile, name, chunk, "1", None))


def written_buffers(fn: kernel.FuncOp) -> set[SSAValue]:
    """Return the arguments and local arrays that a kernel writes, also through views."""
    found: set[SSAValue] = set()
    for op in fn.walk():
        match op:
            case kernel.WriteOp():
                found.add(_viewed(op.buffer))
            case kernel.LibraryCallOp():
                found.add(_viewed(op.out))
            case kernel.CopyOp():
                found.add(_viewed(op.target))
    return found


def _viewed(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, kernel.ViewOp):
        value = value.owner.source
    return value


def _elements(array: RegisterArray) -> int:
    return array.shape.shape[0] * array.shape.shape[1]


def _lanes(array: RegisterArray, offsets: Sequence[int], tile: Layout, c: int) -> str:
    """Return the C expression of a variable that is read from these elements."""
    chunk = tile.chunks[c]
    if chunk.width == 1:
        return array.element(offsets[0])
    if (name := array.whole(offsets, chunk.width)) is not None:
        return name
    return f"({tile.c_type(chunk)}){{{', '.join(array.element(n) for n in offsets)}}}"
