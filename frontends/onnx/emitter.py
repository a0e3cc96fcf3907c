"""Where operators of an import go: blocks inside each other, constants made on first use, guards and names of sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.dims import Dim, DimLike, condition, evaluate
from mlc.dialects.graph import ConcatOp, ConstantOp, ReshapeOp, WeightOp, with_nodes
from mlc.dialects.graph.loop import steps_of
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.texts import Texts
from mlc.dialects.types import is_narrow, numpy_dtype, tensor
from mlc.dialects.weights import WeightStore
from mlc.frontends.onnx.errors import NeedsConstant, NotSupported
from mlc.frontends.onnx.fold import Array, at_least, symbolic
from mlc.frontends.onnx.literals import choices
from mlc.frontends.onnx.numbers import Numbers, followed, values_of
from mlc.frontends.onnx.scopes import Scope, block_of
from mlc.frontends.onnx.tensors import Tensor

INLINE_LIMIT = 8  # elements of a float constant that stays visible in the IR (integers: all that a constant may hold)
CONSTANT_LIMIT = 64
CHOICES = 16  # elements of a symbolic value that one expression chooses from


class Emitter:
    """Emits into a block; every operation carries the name of the ONNX node being imported."""

    numbers: Numbers

    def __init__(self, block: Block, weights: WeightStore) -> None:
        self.scopes = [Scope(block)]
        self.weights = weights
        self.node = ""
        self.texts = Texts()
        self.guards: list[Dim] = []
        self.sizes = 0  # that depend on data, so far
        self.random = 0  # operators that draw numbers, and were given no seed
        self.turns: dict[str, DimLike] = {}  # of each loop, at most
        self.turn_numbers: list[DimLike] = []  # of the loops round here, the outermost first

    @property
    def block(self) -> Block:
        """Where operators go."""
        return self.scopes[-1].block

    @contextmanager
    def region(self, *like: Tensor) -> Iterator[Scope]:
        """The body of a loop or branch, whose first arguments are like these tensors; what it reads of the values
        around it becomes further ones."""
        with self.inside(Scope(Block(arg_types=[tensor(x.element, x.shape) for x in like]))) as scope:
            yield scope

    @contextmanager
    def inside(self, scope: Scope) -> Iterator[Scope]:
        """What is written inside goes to the block of ``scope``."""
        self.scopes.append(scope)
        try:
            yield scope
        finally:
            self.scopes.pop()

    def is_outside(self, x: Tensor) -> bool:
        """Whether a block round this one computes ``x``."""
        return self._depth(x) < len(self.scopes) - 1

    @contextmanager
    def around(self, x: Tensor) -> Iterator[None]:
        """What is written inside goes to the block that ``x`` comes from."""
        scopes = self.scopes
        self.scopes = scopes[: self._depth(x) + 1]
        try:
            yield
        finally:
            self.scopes = scopes

    def _depth(self, x: Tensor) -> int:
        """In how many others the block that computes ``x`` is; this block's where none does."""
        blocks: list[Block | None] = [scope.block for scope in self.scopes]
        return len(blocks) - 1 if x.value is None else blocks.index(block_of(x.value))

    @contextmanager
    def turn(self, number: DimLike) -> Iterator[None]:
        """What is written inside belongs to this turn of a loop."""
        self.turn_numbers.append(number)
        try:
            yield
        finally:
            self.turn_numbers.pop()

    def size(self) -> str:
        """The name of a new size that depends on data."""
        self.sizes += 1
        return f"size{self.sizes - 1}"

    def step(self, turns: DimLike) -> str:
        """The name of a new loop's number of turns so far."""
        name = f"step{len(self.turns)}"
        self.turns[name] = turns
        return name

    def erase_behind(self, last: Operation | None) -> None:
        """Take back what has been written behind ``last`` (None: all); its checks must not make a run fail."""
        while (op := self.block.last_op) is not None and op is not last:
            op.detach()
            op.erase()

    @contextmanager
    def at(self, node: str) -> Iterator[None]:
        """Operations made inside come from ``node``; the outermost name wins (a node whose body is a function)."""
        before, self.node = self.node, self.node or node
        try:
            yield
        finally:
            self.node = before

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Operations made inside come from nodes of their own, and random operators there count for themselves."""
        before = self.node, self.random
        self.node = ""
        try:
            yield
        finally:
            self.node, self.random = before

    def emit(self, op: Operation, element: str | None = None) -> Tensor:
        """Add an operator; ``element`` says TEXT where its result are the numbers of texts.

        Raises:
            NotSupported: a size of the result is below 0.
        """
        result = Tensor.of(self._insert(op), element)
        if any(isinstance(d, int) and d < 0 for d in result.shape):
            raise NotSupported(f"sizes below 0 in {op.name} to {result}")
        if values_of(result.shape):
            raise NeedsConstant("a size that is computed at run time")
        return result

    def _followed(self, result: Tensor, trace: Callable[[], Array]) -> Tensor:
        """``result``, a tensor of the run's, whose numbers ``trace`` says if they are asked for."""
        if result.known is None and followed(result):
            result.trace = trace
        return result

    def emit_all(self, op: Operation) -> list[Tensor]:
        """Add an operator of several results."""
        self._insert(op)
        return [Tensor.of(r) for r in op.results]

    def require(self, lhs: DimLike, rhs: DimLike) -> None:
        """The model is only right where lhs >= rhs; checked before it runs unless it is always so, or while it runs
        where that depends on data."""
        if at_least(lhs, rhs) is None and (guard := lhs - rhs) not in self.guards:
            for step in steps_of([guard]):  # what holds in the first and in the last turn does in all
                for turn in (0, self.turns[step] - 1):
                    self.require(evaluate(guard, {step: turn}), 0)
                return
            if sizes_of([guard]) or values_of([guard]):
                self.numbers.check(guard, f"Node '{self.node}': {condition(guard)} does not hold")
            else:
                self.guards.append(guard)  # type: ignore[arg-type]

    # -- values

    def value(self, x: Tensor) -> SSAValue:
        """The SSA value of a tensor, made on first use."""
        if x.value is None or (x.known is not None or x.store) and block_of(x.value) is not self.block:
            x.value = self._again(x.value) or self._materialise(x)
        return self._visible(x.value, len(self.scopes) - 1)

    def _again(self, value: SSAValue | None) -> SSAValue | None:
        """A weight or constant that stands in another block already, in this one."""
        made = value.owner if value is not None else None
        return self._insert(made.clone()) if isinstance(made, WeightOp | ConstantOp) else None

    def _visible(self, value: SSAValue, depth: int) -> SSAValue:
        """``value`` as the scope of that depth sees it."""
        scope = self.scopes[depth]
        if block_of(value) is scope.block:
            return value
        if value not in scope.seen:
            scope.used.append(self._visible(value, depth - 1))
            scope.seen[value] = scope.block.insert_arg(value.type, len(scope.block.args))
        return scope.seen[value]

    def _materialise(self, x: Tensor) -> SSAValue:
        if x.store is not None:
            entry = x.store()
            return self._insert(WeightOp(entry, self.weights.entry(entry).type))
        assert x.known is not None
        if symbolic([x.known]):
            return self._symbols(x.known, x.element)
        limit = 0 if is_narrow(x.element) else CONSTANT_LIMIT if x.known.dtype.kind in "iub" else INLINE_LIMIT
        if 0 < x.known.size <= limit:
            return self._insert(ConstantOp(x.known))
        entry = self.weights.add(x.name or f"{self.node}.constant", x.known)
        return self._insert(WeightOp(entry, self.weights.entry(entry).type))

    def _symbols(self, array: Array, element: str) -> SSAValue:
        """A runtime tensor of dimensions; long ones in pieces, so that no expression grows deep."""
        if array.size <= CHOICES or len(set(array.flat)) == 1:
            return self._insert(choices(array, element))
        flat = array.reshape(-1)
        pieces = [self._symbols(flat[n : n + CHOICES], element) for n in range(0, flat.size, CHOICES)]
        return self._insert(ReshapeOp(self._insert(ConcatOp(pieces, 0)), array.shape))

    def _insert(self, op: Operation) -> SSAValue:
        self.block.add_op(with_nodes(op, [self.node] if self.node else []))
        return op.results[0]

    def values(self, *xs: Tensor) -> list[SSAValue]:
        return [self.value(x) for x in xs]

    def constant(self, value: Any, element: str) -> Tensor:
        """A known tensor of a Python number or array."""
        return Tensor.from_known(np.asarray(value, numpy_dtype(element)), element)
