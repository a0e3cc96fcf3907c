"""Values of two branches that have equal shapes where a dimension is 1, which the condition of the branches decides.

f32[4] where n == 1, else f32[n, 4]     f32[n, 4], and a model drops the first axis where n is 1
f32[1, 4] where n == 1, else f32[n, 4]  f32[n, 4]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from mlc.dialects.semantics.dims import Dim, DimLike, equality_of, evaluate
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.control.sides import Side
from mlc.frontends.build.folding.prove import assuming, never_zero
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.build.unify_dims import solved

Pair = tuple[Tensor, Tensor]


class Ones:
    """Of branches of which the first runs where ``guard`` is at least 0; one that is None, or does not say that a
    dimension is 1, makes nothing alike."""

    def __init__(self, build: Builder, sides: Sequence[Side], guard: DimLike | None, ends: bool) -> None:
        self.build, self.sides = build, sides
        self.ends = ends  # no node follows, so that axes may be dropped
        zeros = [None, None] if guard is None else [equality_of(guard), equality_of(-1 - guard)]
        self.at = int(zeros[0] is None)  # the branch that runs where the dimension is 1
        zero = zeros[self.at]
        self.dims = () if zero is None else (zero + 1, 1 - zero)  # one of which it is
        fixed = None if zero is None else solved(zero)
        self.fixed = {} if fixed is None else {fixed.symbol: fixed.extent}

    def dropped(self, a: Tensor, b: Tensor) -> tuple[int, ...] | None:
        """The axes without which one value has the shape of the other where the dimension is 1, if there are any."""
        x, y = (a, b) if self.at == 0 else (b, a)
        count = y.rank - x.rank
        if not self.dims or x.element != y.element or count < 0 or count and not self.ends:
            return None
        open_axes = [n for n, d in enumerate(y.shape) if d in self.dims or self._is_one_there_alone(d)]
        return next((axes for axes in combinations(open_axes, count) if self._fits(x, y, axes)), None)

    def _is_one_there_alone(self, extent: DimLike) -> bool:
        """Whether an extent is proved to be 1 where the dimension is 1, and only there: min(n, 2)."""
        if isinstance(extent, int) or {*self.fixed.values()} != {1} or evaluate(extent, self.fixed) != 1:
            return False
        with assuming([*self.build.guards, *(Dim.symbol(name) - 2 for name in self.fixed)]):
            return never_zero(extent - 1)

    def _fits(self, x: Tensor, y: Tensor, axes: Sequence[int]) -> bool:
        rest = [n for n in range(y.rank) if n not in axes]
        shape = self._shape(y)
        return x.shape == tuple(shape[n] for n in rest) and {rest[n] for n in x.optional} == y.optional - {*axes}

    def _shape(self, y: Tensor) -> tuple[DimLike, ...]:
        """The shape of a value of the other branch if the dimension were 1."""
        return tuple(1 if d in self.dims else evaluate(d, self.fixed) for d in y.shape)

    def alike(self, a: Tensor, b: Tensor) -> Pair:
        """Both in the shape of the branch where the dimension is another, with the axes that a model drops; as they are
        where that is not possible."""
        axes = self.dropped(a, b)
        if axes is None:
            return a, b
        x, y = (a, b) if self.at == 0 else (b, a)
        with self.sides[self.at].inside():
            x = self.build.reshape(x, self._shape(y))
            more = [d - e for d, e in zip(y.shape, self._shape(y), strict=True)]  # 0 where this branch runs
            x = self.build.pad(x, [0] * y.rank, more)
        optional = y.optional | {*axes}
        x, y = replace(x, optional=optional), replace(y, optional=optional)
        return (x, y) if self.at == 0 else (y, x)


def marked(result: Tensor, pair: Pair) -> Tensor:
    """The result of a branch at run time for a pair of values, with its optional axes marked."""
    return replace(result, optional=pair[0].optional)
