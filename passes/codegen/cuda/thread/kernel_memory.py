"""Accesses to memory in a CUDA function: local arrays, reads and writes of a thread, asynchronous copies."""

from __future__ import annotations

from abc import ABC
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation

from mlc.dialects import kernel
from mlc.dialects.types import ITEMSIZE, element_of, elements_in
from mlc.passes.codegen.c_like.c_memory import pointer_type
from mlc.passes.codegen.c_like.c_types import c_scalar, element
from mlc.passes.codegen.cuda.thread.async_copies import AsyncCopy
from mlc.passes.codegen.cuda.thread.cuda_memory import TileAccesses
from mlc.passes.codegen.cuda.thread.kernel_values import KernelValues
from mlc.passes.codegen.cuda.thread.register_order import is_write
from mlc.passes.codegen.cuda.thread.thread_part import ThreadPart
from mlc.passes.device.distribute_values import DISTRIBUTION
from mlc.passes.shared_memory import alignment_of, local_offsets

DYNAMIC = "dynamic"
"""The CUDA name of the shared memory that the launch requests."""


@dataclass
class KernelMemory(KernelValues, ABC):
    """A printer of operations on buffers."""

    assumed: frozenset[str] = frozenset()  # conditions on threads that hold in the block that is printed

    def local(self, op: kernel.LocalOp) -> None:
        name, size, type_ = self.name(), elements_in(op.result), pointer_type(element_of(op.result))
        assert isinstance(size, int)
        if self.fn.launch.dynamic:
            self.line(f"{type_} *const {name} = ({type_} *)({DYNAMIC} + {local_offsets(self.fn)[0][op]});")
        else:
            self.line(f"__shared__ __align__({alignment_of(op)}) {type_} {name}[{max(size, 1)}];")
        self.pointers[op.result] = name
        if op.layout is not None:
            self.layouts[op.result] = op.layout.data

    def subview(self, op: kernel.SubviewOp) -> None:
        name, source, size = self.name(), self.pointers[op.source], elements_in(op.result)
        type_ = pointer_type(element_of(op.result))
        self.line(f"{type_} *const {name} = {source} + {self.scalar(op.index)} * {size};")
        self.pointers[op.result] = name
        assert isinstance(size, int)
        self.starts[op.result] = f"{self.scalar(op.index)} * {size * ITEMSIZE[element_of(op.result)]}"
        if layout := self.layouts.get(op.source):
            self.layouts[op.result] = layout

    def async_copy(self, op: kernel.AsyncCopyOp) -> None:
        distribution, width, size = op.attributes[DISTRIBUTION], op.width.value.data, ITEMSIZE[element_of(op.buffer)]
        assert isinstance(distribution, kernel.LayoutAttr)
        part, axis = ThreadPart(distribution.data, op.chunks), op.axis if width > 1 else None
        factors = [
            str(width if n == axis else s if isinstance(s, int) else self.scalar(s))
            for n, s in enumerate(op.mixed_strides)
        ]
        targets = [str(width if n == axis else s) for n, s in enumerate(op.target_strides.get_values())]
        source = TileAccesses(self.coordinates, part, self.scalar(op.offset), factors, self.limits(op))
        layout = self.layouts.get(op.target)
        target = TileAccesses(self.coordinates, part, self.scalar(op.at), targets, layout=layout)
        pointers = (self.pointers[op.buffer], self.pointers[op.target])
        when, type_ = self.scalar(op.when) if op.when is not None else None, pointer_type(element_of(op.buffer))
        chunk = (type_, width, width * size, axis, when)
        for line in AsyncCopy(source, target, pointers, *chunk, aligned=self.is_aligned(op.buffer)).steps():
            self.line(line)

    def async_gather(self, op: kernel.AsyncGatherOp) -> None:
        offsets, width, size = self.env[op.offsets], op.width.value.data, ITEMSIZE[element_of(op.buffer)]
        source = TileAccesses(self.coordinates, offsets.part, "0", [], self.limits(op))
        strides = [str(width if n == op.axis else s) for n, s in enumerate(op.target_strides.get_values())]
        target = TileAccesses(
            self.coordinates, offsets.part, self.scalar(op.at), strides, layout=self.layouts.get(op.target)
        )
        pointers, type_ = (self.pointers[op.buffer], self.pointers[op.target]), pointer_type(element_of(op.buffer))
        when = self.scalar(op.when) if op.when is not None else None
        chunk = (type_, width, width * size, op.axis, when, offsets.at)
        for line in AsyncCopy(source, target, pointers, *chunk, aligned=self.is_aligned(op.buffer)).steps():
            self.line(line)

    def is_aligned(self, buffer: SSAValue) -> bool:
        """Return whether an argument is aligned for copies of several elements in each launch."""
        return any(buffer is self.fn.block.args[n] for n in self.fn.launch.aligned)

    def accesses(self, op: kernel.ReadOp | kernel.WriteOp, part: ThreadPart) -> TileAccesses:
        factors = [str(s) if isinstance(s, int) else self.scalar(s) for s in op.mixed_strides]
        layout = self.layouts.get(op.buffer)
        return TileAccesses(
            self.coordinates, part, self.scalar(op.offset), factors, self.limits(op), layout, self.assumed
        )

    def limits(self, op: IRDLOperation) -> dict[int, str]:
        return {axis: self.scalar(value) for axis, value in kernel.valid_of(op).items()}

    def read(self, op: kernel.ReadOp) -> None:
        part = self.part(op.result)
        accesses = self.accesses(op, part)
        self.load(op, part, accesses, accesses.address)

    def gather(self, op: kernel.GatherOp) -> None:
        offsets = self.env[op.offsets]
        part = self.part(op.result, [offsets])
        accesses = TileAccesses(self.coordinates, part, "0", [], self.limits(op), assumed=self.assumed)
        self.load(op, part, accesses, offsets.at)

    def load(
        self,
        op: kernel.ReadOp | kernel.GatherOp,
        part: ThreadPart,
        accesses: TileAccesses,
        offset: Callable[[int], str],
    ) -> None:
        """Print the reads of each register of a thread, which are 0 if the tile is beyond the extent."""
        zero = f"({c_scalar(element(op.result.type))})0"
        names = {}
        for r in part.registers():
            text, valid = f"{self.pointers[op.buffer]}[{offset(r)}]", " && ".join(accesses.valid(r))
            names[r] = f"{valid} ? {text} : {zero}" if valid else text
        self.define(op.result, part, names)

    def write(self, op: kernel.WriteOp) -> None:
        accesses = self.accesses(op, self.env[op.value].part)
        elements = self.elements(op, accesses) if is_write(op) else {}
        self.store(op, accesses, lambda r: elements.get(r) or f"{self.pointers[op.buffer]}[{accesses.address(r)}]")

    def elements(self, op: kernel.WriteOp, accesses: TileAccesses) -> dict[int, str]:
        """Return the elements of an argument that exist on conditions, and whose addresses differ by constants, as
        constants from one pointer. Otherwise the compiler computes each address as a whole where its condition
        holds."""
        offsets = {r: accesses.offset(r) for r in self.env[op.value].part.registers() if accesses.valid(r)}
        shared = Counter(variable for variable, _ in offsets.values())
        pointers, found = dict[str, str](), dict[int, str]()
        for r, (variable, constant) in offsets.items():
            if shared[variable] > 1:
                if variable not in pointers:
                    pointers[variable] = self.pointer(op, variable, r)
                found[r] = f"{pointers[variable]}[{constant}]"
        return found

    def pointer(self, op: kernel.WriteOp, offset: str, register: int) -> str:
        """Declare a pointer to an offset in a buffer, for a register and those after it."""
        name, type_ = self.name(), pointer_type(element_of(op.buffer))
        self.register_line(register, f"{type_} *const {name} = {self.pointers[op.buffer]} + {offset};")
        return name

    def scatter(self, op: kernel.ScatterOp) -> None:
        part, pointer, at = self.env[op.value].part, self.pointers[op.buffer], self.env[op.offsets].at
        accesses = TileAccesses(self.coordinates, part, "0", [], self.limits(op), assumed=self.assumed)
        self.store(op, accesses, lambda r: f"{pointer}[{at(r)}]")

    def store(
        self, op: kernel.WriteOp | kernel.ScatterOp, accesses: TileAccesses, element: Callable[[int], str]
    ) -> None:
        """Print the writes: one thread writes each element that is within the extent."""
        held = self.env[op.value]
        for r in held.part.registers():
            condition = " && ".join([*accesses.once(), *accesses.valid(r)])
            store = f"{element(r)} = {held.at(r)};"
            self.register_line(r, f"if ({condition}) {store}" if condition else store)
