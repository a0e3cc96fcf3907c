"""Caches that live in the model: a tensor that each run makes longer, in state with room for a number of rows.

    past [B, heads, p, size]     ->  state [capacity, B, heads, size], whose first p rows are the past
    present = concat(past, new)  ->  rows p to p + s of the state are the new ones; its first p + s are the present

The axis that grows is the first of the state, so that what a run reads and what it adds are ranges of memory: views, of
which nothing is copied. Each sequence may have a length of its own; rows beyond it are overwritten later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlc.dialects.semantics.dims import DimLike, floordiv, product
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import with_shape

if TYPE_CHECKING:
    from mlc.frontends.build.builder import Builder


@dataclass(eq=False)
class Cache:
    """``whole``: the state as it is before the run, ``after`` it once that is known. ``total`` rows along ``axis`` of
    the tensor count then, ``before`` do now. An ``axis`` of None: the tensor does not grow, and ``whole`` is all of it.
    """

    whole: Tensor
    axis: int | None
    before: DimLike
    total: DimLike
    after: Tensor | None = None

    def past(self, build: Builder) -> Tensor:
        """The tensor before the run; zeros where no row counts and it does not grow."""
        if self.axis is not None:
            found = self._rows(build, self.whole, self.before)
        else:
            at = ", ".join(f"i{n}" for n in range(self.whole.rank)) or "()"
            text = f"where(({self.before}) > 0, x0[{at}], {self.whole.element}(0))"
            found = build.compute(text, [self.whole], self.whole.shape)
        found.cache = self
        return found

    def extends(self, past: Tensor, axis: int) -> bool:
        """Whether more rows after ``past`` along ``axis`` are the present."""
        return self.axis == axis and self.after is None and past.shape[axis] == self.before

    def append(self, build: Builder, new: Tensor, starts: Tensor | None = None, counts: Tensor | None = None) -> Tensor:
        """The tensor with rows of ``new`` after the ones that count, which the state has from then on.

        ``starts`` [B] (i64): how many rows of each sequence count; ``counts`` [B] (i64): how many of its new ones do.
        The sequences are the first of the other axes.
        """
        rows = build.transpose(new, self._order(new.rank))
        width = product(rows.shape[1:])
        if starts is None:
            at = build.compute(f"i64(i0 + ({self.before}))", [], rows.shape[:1])
        else:
            batch = rows.shape[1]
            text = f"(x0[i1] + i0) * ({batch}) + i1"
            text = text if counts is None else f"where(i0 < x1[i1], {text}, -1)"
            at = build.compute(f"i64({text})", [starts, *([] if counts is None else [counts])], (rows.shape[0], batch))
            at, width = build.reshape(at, (product(at.shape),)), product(rows.shape[2:])
        self.after = self._written(build, at, build.reshape(rows, (floordiv(product(rows.shape), width), width)))
        found = self._rows(build, self.after, self.total)
        found.cache = self
        return found

    def _written(self, build: Builder, at: Tensor, rows: Tensor) -> Tensor:
        from mlc.frontends.build.ops.indexing.scatter import scatter_at  # which is made of the Builder

        return scatter_at(build, self.whole, at, rows, rows.shape[1])

    def replace(self, build: Builder, present: Tensor) -> None:
        """The state has ``present`` from now on, whatever computed it; all of it is written."""
        if present.cache is self and self.after is not None:
            return
        if self.axis is None:
            self.after = with_shape(build, present, self.whole.shape)
            return
        rows = build.transpose(present, self._order(present.rank))
        rest = ", ".join(f"i{n}" for n in range(1, rows.rank))
        at = f"min(i0, ({self.total}) - 1), {rest}" if rest else f"min(i0, ({self.total}) - 1)"
        old = f"i0, {rest}" if rest else "i0"
        self.after = build.compute(
            f"where(i0 < ({self.total}), x0[{at}], x1[{old}])", [rows, self.whole], self.whole.shape
        )

    def _order(self, rank: int) -> Sequence[int]:
        """The axes of the tensor in the order of the state."""
        assert self.axis is not None
        return [self.axis, *(n for n in range(rank) if n != self.axis)]

    def _rows(self, build: Builder, whole: Tensor, count: DimLike) -> Tensor:
        """The first ``count`` rows of the state, as the tensor has them."""
        order = self._order(whole.rank)
        rows = build.slice(whole, [0] * whole.rank, [count, *whole.shape[1:]])
        return build.transpose(rows, [order.index(n) for n in range(whole.rank)])
