"""Data parallelism: a batch is divided into shards, whose gradients are averaged over all ranks.

The order in which shards are added is one tree over all of them, whichever rank computes them. So the bits are equal on
1, 2, 4, … ranks for a given number of shards.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import mlc
import mlc.numpy as mnp
from mlc import comm
from mlc.dialects.comm import combined
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.random.threefry import fold_in

SMALL, BUCKET = 1 << 15, 1 << 18
"""Bytes: arrays up to the first are summed over ranks together, as many as the second."""
Shard = Callable[[Any, tuple[Any, ...], Array], Any]
"""(state, batch, random key) → a tree of floats and other arrays, which are averaged over the shards."""


@dataclass(frozen=True)
class Shards:
    """How many shards a batch has: in all (None: one on each rank, of which there may be any number), and on a rank."""

    count: int | None
    here: int = 1
    axes: tuple[int | None, ...] | None = None
    """The dimension along which each gradient is scattered, in place of a mean that all ranks have; None: none is."""
    stage: int = 0
    """That of ZeRO: from 2 on a gradient is not kept, in 3 what is divided is scattered already. With several shards on
    a rank parameters are gathered once for all of them, as in stage 2."""

    @staticmethod
    def of(count: int | None, ranks: int) -> Shards | None:
        """Those of a trainer; None where there is one rank and one shard.

        Raises:
            InputError: the ranks do not divide them, or each rank would have 3, 5, 6, … of them.
        """
        if count is None:
            return None if ranks == 1 else Shards(None)
        if not isinstance(count, int) or count < 1 or count % ranks:
            hint = f"Give a multiple of the {ranks} ranks" if ranks > 1 else "Give a number from 1 on"
            raise InputError(f"{count} shards cannot be on {ranks} ranks", hint=hint)
        here = count // ranks
        if ranks > 1 and here & (here - 1):
            what = f"{count} shards on {ranks} ranks: {here} on each, whose sum is no part of the tree over all shards"
            raise InputError(what, hint="Give 1, 2, 4, … shards for each rank")
        return None if count == 1 else Shards(count, here)

    def mean(self, shard: Shard, state: Any, batch: tuple[Any, ...], key: Array) -> Any:
        """The mean of a function of a shard over all shards of all ranks; of integers the maximum. Gradients, the first
        result, are scattered where ``axes`` says so. The random key of a shard follows from its number among all."""
        first = comm.rank() * self.here
        if self.count is None:
            return self._total(shard(state, batch, fold_in(key, first)))
        if self.here == 1:
            return self._total(shard(_of_shard(state, first), batch, fold_in(key, first)))
        parts = trees.tree_map(lambda x: _parts(as_array(x), self.here), batch)

        def one(given: tuple[Array, Any]) -> Any:
            number = first + given[0]
            return shard(_of_shard(state, number), given[1], fold_in(key, number))

        stacked = mlc.map(one, (mnp.arange(self.here), parts))
        return self._total(trees.tree_map(self._over_shards, stacked))

    def _over_shards(self, stacked: Array) -> Array:
        """Of the results of this rank's shards, one after another along axis 0."""
        combine = operator.add if _is_averaged(stacked) else mnp.maximum
        return combined([stacked[n] for n in range(self.here)], combine)

    def _total(self, found: Any) -> Any:
        """The means over all ranks of what this one has found."""
        leaves, structure = trees.flatten(found)
        axes = [*(self.axes or ()), *[None] * len(leaves)]
        made: dict[int, Array] = {}
        for group in _buckets([as_array(x) for x in leaves], axes):
            made |= dict(zip(group, self._together([leaves[n] for n in group]), strict=True))
        totals = [made[n] if n in made else self._over_ranks(x, axes[n]) for n, x in enumerate(leaves)]
        return trees.unflatten(structure, totals)

    def _together(self, xs: Sequence[Array]) -> list[Array]:
        """The means over all ranks of small arrays, by one collective."""
        bucket = self._over_ranks(mnp.concat([mnp.reshape(x, (-1,)) for x in xs]), None)
        ends = list(accumulate(x.size for x in xs if isinstance(x.size, int)))
        parts = zip(xs, [0, *ends], ends, strict=False)
        return [mnp.reshape(bucket[start:end], x.shape) for x, start, end in parts]

    def _over_ranks(self, x: Array, axis: int | None) -> Array:
        if not _is_averaged(x):
            return comm.all_reduce(x, "max")
        count = comm.world() if self.count is None else self.count
        if axis is None:
            total = comm.all_reduce(x)
        else:
            total = x if self.stage == 3 else comm.reduce_scatter(x, axis=axis, ahead=self.stage == 2)
        return total / mnp.astype(mnp.asarray(count), x.dtype)


def _buckets(leaves: Sequence[Array], axes: Sequence[int | None]) -> Iterator[list[int]]:
    """Yield the numbers of small floats of one type whose sums over ranks are one collective: neighbours, from the last
    on, as the derivative computes them."""
    group: list[int] = []
    held = 0
    for n in reversed(range(len(leaves))):
        x = leaves[n]
        size = x.size * x.dtype.itemsize if isinstance(x.size, int) else BUCKET
        if axes[n] is not None or size > SMALL or x.dtype not in (mnp.float32, mnp.float64):
            continue
        if group and (held + size > BUCKET or leaves[group[0]].dtype != x.dtype):
            yield group
            group, held = [], 0
        group.append(n)
        held += size
    if group:
        yield group


def _of_shard(state: Any, number: Array) -> Any:
    """The state, as a value that depends on the number of the shard.

    Else what follows from the state alone would be computed once for all shards of a rank; and for one shard within
    other kernels, which round elsewhere.
    """
    return trees.tree_map(lambda x: mnp.where(number >= 0, x, mnp.zeros_like(x)), state)


def _is_averaged(x: Array) -> bool:
    return mnp.isdtype(x.dtype, ("real floating", "complex floating"))


def _parts(x: Array, count: int) -> Array:
    """A batch [rows, …] as [count, rows / count, …]."""
    if not x.shape or x.shape[0] % count:
        what = f"An array of shape {list(x.shape)} in a batch, for {count} shards on this rank, has no equal parts"
        raise InputError(what, hint="Give rows of which each shard has as many")
    return mnp.reshape(x, (count, x.shape[0] // count, *x.shape[1:]))


def same_on_all_ranks(state: Any) -> Any:
    """The state of rank 0, on all: models may be initialized by random numbers of a process."""
    return comm.broadcast(state) if comm.current().ranks > 1 else state
