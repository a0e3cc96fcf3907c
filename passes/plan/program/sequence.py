"""The kernel that a loop of the host program becomes (``outline-loops``): its launches, one after another, are the
bodies of their kernels.

Each tensor of an iteration is a local array; a loop-carried value has two, of which one is copied into the other at the
end of an iteration, so that the C compiler can hold both in registers. Parallel loops become sequential ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FunctionType, IntegerAttr, StringAttr, i1
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from mlc.dialects import kernel, rt
from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.dialects.types import bytes_of, element_of
from mlc.passes.plan.program.accessed import accesses
from mlc.passes.plan.program.iterations import iterations_of

Kernels = Mapping[str, kernel.FuncOp]


def base_of(value: SSAValue) -> SSAValue:
    """Return the buffer of which ``value`` is a view."""
    while isinstance(value.owner, rt.ViewOp):
        value = value.owner.source
    return value


def is_within(value: SSAValue, loop: rt.LoopOp) -> bool:
    """Return whether an operation in the body of ``loop`` defines a value, or the body of a loop."""
    return loop.is_ancestor(value.owner)


def condition_of(op: rt.LoopOp | rt.IfOp) -> rt.LoopConditionOp | None:
    """Return the step before a loop or branch that decides on it."""
    name = op.step if isinstance(op, rt.LoopOp) else op.symbol
    before = op.prev_op
    while before is not None and not (isinstance(before, rt.LoopConditionOp) and before.symbol == name):
        before = before.prev_op
    return before


def arguments_of(loop: rt.LoopOp) -> tuple[list[SSAValue], list[SSAValue]]:
    """Return the buffers from outside that a loop only reads, and those that it writes: results too."""
    read, written = dict[SSAValue, None](), dict[SSAValue, None]()
    condition = condition_of(loop)
    for op in [loop, *([condition] if condition else []), *rt.walk(loop.body.block)]:
        reads, writes = accesses(op) if isinstance(op, rt.STEPS) else ([], [])
        reads = [*op.first] if isinstance(op, rt.LoopOp) else reads
        read |= dict.fromkeys(base for v in reads if not is_within(base := base_of(v), loop))
        written |= dict.fromkeys(base for v in writes if not is_within(base := base_of(v), loop))
    written |= dict.fromkeys(buffer for result, buffer in zip(loop.res, loop.ping, strict=True) if result.uses)
    return [base for base in read if base not in written], [*written]


@dataclass
class Sequence:
    """The builder of a kernel from the steps of a loop. ``memory``: the kernel's buffers, by those of the program."""

    loop: rt.LoopOp
    functions: Kernels
    memory: dict[SSAValue, SSAValue] = field(default_factory=dict)
    flops: DimLike = 0
    bytes: DimLike = 0

    def build(self, name: str) -> tuple[kernel.FuncOp, rt.LaunchOp]:
        """Return the kernel, and its launch in place of the loop."""
        self._hoist()
        reads, writes = arguments_of(self.loop)
        arguments = [*reads, *writes]
        self.block = entry = Block(arg_types=[v.type for v in arguments])
        self.memory.update(zip(arguments, entry.args, strict=True))
        self._loop(self.loop)
        for result, buffer in zip(self.loop.res, self.loop.ping, strict=True):
            if result.uses:
                self.block.add_op(kernel.CopyOp(self.memory[result], self.memory[buffer]))
        entry.add_op(kernel.ReturnOp())
        fn = kernel.FuncOp(name, FunctionType.from_lists(entry.arg_types, []), Region(entry))
        fn.serial, fn.work = StringAttr(self._why()), kernel.Work(self.flops, self.bytes)
        return fn, rt.LaunchOp(name, arguments, len(writes))

    def _why(self) -> str:
        """Return why one thread runs the kernel, with the names of the kernels whose bodies it has."""
        launches = (o for o in rt.walk(self.loop.body.block) if isinstance(o, rt.LaunchOp))
        names = ", ".join(dict.fromkeys(o.callee.root_reference.data for o in launches))
        trips = f"{self.loop.trips.data} small iterations" if self.loop.trips else "small iterations"
        return f"a loop of {trips}: {names or 'copies'}"

    def _hoist(self) -> None:
        """Move weights, which the body of the loop names, before the loop."""
        for op in list(rt.walk(self.loop.body.block)):
            if isinstance(op, rt.WeightOp | rt.RunCounterOp):
                op.detach()
                assert self.loop.parent is not None
                self.loop.parent.insert_op_before(op, self.loop)

    def _add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    @contextmanager
    def _inside(self, block: Block) -> Iterator[None]:
        outer, self.block = self.block, block
        yield
        self.block = outer

    def _memory(self, value: SSAValue) -> SSAValue:
        """Return the kernel's buffer for a value, of which a view begins where it is first used."""
        if value not in self.memory:
            assert isinstance(value.owner, rt.ViewOp)
            return self._view(value.owner)
        return self.memory[value]

    def _view(self, op: rt.ViewOp) -> SSAValue:
        source = self._memory(op.source)
        same = element_of(source) == element_of(op.result) and bytes_of(source) == bytes_of(op.result)
        if op.start == 0 and same:
            return source
        return self._add(kernel.ViewOp(source, op.start, op.result.type))

    def _steps(self, block: Block) -> None:
        for op in block.ops:
            match op:
                case rt.BufferOp():
                    self.memory[op.result] = self._add(kernel.LocalOp(op.result.type))
                case rt.ViewOp():
                    self.memory[op.result] = self._view(op)
                case rt.LaunchOp():
                    self._launch(op)
                case rt.CopyOp():
                    self.block.add_op(kernel.CopyOp(self._memory(op.source), self._memory(op.target)))
                case rt.LoopOp():
                    self._loop(op)
                case rt.IfOp():
                    self._branch(op)

    def _launch(self, op: rt.LaunchOp) -> None:
        callee = self.functions[op.callee.root_reference.data]
        times = iterations_of(op, self.loop)
        self.flops = self.flops + (callee.work.flops or 0) * times
        self.bytes = self.bytes + (callee.work.bytes or 0) * times
        mapped = dict(zip(callee.block.args, map(self._memory, op.args), strict=True))
        for each in callee.block.ops:
            if not isinstance(each, kernel.ReturnOp):
                copy = each.clone(mapped)
                self.block.add_op(copy)
                for parallel in [o for o in copy.walk() if isinstance(o, scf.ParallelOp)]:
                    make_sequential(parallel)

    def _loop(self, op: rt.LoopOp) -> None:
        condition = condition_of(op)
        limit, active = (condition.limit, condition.active) if condition else (None, None)
        trips = op.trips or (condition.most if condition else None)
        given = [None if v is None else self._memory(v) for v in (limit, active)]
        olds, news = ([self._add(kernel.LocalOp(v.type)) for v in op.ping] for _ in range(2))
        for first, old in zip(op.first, olds, strict=True):
            self.block.add_op(kernel.CopyOp(self._memory(first), old))
        repeat = kernel.RepeatOp(op.step.data, None if trips is None else parse_dim(trips.data), *given)
        self.block.add_op(repeat)
        self.memory.update(zip(op.body.block.args, (*olds, *news), strict=True))
        with self._inside(repeat.body.block):
            self._steps(op.body.block)
            for old, new in zip(olds, news, strict=True):
                self.block.add_op(kernel.CopyOp(new, old))
        self.memory.update(zip(op.res, olds, strict=True))

    def _branch(self, op: rt.IfOp) -> None:
        condition = condition_of(op)
        assert condition is not None and condition.active is not None
        zero = self._add(arith.ConstantOp(IntegerAttr.from_index_int_value(0)))
        taken = self._add(kernel.ReadOp(self._memory(condition.active), zero, [], i1))
        branch = scf.IfOp(taken, [], [Block()], [Block()])
        self.block.add_op(branch)
        for block, into in zip((op.then.block, op.otherwise.block), branch.regions, strict=True):
            with self._inside(into.block):
                self._steps(block)
                self.block.add_op(scf.YieldOp())


