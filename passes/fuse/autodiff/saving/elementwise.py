"""Elementwise recomputation: elementwise values are computed anew where they are read after a boundary, instead of
being saved.

A minimum cut by bytes, between the values computed before the boundary and their readers after it, is saved; the other
values are computed anew (PyTorch's functorch does so between forward and backward graphs:
``min_cut_rematerialization_partition``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from mlc.dialects.graph import MapOp, source_nodes, with_nodes
from mlc.dialects.semantics.expr import Expr, Load, height, substitute, walk
from mlc.dialects.types import shape_of
from mlc.passes.fuse.autodiff.saving.live_values import LiveValues, size
from mlc.passes.fuse.autodiff.saving.min_cut import min_cut
from mlc.passes.graph.fuse_maps import DEPTH, NODES, FuseMaps, is_cheap
from mlc.passes.graph.patterns.map_patterns import compact
from mlc.passes.rewriter import erase_unused

LARGEST = 20_000  # nodes of a graph to cut, which takes seconds; for a larger one all is saved


class _TooLong(Exception):
    """An expression has over ``NODES`` nodes."""


@dataclass
class Boundary:
    """The elementwise values of a block that may be computed anew after step ``at``, except those in ``kept``."""

    live: LiveValues
    at: int
    kept: set[SSAValue] = field(default_factory=set)

    def recompute(self) -> bool:
        """Substitute the values that the cut does not save into their later readers; return whether there were any."""
        crossing = self.live.crossing(self.at)
        while True:
            self.saved = self._cut(crossing)
            anew = [v for v in crossing if v not in self.saved]
            costly = [v for v in anew if not self._pays(v)]
            if not costly:
                break
            self.kept.update(costly)
        for value in anew:
            self._substitute(value)
        return bool(anew)

    def _cut(self, crossing: list[SSAValue]) -> set[SSAValue]:
        """Return the buffers to save, from which cheap elementwise operators compute the others."""
        costs: dict[SSAValue, int] = {}
        edges: list[tuple[SSAValue, SSAValue]] = []
        work, fixed = list(crossing), set(self.kept)
        while work:
            value = work.pop()
            if value in costs:
                continue
            if len(costs) == LARGEST:
                return set(crossing)
            costs[value] = size(value)
            for operand in value.owner.operands if self._is_cheap(value) else ():  # type: ignore[union-attr]
                buffer = self.live.buffer(operand)
                if self.live.is_free(buffer):
                    continue
                if buffer is not operand:
                    fixed.add(buffer)  # an expression is not written through a view
                edges.append((buffer, value))
                work.append(buffer)
        sources = [v for v in costs if v in fixed or not self._is_cheap(v)]
        return min_cut(costs, edges, sources, crossing)

    def _is_cheap(self, value: SSAValue) -> bool:
        """Return whether ``value`` is computed by a map of cheap functions, and only maps of its shape read it after
        the boundary."""
        op = value.owner
        if value in self.kept or not isinstance(op, MapOp) or not is_cheap(op.scalar):
            return False
        late = [(r, viewed) for r, viewed in self.live.readers(value) if self.live.step[r] > self.at]
        return all(isinstance(r, MapOp) and not viewed and shape_of(r.result) == shape_of(value) for r, viewed in late)

    def _late(self, value: SSAValue) -> list[MapOp]:
        found = dict.fromkeys(use.operation for use in value.uses if self.live.step[use.operation] > self.at)
        return [op for op in found if isinstance(op, MapOp)]

    def _pays(self, value: SSAValue) -> bool:
        """Return whether kernels move no more bytes if ``value`` is computed anew, and the expressions stay short."""
        late, found = self._late(value), self._written(value.owner)  # type: ignore[arg-type]
        if found is None or any(self._written(r) is None for r in late):
            return False
        kernels = {id(k): k for k in (self.live.kernel[r] for r in late)}.values()
        own = self.live.kernel[value.owner]  # type: ignore[index]
        stored = any(self.live.kernel[r] is not own and r not in late for r, _ in self.live.readers(value))
        leaves = {self.live.buffer(x) for x in found[1]}
        more = sum(size(leaf) for kernel in kernels for leaf in leaves - self.live.reads(kernel))
        return more <= size(value) * (len(kernels) + (not stored))

    def _is_anew(self, value: SSAValue) -> bool:
        """Return whether ``value`` is computed anew: it is computed before the boundary, and neither saved nor free."""
        if value in self.saved or self.live.is_free(self.live.buffer(value)):
            return False
        return isinstance(value.owner, MapOp) and self.live.step[value.owner] <= self.at

    def _written(self, op: MapOp) -> tuple[Expr, list[SSAValue]] | None:
        """Return the expression of ``op`` with all values that are computed anew substituted, and its operands; None if
        there are too many operands, or the expression gets too long."""
        args: list[SSAValue] = []
        left = NODES

        def written(op: MapOp) -> Expr:
            nonlocal left
            left -= sum(1 for _ in walk(op.scalar))
            if left < 0:
                raise _TooLong
            return substitute(op.scalar, lambda load: value(op.args[load.operand]))

        def value(x: SSAValue) -> Expr:
            if self._is_anew(x):
                return written(x.owner)  # type: ignore[arg-type]
            args.append(x)
            return Load(len(args) - 1)

        try:
            expr, kept = compact(written(op), args, shape_of(op.result))
        except _TooLong:
            return None
        return (expr, kept) if len(kept) <= FuseMaps.operands and height(expr) <= DEPTH else None

    def _substitute(self, value: SSAValue) -> None:
        assert isinstance(value.owner, MapOp)
        for op in self._late(value):
            found = self._written(op)
            assert found is not None
            op.properties["expr"], op.operands = StringAttr(str(found[0])), found[1]
            with_nodes(op, [*source_nodes(op), *source_nodes(value.owner)])
        erase_unused([value.owner])
