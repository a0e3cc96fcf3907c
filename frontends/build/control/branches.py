"""Branches at run time (graph.if): both sides are regions, of which one runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from xdsl.ir import Operation

from mlc.dialects.graph import ConstantOp, IfOp, MapOp, ReshapeOp, WeightOp, YieldOp
from mlc.dialects.graph.loop import size_bounds
from mlc.dialects.graph.sizes import room_of, upper
from mlc.dialects.semantics.dims import DimLike, product, symbols_of
from mlc.dialects.semantics.expr import CHEAP, Call, walk
from mlc.dialects.types import elements_in
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.control.sides import Side
from mlc.frontends.build.errors import NeedsConstant
from mlc.frontends.build.folding.comparisons import bound_max
from mlc.frontends.build.folding.predicates import guard_of
from mlc.frontends.build.methods.scopes import Scope
from mlc.frontends.build.tensors import Tensor

FEW = 1 << 12  # elements whose computation costs less than a barrier


@dataclass
class Branches:
    """Two imported branches that are not part of the model yet, and the pairs of their results."""

    build: Builder
    sides: Sequence[Side]
    given: list[tuple[Tensor, Tensor]]

    @property
    def scopes(self) -> list[Scope]:
        return [side.scope for side in self.sides]

    def emit(self, condition: Tensor) -> list[Tensor]:
        """Emit the branch on ``condition`` and return its results."""
        self._end()
        if any(side.guards for side in self.sides):
            guard = guard_of(self.build, condition)
            for side, holds in zip(self.sides, (guard, -1 - guard), strict=True):
                side.require(holds)
        used = list(dict.fromkeys(v for scope in self.scopes for v in scope.captured))
        for scope in self.scopes:  # both take the values that either captures, in one order
            arguments = dict(zip(scope.captured, scope.block.args, strict=True))
            for value in used:
                argument = scope.block.insert_arg(value.type, len(scope.block.args))
                if value in arguments:
                    arguments[value].replace_all_uses_with(argument)
            for old in arguments.values():
                scope.block.erase_arg(old)
        op = IfOp(self.build.value(condition), used, *(scope.block for scope in self.scopes))
        results = iter(self.build.emit_all(op))
        return [
            next(results) if same_type(a, b) else self._shaped(next(results), next(results), a, b)
            for a, b in self.given
        ]

    def select(self, condition: Tensor) -> list[Tensor]:
        """Compute both branches here and return the results of the one that ``condition`` selects."""
        for side in self.sides:
            side.inline()
        return [self.build.map("where(x0, x1, x2)", condition, a, b) for a, b in self.given]

    @property
    def are_cheap(self) -> bool:
        """Whether both branches together cost less than a barrier: they are maps of cheap functions over few
        elements.
        """
        alone = all(same_type(a, b) for a, b in self.given) and not any(side.guards for side in self.sides)
        return alone and all(_cheap(op) for scope in self.scopes for op in scope.block.ops)

    @cached_property
    def _bounds(self) -> dict[str, DimLike]:
        """Upper bounds of the run-time dimensions that the branches compute."""
        return size_bounds(op for scope in self.scopes for op in scope.block.walk())

    def _most(self, a: DimLike, b: DimLike) -> DimLike:
        return bound_max(upper(a, self._bounds), upper(b, self._bounds))

    def fit(self, a: Tensor, b: Tensor) -> bool:
        """Whether one buffer can hold either tensor: ranks and types are equal, and an upper bound is known here."""
        if (a.element, a.rank) != (b.element, b.rank):
            return False
        most = symbols_of([self._most(d, e) for d, e in zip(a.shape, b.shape, strict=False)])
        return not most & {room_of(size) for size in self._bounds}

    def _end(self) -> None:
        """End both regions with a yield of their results."""
        for n, side in enumerate(self.sides):
            with side.inside():
                side.scope.block.add_op(YieldOp(self.build.values(*self.fitted(n))))

    def fitted(self, n: int) -> list[Tensor]:
        """The results of branch ``n``. Where extents differ: its elements, padded to the longer result, and its
        extents.
        """
        found = []
        for pair in self.given:
            found += [pair[n]] if same_type(*pair) else [self._padded_row(pair, n), Tensor.of_dims(pair[n].shape)]
        return found

    def _padded_row(self, pair: tuple[Tensor, Tensor], n: int) -> Tensor:
        counts = [product(x.shape) for x in pair]
        row = self.build.reshape(pair[n], (counts[n],))
        return self.build.pad(row, [0], [self._most(*counts) - counts[n]])

    def _shaped(self, row: Tensor, extents: Tensor, a: Tensor, b: Tensor) -> Tensor:
        """The tensor with these ``extents`` (those of ``a`` or ``b``) that the elements hold."""
        scalars, why = self.build.scalars, f"Node '{self.build.node}': an extent is neither branch's"
        shape = [
            d if d == e else scalars.dim(n, why, self._most(d, e))
            for n, d, e in zip(scalars.of(extents), a.shape, b.shape, strict=True)
        ]
        return self.build.reshape(self.build.cut(row, 0, 0, product(shape)), shape)


def same_type(a: Tensor, b: Tensor) -> bool:
    return (a.element, a.shape) == (b.element, b.shape)


def branches(build: Builder, sides: Sequence[Callable[[], Sequence[Any]]]) -> Branches:
    """Import both sides of a condition. Their results may have different extents, which then are data.

    Raises:
        NotSupported: results have different ranks or types, or are not tensors.
    """
    made, given = [Side(build) for _ in sides], []
    for each, side in zip(made, sides, strict=True):
        with each.inside():
            values = side()
        if not all(isinstance(v, Tensor) for v in values):
            raise NeedsConstant("branches on a condition computed at run time whose results are not tensors")
        given.append(values)
    found = Branches(build, made, list(zip(*given, strict=True)))
    for a, b in found.given:
        if not found.fit(a, b):
            raise NeedsConstant(f"branches with results {a} and {b} on a condition computed at run time")
    return found


def _cheap(op: Operation) -> bool:
    if isinstance(op, MapOp):
        size = elements_in(op.result)
        return (
            all(e.fn in CHEAP for e in walk(op.scalar) if isinstance(e, Call)) and isinstance(size, int) and size <= FEW
        )
    return isinstance(op, WeightOp | ConstantOp | ReshapeOp)