def make_sequential(op: scf.ParallelOp) -> None:
    """Replace a parallel loop by sequential ones, and a loop of one iteration by its body."""
    block, point = op.body.block, InsertPoint.before(op)
    assert block.last_op is not None
    Rewriter.erase_op(block.last_op)
    values: list[SSAValue] = []
    for lower, upper, step in zip(op.lowerBound, op.upperBound, op.step, strict=True):
        if _constant(upper) is not None and _constant(lower) == (_constant(upper) or 0) - 1:
            values.append(lower)
            continue
        inner = Block(arg_types=[lower.type])
        inner.add_op(end := scf.YieldOp())
        point.block.insert_op_before(scf.ForOp(lower, upper, step, [], Region(inner)), point.insert_before or op)
        values.append(inner.args[0])
        point = InsertPoint.before(end)
    Rewriter.inline_block(block, point, values)
    Rewriter.erase_op(op)


def _constant(value: SSAValue) -> int | None:
    op = value.owner
    known = op.value if isinstance(value, OpResult) and isinstance(op, arith.ConstantOp) else None
    return known.value.data if isinstance(known, IntegerAttr) else None


def local_bytes(loop: rt.LoopOp) -> list[DimLike]:
    """Return the bytes of the local arrays of a loop: two for each loop-carried value, and those of its tensors."""
    found: list[DimLike] = []
    for op in [loop, *rt.walk(loop.body.block)]:
        if isinstance(op, rt.LoopOp):
            found += [bytes_of(v) for v in (*op.ping, *op.pong)]
        elif isinstance(op, rt.BufferOp):
            found.append(bytes_of(op.result))
    return found
