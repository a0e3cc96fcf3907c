"""Lowering to the host program (``build-program``): calls become launches, and each tensor gets a buffer or a view.

    %y = kernel.call @k(%x, %w) : … -> tensor<4x8xf32>     %b = rt.buffer "128" : memref<4x8xf32>
    func.return %z                                      →   rt.launch @k(%x, %w, %b) ; … rt.launch @l(%b, %out)

A run-time dimension is an additional output, and memory is planned for its upper bound. A kernel writes its result
directly into the caller's buffer, or at its offset in a concatenation. A result that takes over the memory of an
argument is written there directly if no step reads the old value afterwards; otherwise it is copied there at the end.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel, rt
from mlc.dialects.comm import CommOp
from mlc.dialects.graph import (
    BitcastOp,
    ConcatOp,
    ConstantOp,
    IfOp,
    LoopOp,
    NonzeroOp,
    ReshapeOp,
    RoutineOp,
    RunCounterOp,
    SizeOp,
    SliceOp,
    WeightOp,
    source_nodes,
    with_nodes,
)
from mlc.dialects.graph.sizes import sizes_of, upper
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import ITEMSIZE, bytes_of, element_of, memref, shape_of
from mlc.passes.context import weights_of
from mlc.passes.fuse.grouping.aliases import Alias, is_in_place, states_of
from mlc.passes.fuse.grouping.views import part_offsets, slice_offset, source_of
from mlc.passes.plan.program.build_regions import build_if, build_loop
from mlc.passes.plan.program.collectives import build_collective
from mlc.passes.plan.program.interface import Interface

Destination = tuple[SSAValue, DimLike]  # a buffer, and the offset of a value in it, in bytes


@dataclass(frozen=True)
class BuildProgram(ModulePass):
    name = "build-program"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for main in [o for o in op.ops if isinstance(o, func.FuncOp)]:
            program = Builder(main, ctx).run()
            op.body.block.insert_op_before(program, main)
            main.detach()
            main.drop_all_references()


@dataclass
class Builder:
    main: func.FuncOp
    ctx: Context
    memory: dict[SSAValue, SSAValue] = field(default_factory=dict)
    destinations: dict[SSAValue, Destination] = field(default_factory=dict)
    sizes: dict[str, SSAValue] = field(default_factory=dict)
    bounds: dict[str, DimLike] = field(default_factory=dict)
    branches: int = 0
    slots: int = 0  # of collectives
    in_place: set[SSAValue] = field(default_factory=set)  # new values that a kernel writes into the memory of the old

    def run(self) -> rt.ProgramOp:
        main, made = self.main, Interface(self.main)
        self.bounds = made.bounds
        self.program = rt.ProgramOp(
            main.sym_name.data, made.inputs, made.outputs, made.dims, made.guards, made.bounds, made.inner
        )
        self.block = self.program.body.block
        if strings := main.attributes.get("graph.strings"):
            self.program.properties["strings"] = strings
        self._add_arguments(made)
        self._add_results(made)
        self.steps(made.block, [(value, (out, 0)) for value, out in zip(made.returned, self.outputs, strict=True)])
        return self.program

    def _add_arguments(self, made: Interface) -> None:
        """Add inputs and state, in the order of the arguments."""
        states, position = states_of(self.main), itertools.count()
        for n, (arg, name) in enumerate(zip(made.block.args, made.arguments, strict=True)):
            state = rt.StateOp(name, buffer_type(arg), states[n]) if n in states else None
            self.memory[arg] = self.add(state or rt.InputOp(next(position), buffer_type(arg)))

    def _add_results(self, made: Interface) -> None:
        """Add outputs and updates of state, in the order of the results, then the run-time dimensions."""
        position = itertools.count()
        self.outputs = [
            self.add(rt.UpdateOp(self.memory[made.aliases[n].old]))
            if n in made.updates
            else self._output(next(position), value, made.aliases.get(n), made.optional[n])
            for n, value in enumerate(made.returned)
        ]
        self.in_place = {self.outputs[n] for n in self._in_place(made.aliases)}
        for n, size in enumerate(made.visible, len(made.returned) - len(made.updates)):
            self.sizes[size] = self.add(rt.OutputOp(n, memref("i64", ())))

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def _output(self, index: int, value: SSAValue, alias: Alias | None, optional: Sequence[int]) -> SSAValue:
        shape = shape_of(value)
        bound = [upper(d, self.bounds) for d in shape] if sizes_of(shape) else None
        memory = None if alias is None else self.memory[alias.old]
        return self.add(rt.OutputOp(index, buffer_type(value), bound, memory, optional))

    def _in_place(self, aliases: dict[int, Alias]) -> list[int]:
        """Return the results that kernels write into the memory of their arguments."""
        positions = {op: n for n, op in enumerate(self.main.body.block.ops)}
        return [n for n, each in aliases.items() if is_in_place(each, self.functions, positions)]

    @cached_property
    def functions(self) -> dict[str, kernel.FuncOp]:
        """The kernels of the module by name."""
        block = self.main.parent
        assert block is not None
        return {o.sym_name.data: o for o in block.ops if isinstance(o, kernel.FuncOp)}

    def steps(self, block: Block, targets: list[tuple[SSAValue, Destination]]) -> None:
        """Add the steps of a block. After them the values in ``targets`` are at their destinations."""
        self._choose_destinations(block, targets)
        for op in block.ops:
            self._op(op)
        copied = [(v, at) for v, at in targets if self.destinations.get(source_of(v)) != at]
        for value, destination in copied:
            if rt.replaced(destination[0]) is None:
                self.block.add_op(rt.CopyOp(self.memory[value], self._at(destination, value)))
        last = [
            (self._unaliased_memory(v, at[0]), self._at(at, v)) for v, at in copied if rt.replaced(at[0]) is not None
        ]
        for memory, target in last:
            if rt.root(memory) is not rt.root(target):
                self.block.add_op(rt.CopyOp(memory, target))

    def _unaliased_memory(self, value: SSAValue, target: SSAValue) -> SSAValue:
        """Return memory of ``value`` that no copy into an input's memory overwrites."""
        memory = self.memory[value]
        given = any(isinstance(buffer.owner, rt.InputOp | rt.StateOp) for buffer, _ in rt.extents(memory))
        if memory is rt.root(target) or not given:
            return memory
        self.block.add_op(rt.CopyOp(memory, kept := self.scratch(value)))
        return kept

    def _at(self, destination: Destination, value: SSAValue) -> SSAValue:
        """Return the memory of ``value`` at its destination."""
        buffer, offset = destination
        whole = offset == 0 and buffer.type == buffer_type(value)
        return buffer if whole else self.add(rt.ViewOp(buffer, buffer_type(value), offset))

    def _choose_destinations(self, block: Block, targets: list[tuple[SSAValue, Destination]]) -> None:
        """Choose the destinations of values that are, possibly reshaped, results of the block or operands of a
        concatenation."""
        for value, destination in targets:
            kept = rt.replaced(destination[0]) is not None and destination[0] not in self.in_place
            if _computed(source_of(value), block) and _as_large(value) and not kept:
                self.destinations.setdefault(source_of(value), destination)
        for op in [o for o in block.ops if isinstance(o, ConcatOp)]:
            self.memory[op.result] = self.allocate(op.result)
            for part, destination in self._parts(op):
                computed = isinstance(source_of(part).owner, kernel.CallOp) and _as_large(part)
                if computed and not sizes_of([destination[1]]):
                    self.destinations.setdefault(source_of(part), destination)

    def _parts(self, op: ConcatOp) -> list[tuple[SSAValue, Destination]]:
        """Return the operands of a concatenation with their destinations in it."""
        offsets, size = part_offsets(op), ITEMSIZE[element_of(op.result)]
        assert offsets is not None
        return [(part, (self.memory[op.result], at * size)) for part, at in zip(op.args, offsets, strict=True)]

    def _op(self, op: Operation) -> None:
        match op:
            case WeightOp():
                self.memory[op.result] = self.add(rt.WeightOp(op.entry.data, buffer_type(op.result)))
            case ConstantOp():
                entry = weights_of(self.ctx).add("constant", op.array())
                self.memory[op.result] = self.add(rt.WeightOp(entry, buffer_type(op.result)))
            case RunCounterOp():
                self.memory[op.result] = self.add(rt.RunCounterOp(buffer_type(op.result)))
            case ReshapeOp() | BitcastOp():
                self.memory[op.result] = self.add(rt.ViewOp(self.memory[op.input], buffer_type(op.result)))
            case SliceOp():
                self._slice(op)
            case ConcatOp():
                self._concat(op)
            case kernel.CallOp():
                self._launch(op)
            case NonzeroOp():
                self._nonzero(op)
            case SizeOp():
                self._size(op)
            case LoopOp():
                build_loop(self, op)
            case IfOp():
                build_if(self, op)
            case RoutineOp():
                self._routine(op)
            case CommOp():
                build_collective(self, op)

    def _nonzero(self, op: NonzeroOp) -> None:
        where = self.memory[op.result] = self.allocate(op.result)
        step = rt.NonzeroOp(op.size.data, self.memory[op.mask], where, self.size_buffer(op.size.data))
        self.block.add_op(with_nodes(step, source_nodes(op)))

    def _size(self, op: SizeOp) -> None:
        where = self.memory[op.result] = self.size_buffer(op.size.data)
        step = rt.SizeOp(op.size.data, self.memory[op.value], where, op.most.data, op.why.data)
        self.block.add_op(with_nodes(step, source_nodes(op)))

    def size_buffer(self, size: str) -> SSAValue:
        """Return the buffer of a run-time dimension: an output of the model, or a new buffer for a dimension that is
        local to a loop or branch."""
        return self.sizes[size] if size in self.sizes else self.add(rt.BufferOp("8", memref("i64", ())))

    def scratch(self, value: SSAValue) -> SSAValue:
        """Return a new buffer for ``value``."""
        return self.add(rt.BufferOp(str(upper(bytes_of(value), self.bounds)), buffer_type(value)))

    def _routine(self, op: RoutineOp) -> None:
        self.memory[op.result] = self.allocate(op.result)
        step = rt.RoutineOp(op.fn, [self.memory[v] for v in (*op.args, op.result)], op.words, op.numbers)
        self.block.add_op(with_nodes(step, source_nodes(op)))

    def _slice(self, op: SliceOp) -> None:
        offset = slice_offset(op)
        assert offset is not None
        view = rt.ViewOp(self.memory[op.input], buffer_type(op.result), offset * ITEMSIZE[element_of(op.result)])
        self.memory[op.result] = self.add(view)

    def _concat(self, op: ConcatOp) -> None:
        """Add copies for the operands of a concatenation that no kernel writes directly at their offsets."""
        for part, destination in self._parts(op):
            if self.destinations.get(source_of(part)) != destination:
                self.block.add_op(rt.CopyOp(self.memory[part], self._at(destination, part)))

    def _launch(self, op: kernel.CallOp) -> None:
        semaphores = self._semaphores(op)
        for result in op.res:
            self.memory[result] = self._state_of_kernel(result) if result in semaphores else self.allocate(result)
        args = [self.memory[v] for v in (*op.args, *op.res)]
        launch = rt.LaunchOp(op.callee.root_reference.data, args, len(op.res))
        self.block.add_op(with_nodes(launch, source_nodes(op)))

    def _semaphores(self, op: kernel.CallOp) -> tuple[SSAValue, ...]:
        """Return the results of a call that are semaphores of its kernel."""
        count = self.semaphores.get(op.callee.root_reference.data, 0)
        return tuple(op.res)[len(op.res) - count :]

    @cached_property
    def semaphores(self) -> dict[str, int]:
        """The number of semaphores of each kernel, which are its last arguments."""
        block = self.main.parent
        assert block is not None
        return {o.sym_name.data: o.scratch.semaphores for o in block.ops if isinstance(o, kernel.FuncOp)}

    def _state_of_kernel(self, value: SSAValue) -> SSAValue:
        """Return memory for one call of a kernel that is 0 before the first run, and lives from run to run."""
        block, state = self.program.body.block, rt.StateOp("", buffer_type(value))
        block.insert_op_before(state, block.first_op) if block.first_op else block.add_op(state)
        return state.result

    def allocate(self, value: SSAValue) -> SSAValue:
        """Return memory for a computed value: its destination, or a new buffer."""
        return self._at(self.destinations[value], value) if value in self.destinations else self.scratch(value)


def _as_large(value: SSAValue) -> bool:
    """Return whether memory planned for ``value`` is large enough for the tensor of which ``value`` is a reshape."""
    return not sizes_of(shape_of(value)) or bytes_of(value) == bytes_of(source_of(value))


def _computed(value: SSAValue, block: Block) -> bool:
    """Return whether a step of ``block`` computes ``value`` and can write it to any destination."""
    op = value.owner
    if isinstance(op, LoopOp):
        return op.parent is block and op.res.index(value) >= len(op.states)
    return isinstance(op, kernel.CallOp | ConcatOp | NonzeroOp | RoutineOp | CommOp | IfOp) and op.parent is block


def buffer_type(value: SSAValue) -> Attribute:
    return memref(element_of(value), shape_of(value))
