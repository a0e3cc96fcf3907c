"""Insertion points: nested blocks, the source's node, guards and names of run-time dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.graph import with_nodes
from mlc.dialects.graph.loop import steps_of
from mlc.dialects.graph.sizes import SizedOp, sizes_of
from mlc.dialects.semantics.dims import Dim, DimLike, condition, dim_max, equality, evaluate, pretty
from mlc.dialects.semantics.strings import StringTable
from mlc.dialects.types import tensor
from mlc.dialects.weights import WeightStore
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.comparisons import at_least, needs_nonempty, relied_on
from mlc.frontends.build.folding.fold import divisors
from mlc.frontends.build.folding.prove import always_zero, implied, never_zero
from mlc.frontends.build.methods.result_limits import check_result
from mlc.frontends.build.methods.scopes import Scope, block_of
from mlc.frontends.build.runtime_scalars import RuntimeScalars, Scalar, values_of
from mlc.frontends.build.tensors import Tensor


class Insertion:
    """Inserts operators into a block; each carries the name of the node of the source that it comes from."""

    scalars: RuntimeScalars

    def __init__(self, block: Block, weights: WeightStore) -> None:
        self.scopes = [Scope(block)]
        self.weights = weights
        self.node = ""
        self.location = ""  # the operator that messages name: "Resize at node 'up'"
        self.string_table = StringTable()
        self.guards: dict[Dim, str] = {}  # dimensions that must be at least 0, and the operators that need it
        self.most: dict[str, DimLike] = {}  # an upper bound of each run-time dimension
        self.branches = 0  # around this block, of which one runs: guards inside hold only there
        self.sizes = 0  # run-time dimensions so far
        self.random = 0  # random operators without a seed so far
        self.trip_counts: dict[str, DimLike] = {}  # of each loop, by its index; upper bounds
        self.iterations: list[DimLike] = []  # indices of the enclosing loops, the outermost first

    @property
    def block(self) -> Block:
        """The block that operators are inserted into."""
        return self.scopes[-1].block

    @contextmanager
    def region(self, *like: Tensor) -> Iterator[Scope]:
        """The body of a loop or branch, whose first arguments are like these tensors; values around it that it
        reads become further ones."""
        with self.insert_into(Scope(Block(arg_types=[tensor(x.element, x.shape) for x in like]))) as scope:
            yield scope

    @contextmanager
    def insert_into(self, scope: Scope) -> Iterator[Scope]:
        """A context in which new operators go to the block of ``scope``."""
        self.scopes.append(scope)
        try:
            yield scope
        finally:
            self.scopes.pop()

    def is_outside(self, x: Tensor) -> bool:
        """Whether an enclosing block computes ``x``."""
        return self._depth(x) < len(self.scopes) - 1

    @contextmanager
    def at_definition(self, x: Tensor) -> Iterator[None]:
        """A context in which new operators go to the block that defines ``x``."""
        scopes = self.scopes
        self.scopes = scopes[: self._depth(x) + 1]
        try:
            yield
        finally:
            self.scopes = scopes

    def _depth(self, x: Tensor) -> int:
        """The nesting depth of the block that defines ``x``; that of this block where no block defines it."""
        blocks: list[Block | None] = [scope.block for scope in self.scopes]
        return len(blocks) - 1 if x.value is None else blocks.index(block_of(x.value))

    @contextmanager
    def iteration(self, index: DimLike) -> Iterator[None]:
        """A context in which new operators belong to this iteration of a loop."""
        self.iterations.append(index)
        try:
            yield
        finally:
            self.iterations.pop()

    def new_size(self) -> str:
        """The name of a new run-time dimension."""
        self.sizes += 1
        return f"size{self.sizes - 1}"

    def loop_index(self, trips: DimLike) -> str:
        """The name of a new loop's index."""
        name = f"step{len(self.trip_counts)}"
        self.trip_counts[name] = trips
        return name

    def erase_after(self, last: Operation | None) -> None:
        """Erase the operators after ``last`` (None: all), with their checks."""
        while (op := self.block.last_op) is not None and op is not last:
            op.detach()
            op.erase()

    @contextmanager
    def at(self, node: str, op: str = "") -> Iterator[None]:
        """Operations made inside come from ``node``; the outermost name wins (a node whose body is a function).

        Messages name the innermost one, with its operator ``op``.
        """
        before, self.node = (self.node, self.location), self.node or node
        self.location = f"{op} at node '{node}'" if op else f"Node '{node}'"
        try:
            with relied_on() as nonempty:
                yield
            for value in nonempty:
                self.refuse_empty(value)
        finally:
            self.node, self.location = before

    @contextmanager
    def detached(self) -> Iterator[None]:
        """Operations made inside come from nodes of their own, and random operators there are numbered apart."""
        before = self.node, self.random
        self.node = ""
        try:
            yield
        finally:
            self.node, self.random = before

    def emit(self, op: Operation, element: str | None = None) -> Tensor:
        """Add an operator; ``element`` is STRING where its result holds strings.

        Raises:
            NotSupported: a size of the result is below 0.
        """
        result = Tensor.of(self._insert(op), element)
        check_result(op, result)
        if isinstance(op, SizedOp):
            self.most[op.size.data] = op.bound
        for d in result.shape:
            self.refuse_empty(d)
        return result

    def emit_all(self, op: Operation) -> list[Tensor]:
        """Add an operator with any number of results."""
        self.block.add_op(self._with_node(op))
        return [Tensor.of(r) for r in op.results]

    def dim(self, number: Scalar, what: str, most: DimLike | None = None) -> DimLike:
        """A run-time scalar, or an expression of some, as a dimension; a dimension stays as it is.

        The run fails, naming ``what``, where it is not from 0 to ``most``.
        """
        allowed = "below 0" if most is None else f"not from 0 to {most}"
        return self.scalars.dim(number, f"{self.location}: {what} is {allowed}", most)

    def check(self, number: Scalar, what: str) -> None:
        """The run fails, saying ``what`` is wrong, where ``number`` (or an expression of some) is below 0."""
        self.scalars.check(number, f"{self.location}: {what}")

    def require(self, lhs: DimLike, rhs: DimLike) -> None:
        """The model is only right where lhs >= rhs; a guard, unless it is always so, or a check at
        run time where that depends on data."""
        if at_least(lhs, rhs) is None and (guard := lhs - rhs) not in self.guards:
            for step in steps_of([guard]):  # linear: holds in all if in the first and the last
                for at in (0, self.trip_counts[step] - 1):
                    self.require(evaluate(guard, {step: at}), 0)
                return
            self._guard(guard)

    def require_equal(self, lhs: DimLike, rhs: DimLike) -> None:
        """The model is only right where lhs == rhs: a guard, or a check, as of ``require``.

        Raises:
            NotSupported: they are never equal.
        """
        difference = lhs - rhs
        if never_zero(difference):
            raise NotSupported(f"an extent of {pretty(lhs)} where {pretty(rhs)} is needed")
        if not always_zero(difference) and (guard := equality(difference)) not in self.guards:
            self._guard(guard)

    def require_elements(self, extent: DimLike, results: DimLike) -> None:
        """Each of ``results`` elements reads some of ``extent``: there is one, or there are no results.

        Raises:
            NotSupported: it is known that none is there, but results are.
        """
        guard = dim_max(extent - 1, -results)
        if isinstance(guard, int) and guard < 0:
            raise NotSupported(f"a dimension without elements, of which {pretty(results)} are made")
        if isinstance(results, int):
            self.refuse_empty(extent - 1)
            self.require(extent, min(results, 1))
        elif isinstance(guard, Dim) and guard not in self.guards and not implied(guard, self._bounds_in(guard)):
            self._guard(guard)

    def _bounds_in(self, value: Dim) -> list[DimLike]:
        """What is at least 0 of each run-time dimension in ``value``: its upper bound less the dimension."""
        return [self.most[name] - Dim.symbol(name) for name in sorted(value.symbols() & self.most.keys())]

    def _guard(self, guard: DimLike) -> None:
        """Add a guard: a run fails, before it computes, where ``guard`` is below 0."""
        if steps_of([guard]) or sizes_of([guard]) or values_of([guard]):
            self.scalars.check(str(guard), f"Node '{self.node}': {condition(guard)} does not hold")
        elif isinstance(guard, Dim):
            self.guards[guard] = self.location

    def refuse_empty(self, d: DimLike) -> None:
        """A guard where an extent or a position is at least 0 only because dimensions of inputs are at least 1: ``n-1``
        of an empty ``n``; or divides by one."""
        self.refuse_zero_divisors(d)
        if isinstance(d, Dim) and needs_nonempty(d) and d not in self.guards:
            self.guards[d] = self.location

    def refuse_zero_divisors(self, d: DimLike) -> None:
        """A guard for each dimension that ``d`` divides by."""
        for divisor in divisors(d):
            self.require_elements(divisor, 1)

    def _insert(self, op: Operation) -> SSAValue:
        self.block.add_op(self._with_node(op))
        return op.results[0]

    def _with_node(self, op: Operation) -> Operation:
        return with_nodes(op, [self.node] if self.node else [])
