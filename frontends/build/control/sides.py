"""A branch under construction: its region, and the guards that are needed only where it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from xdsl.ir import Block

from mlc.dialects.graph import YieldOp
from mlc.dialects.graph.loop import local_symbols
from mlc.dialects.semantics.dims import Dim, DimLike, condition, dim_max
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.methods.scopes import Scope
from mlc.frontends.build.runtime_scalars import values_of


class Side:
    """A region that operators are made in, now and later (``inside``)."""

    def __init__(self, build: Builder) -> None:
        self.build = build
        self.scope = Scope(Block())
        self.guards: dict[Dim, str] = {}

    @contextmanager
    def inside(self) -> Iterator[None]:
        """A context in which new operators and their guards belong to this branch."""
        outer, self.build.guards = self.build.guards, self.guards
        self.build.branches += 1
        try:
            with self.build.insert_into(self.scope):
                yield
        finally:
            self.build.guards = outer
            self.build.branches -= 1

    def require(self, guard: DimLike) -> None:
        """Require the guards of this branch wherever it runs, which ``guard`` says.

        They become guards of the module, or checks at the beginning of the branch where ``guard`` depends on data.
        """
        if is_local(guard):
            self._check()
            return
        for needed, where in self.guards.items():
            self._outside(dim_max(-1 - guard, needed), where)

    def _check(self) -> None:
        block = self.scope.block
        first, last = block.first_op, block.last_op
        with self.inside():
            for guard, where in list(self.guards.items()):
                self.build.scalars.check(guard, f"{where}: {condition(guard)} does not hold")
        while first is not None and (op := block.last_op) is not None and op is not last:
            op.detach()
            block.insert_op_before(op, first)
            first = op

    def inline(self) -> None:
        """Move the operators of this branch to the block around it, which then always runs them."""
        for value, argument in zip(self.scope.captured, self.scope.block.args, strict=True):
            argument.replace_all_uses_with(value)
        for op in list(self.scope.block.ops):
            op.detach()
            if isinstance(op, YieldOp):
                op.erase()
            else:
                self.build.block.add_op(op)
        for guard, where in self.guards.items():
            self._outside(guard, where)

    def _outside(self, guard: DimLike, where: str) -> None:
        self.build.require(guard, 0)
        if isinstance(guard, Dim) and guard in self.build.guards:
            self.build.guards[guard] = where


def is_local(guard: DimLike) -> bool:
    """Whether a condition depends on data or on an iteration, so that no guard of the module can state it."""
    return bool(local_symbols([guard]) or values_of([guard]))
