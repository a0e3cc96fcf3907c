"""Random host programs, and a machine that runs one on the arena: whatever a step reads is what was written there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import rt
from mlc.dialects.semantics.dims import DimLike, evaluate, parse_dim
from mlc.dialects.types import bytes_of, memref, shape_of
from mlc.passes.plan.program.accessed import accesses

ALIGN = 64
STATIC = ["1", "63", "64", "65", "200", "640"]
SYMBOLIC = ["n", "3*n", "n+70", "m*n", "8*m", "max(n, 100)", "n//9*40"]  # the last is 0 at the planned extent


@dataclass
class Grower:
    """Programs of launches, copies, views, nested loops and branches; a step reads only what is written before it."""

    random: Random
    sizes: list[str]
    nests: int = 0

    def program(self) -> rt.ProgramOp:
        program = rt.ProgramOp("net", [], [], ["n", "m"])
        self.grow(program.body.block, [], 0)
        ModuleOp([program])
        return program

    def scratch(self, block: Block, size: DimLike | None = None) -> SSAValue:
        size = parse_dim(self.random.choice(self.sizes)) if size is None else size
        block.add_op(made := rt.BufferOp(str(size), memref("i8", (size,))))
        return made.result

    def grow(self, block: Block, seen: list[SSAValue], depth: int) -> None:
        """Add steps; what they write, and may be read from here on, is added to ``seen``."""
        kinds = [self.launch, self.launch, self.launch, self.copy, self.part, self.loop, self.branch]
        for _ in range(self.random.randint(1, 9 - 2 * depth)):
            self.random.choice(kinds if depth < 3 else kinds[:5])(block, seen, depth)

    def launch(self, block: Block, seen: list[SSAValue], depth: int, *into: SSAValue) -> None:
        written = list(into) or [self.scratch(block) for _ in range(self.random.choice([1, 1, 2]))]
        read = self.random.sample(seen, min(len(seen), self.random.randint(0, 3)))
        block.add_op(rt.LaunchOp("kernel", [*read, *written], len(written)))
        seen += written

    def copy(self, block: Block, seen: list[SSAValue], depth: int) -> None:
        if seen:
            source = self.random.choice(seen)
            target = self.scratch(block, shape_of(source)[0])
            block.add_op(rt.CopyOp(source, target))
            seen.append(target)

    def part(self, block: Block, seen: list[SSAValue], depth: int) -> None:
        """One of the thirds of a buffer that two launches write."""
        size = parse_dim(self.random.choice(self.sizes))
        whole = self.scratch(block, 3 * size)
        views = [rt.ViewOp(whole, memref("i8", (n * size,)), at * size) for n, at in ((1, 0), (2, 1))]
        block.add_ops(views)
        for view in views:
            self.launch(block, seen, depth, view.result)
        seen.append(whole)

    def loop(self, block: Block, seen: list[SSAValue], depth: int) -> None:
        first = self.random.sample(seen, min(len(seen), self.random.randint(0, 2)))
        ping, pong = ([self.scratch(block, shape_of(v)[0]) for v in first] for _ in range(2))
        trips, size = self.random.randint(0, 3), parse_dim(self.random.choice(self.sizes))
        collected = self.scratch(block, trips * size)
        step, self.nests = f"step{self.nests}", self.nests + 1
        block.add_op(loop := rt.LoopOp(step, trips, first, ping, pong))
        body = loop.body.block
        slot = rt.ViewOp(collected, memref("i8", (size,)), parse_dim(step) * size)
        body.add_op(slot)
        inner = [*seen, *body.args[: len(first)]]
        self.grow(body, inner, depth + 1)
        for new in (slot.result, *body.args[len(first) :]):
            self.launch(body, inner, depth, new)
        seen += [*loop.res, collected]

    def branch(self, block: Block, seen: list[SSAValue], depth: int) -> None:
        block.add_op(flag := rt.BufferOp("1", memref("i1", ())))
        result = self.scratch(block)
        self.launch(block, list(seen), depth, flag.result)
        symbol, self.nests = f"branch{self.nests}", self.nests + 1
        block.add_op(rt.LoopConditionOp(symbol, 0, active=flag.result))
        block.add_op(choice := rt.IfOp(symbol))
        for side in (choice.then.block, choice.otherwise.block):
            inner = list(seen)
            self.grow(side, inner, depth + 1)
            self.launch(side, inner, depth, result)
        seen.append(result)


def starts(program: rt.ProgramOp, dims: Mapping[str, DimLike]) -> dict[rt.BufferOp, tuple[int, int]]:
    """The first and the last byte of each buffer, its size rounded up."""
    buffers = [op for op in rt.walk(program.body.block) if isinstance(op, rt.BufferOp)]
    found: dict[rt.BufferOp, tuple[int, int]] = {}
    while len(found) < len(buffers):
        for op in buffers:
            below = [buffers[n.value.data] for n in op.after or ()]
            if op not in found and all(b in found for b in below):
                first = op.offset.value.data if op.offset is not None else max((found[b][1] for b in below), default=0)
                found[op] = first, first - -number(op.bytes.data, dims) // ALIGN * ALIGN
    return found


def number(text: str, dims: Mapping[str, DimLike]) -> int:
    value = evaluate(parse_dim(text), dims)
    assert isinstance(value, int)
    return value


@dataclass
class Machine:
    """Runs a planned program: each write fills bytes of the arena with a new number, and what is read must be there
    still. Between two barriers, no step may touch what another writes."""

    random: Random
    dims: dict[str, DimLike]
    spans: dict[rt.BufferOp, tuple[int, int]]
    barriers: bool = False
    written: int = 0
    env: dict[SSAValue, tuple[rt.BufferOp, int]] = field(default_factory=dict)
    own: dict[rt.BufferOp, np.ndarray] = field(default_factory=dict)
    phase: list[tuple[int, int, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.arena = np.zeros(max((end for _, end in self.spans.values()), default=0), np.int64)

    def run(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, rt.BufferOp):
                first, end = self.spans[op]
                self.own[op] = np.full(end - first, -1)
            elif isinstance(op, rt.LoopOp):
                self.loop(op)
            elif isinstance(op, rt.IfOp):
                self.run(self.random.choice([op.then.block, op.otherwise.block]))
            elif isinstance(op, rt.STEPS):
                self.step(op)
            elif isinstance(op, rt.BarrierOp):
                self.phase = []

    def loop(self, op: rt.LoopOp) -> None:
        count = len(op.first)
        current = [self.at(v) for v in op.first]
        for n in range(number(op.trips.data, self.dims) if op.trips else 0):
            new = [self.at(v) for v in (op.pong if n % 2 else op.ping)]
            self.env.update(zip(op.body.block.args, [*current, *new], strict=True))
            self.dims[op.step.data] = n
            self.run(op.body.block)
            current = new
        self.env.update(zip(op.res, current[:count], strict=True))

    def at(self, value: SSAValue) -> tuple[rt.BufferOp, int]:
        """The buffer in which a value is, and its offset there."""
        if value in self.env:
            return self.env[value]
        if isinstance(value.owner, rt.ViewOp):
            buffer, before = self.at(value.owner.source)
            return buffer, before + number(str(value.owner.start), self.dims)
        assert isinstance(value.owner, rt.BufferOp)
        return value.owner, 0

    def step(self, op: Operation) -> None:
        read, written = accesses(op)
        spans = [(self.span(v), False) for v in read] + [(self.span(v), True) for v in written]
        for (buffer, at, size), _ in spans[: len(read)]:
            first = self.spans[buffer][0]
            assert (self.own[buffer][at : at + size] >= 0).all(), "it was never written"
            np.testing.assert_array_equal(
                self.arena[first + at : first + at + size], self.own[buffer][at : at + size], f"{op} reads {buffer}"
            )
        found = [(self.spans[b][0] + at, self.spans[b][0] + at + size, write) for (b, at, size), write in spans]
        for n, access in enumerate(found):
            if access[2]:
                assert not any(map(overlap(access), found[:n])), f"{op} writes what it also touches"
            if self.barriers:
                assert not any(map(overlap(access), self.phase)), f"no barrier before {op}"
        self.phase += found
        for (buffer, at, size), _ in spans[len(read) :]:
            self.written += 1
            first = self.spans[buffer][0]
            self.arena[first + at : first + at + size] = self.own[buffer][at : at + size] = self.written

    def span(self, value: SSAValue) -> tuple[rt.BufferOp, int, int]:
        return *self.at(value), number(str(bytes_of(value)), self.dims)


def overlap(a: tuple[int, int, bool]):  # type: ignore[no-untyped-def]
    """Whether an access touches bytes of ``a``, and one of both writes."""
    return lambda b: a[0] < b[1] and b[0] < a[1] and a[0] < a[1] and b[0] < b[1] and (a[2] or b[2])
