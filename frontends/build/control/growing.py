"""Loops whose states grow: each iteration gives a state the same number of elements more along one axis.

A buffer holds the largest state. An iteration reads the elements so far, whose number is a run-time dimension:

    x [b, past] → Concat(x, y) [b, past+1]   as   x = buffer[:, :size0], buffer [b, past+trips] = Concat(x, y, rest)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mlc.dialects.graph.loop import steps_of
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.control.loops import Iteration, StateChanges, emit_loop
from mlc.frontends.build.folding.comparisons import at_least
from mlc.frontends.build.runtime_scalars import values_of
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import with_extent


@dataclass(frozen=True)
class Growth:
    """How a state grows: along ``axis``, ``first`` elements before the loop and ``by`` more after each iteration."""

    axis: int
    first: DimLike
    by: DimLike

    def extent(self, iterations: DimLike) -> DimLike:
        return self.first + self.by * iterations


def growth(before: Tensor, after: object) -> Growth | None:
    """How a state grows in the first iteration; None of one that keeps its shape, or changes otherwise."""
    if not isinstance(after, Tensor) or (after.element, after.rank) != (before.element, before.rank):
        return None
    axes = [n for n, (old, new) in enumerate(zip(before.shape, after.shape, strict=True)) if old != new]
    by = after.shape[axes[0]] - before.shape[axes[0]] if len(axes) == 1 else 0
    return None if _varies(by) or not at_least(by, 1) else Growth(axes[0], before.shape[axes[0]], by)


def settled(build: Builder, before: Sequence[Any], after: Sequence[object]) -> list[Any]:
    """Values with the extents that the first iteration gives the tensors among them, where it does not add elements to
    an axis: n beams of which TopK keeps 3 are 3, as later iterations have no other number. Guards require that.

    Raises:
        Fixed: a dimension of the inputs decides it.
    """
    made = iter(after)
    return [_settled(build, x, next(made, None)) if isinstance(x, Tensor) else x for x in before]


def _settled(build: Builder, old: Tensor, new: object) -> Tensor:
    if not isinstance(new, Tensor) or (old.element, old.rank) != (new.element, new.rank):
        return old
    for axis, (d, wanted) in enumerate(zip(old.shape, new.shape, strict=True)):
        if not _varies(wanted) and not at_least(wanted - d, 1):
            old = with_extent(build, old, axis, wanted)
    return old


def _varies(d: DimLike) -> bool:
    """Whether a dimension is not one of the sizes of inputs."""
    return bool(sizes_of([d]) or steps_of([d]) or values_of([d]))


def growing_loop(
    build: Builder,
    trips: DimLike,
    states: Sequence[Tensor],
    growths: Sequence[Growth | None],
    body: Callable[[Dim, list[Tensor]], Iteration],
    limit: Tensor | None = None,
    active: Tensor | None = None,
    strict: str | None = None,
) -> list[Tensor]:
    """Emit a loop as ``emit_loop`` does, of states of which some grow.

    Raises:
        StateChanges: a state changes in another way than in the first iteration.
    """
    buffers = [_buffer(build, x, g, trips) if g else x for x, g in zip(states, growths, strict=True)]

    def iteration(index: Dim, held: list[Tensor]) -> Iteration:
        extents = [_extent(build, g, index, trips) for g in growths]
        before = [build.cut(x, g.axis, 0, d) if g else x for x, g, d in zip(held, growths, extents, strict=True)]
        given = body(index, before)
        each = zip(held, given.states, growths, extents, strict=True)
        after = [_held(build, old, new, g, d) if g else new for old, new, g, d in each]
        number = build.compute(f"i64({index})", [], ())  # collected, so that the number of iterations is known
        return Iteration(after, [*given.collected, number], [*given.at, index], given.condition)

    *found, numbers = emit_loop(build, trips, buffers, iteration, limit, active, strict)
    last = zip(found, growths, strict=False)
    cut = [build.cut(x, g.axis, 0, g.extent(numbers.shape[0])) if g else x for x, g in last]
    return [*cut, *found[len(growths) :]]


def _buffer(build: Builder, x: Tensor, g: Growth, trips: DimLike) -> Tensor:
    """``x`` with zeros after it, in which the largest state has room."""
    return build.pad(x, [0] * x.rank, [g.by * trips if n == g.axis else 0 for n in range(x.rank)])


def _extent(build: Builder, g: Growth | None, index: Dim, trips: DimLike) -> DimLike:
    """The extent of a state before iteration ``index``, as a run-time dimension; 0 of one that keeps its shape."""
    return build.dim(g.extent(index), "the extent of a state", g.extent(trips)) if g else 0


def _held(build: Builder, held: Tensor, new: Tensor, g: Growth, extent: DimLike) -> Tensor:
    """The buffer with the state that an iteration makes of one of ``extent``."""
    extent = extent + g.by
    wanted = tuple(extent if n == g.axis else d for n, d in enumerate(held.shape))
    if (new.element, new.shape) != (held.element, wanted):
        raise StateChanges(f"a state of {extent} elements along axis {g.axis} is due, an iteration makes {new}")
    return build.concat([new, build.cut(held, g.axis, extent, held.shape[g.axis] - extent)], g.axis)
