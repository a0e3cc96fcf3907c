"""The text of a printed kernel: indentation, blocks in braces, fresh names, and the operations that C and CUDA print
alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from xdsl.dialects import arith, scf, vector
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.graph import dims_of
from mlc.dialects.semantics.dims import parse_dim
from mlc.passes.codegen.c_like.c_dims import c_dim
from mlc.passes.codegen.c_like.c_literal import literal
from mlc.passes.codegen.c_like.c_types import element


@dataclass
class KernelText(ABC):
    """A printer of a kernel. A subclass has the vocabulary of one language: how a value is held in registers, and what
    accesses memory. ``pointers``: the names of buffers. ``env``: how values are held."""

    team: ClassVar[tuple[str, str]]  # a thread's number among those that share a library function, and their number

    fn: kernel.FuncOp
    symbol: str
    env: dict[SSAValue, Any] = field(default_factory=dict)
    pointers: dict[SSAValue, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list, init=False)
    fresh: int = field(default=0, init=False)
    depth: int = field(default=1, init=False)

    @abstractmethod
    def op(self, op: Operation) -> None:
        """Print an operation."""

    @abstractmethod
    def scalar(self, value: SSAValue) -> str:
        """Return the text of a scalar value."""

    @abstractmethod
    def name_scalar(self, value: SSAValue, text: str) -> None:
        """Let ``text`` stand for a scalar value."""

    @abstractmethod
    def broadcast(self, op: vector.BroadcastOp) -> None: ...

    @abstractmethod
    def read(self, op: kernel.ReadOp) -> None: ...

    @abstractmethod
    def write(self, op: kernel.WriteOp) -> None: ...

    @abstractmethod
    def gather(self, op: kernel.GatherOp) -> None: ...

    @abstractmethod
    def step(self, op: kernel.StepOp) -> None: ...

    @abstractmethod
    def reduction(self, op: vector.ReductionOp) -> None: ...

    @abstractmethod
    def multi_reduction(self, op: kernel.MultiReductionOp) -> None: ...

    @abstractmethod
    def local(self, op: kernel.LocalOp) -> None: ...

    @abstractmethod
    def parallel(self, op: scf.ParallelOp) -> None: ...

    @abstractmethod
    def loop(self, op: scf.ForOp) -> None: ...

    @abstractmethod
    def other(self, op: Operation) -> None:
        """Print an operation that one language alone has, or an elementwise one."""

    def library_call(self, op: kernel.LibraryCallOp) -> None:
        self.call_in(op, self.team)

    def call_in(self, op: kernel.LibraryCallOp, team: tuple[str, str]) -> None:
        """Print the call of a library function by one thread of a team."""
        args = [*(self.pointers[v] for v in op.args), *map(c_dim, dims_of(op.integers)), *team]
        self.line(f"mlc_{op.function.data}({', '.join(args)});")

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.op(op)

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def name(self) -> str:
        """Return a name that no variable has yet."""
        self.fresh += 1
        return f"v{self.fresh}"

    def open(self, text: str) -> None:
        """Begin a block: ``text {``."""
        self.line(text + " {")
        self.depth += 1

    def close(self) -> None:
        self.depth -= 1
        self.line("}")

    def print(self, op: Operation) -> None:
        if op.name.startswith(("arith.", "math.")) and type(op) is not arith.ConstantOp:
            self.other(op)  # as most are: a match asks the metaclass of each class
            return
        match op:
            case arith.ConstantOp():
                if (text := literal(op, element(op.result.type))) is not None:
                    self.name_scalar(op.result, text)
            case kernel.SymbolOp():
                self.name_scalar(op.result, c_dim(parse_dim(op.dim.data)))
            case vector.BroadcastOp():
                self.broadcast(op)
            case kernel.ReadOp():
                self.read(op)
            case kernel.WriteOp():
                self.write(op)
            case kernel.GatherOp():
                self.gather(op)
            case kernel.StepOp():
                self.step(op)
            case vector.ReductionOp():
                self.reduction(op)
            case kernel.MultiReductionOp():
                self.multi_reduction(op)
            case kernel.LibraryCallOp():
                self.library_call(op)
            case kernel.LocalOp():
                self.local(op)
            case scf.ParallelOp():
                self.parallel(op)
            case scf.ForOp():
                self.loop(op)
            case scf.IfOp():
                self.open(f"if ({self.scalar(op.cond)})")
                self.block(op.true_region.block)
                self.close()
                if op.false_region.blocks and len(op.false_region.block.ops) > 1:
                    self.open("else")
                    self.block(op.false_region.block)
                    self.close()
            case scf.YieldOp() | scf.ReduceOp() | kernel.ReturnOp():
                pass
            case _:
                self.other(op)

    def counted(self, op: scf.ParallelOp) -> tuple[str, Sequence[str]]:
        """Declare the number of iterations of a collapsed loop. Return its name, and the extents of the iterators."""
        count, bounds = self.name(), zip(op.lowerBound, op.upperBound, strict=True)
        extents = [f"({self.scalar(upper)} - {self.scalar(lower)})" for lower, upper in bounds]
        self.line(f"const int64_t {count} = {' * '.join(extents)};")
        return count, extents

    def iterators(self, op: scf.ParallelOp, extents: Sequence[str], iteration: str) -> None:
        """Declare the iterators of a collapsed loop in an iteration."""
        for n, (arg, lower) in enumerate(zip(op.body.block.args, op.lowerBound, strict=True)):
            inner = " * ".join(extents[n + 1 :])
            text = f"{iteration} / ({inner})" if inner else iteration
            text = f"{text} % {extents[n]}" if n else text
            name = self.name()
            self.line(f"const int64_t {name} = {self.scalar(lower)} + {text};")
            self.name_scalar(arg, name)
