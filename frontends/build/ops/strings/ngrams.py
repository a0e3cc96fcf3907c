"""N-gram counts (TF-IDF) of integers or strings: each position follows n-grams, element by element. ONNX TfIdf 9."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mlc.dialects.semantics.dims import DimLike, product
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.fold import Array
from mlc.frontends.build.ops.indexing.lookup import looked_up
from mlc.frontends.build.ops.indexing.scatter import scatter_at
from mlc.frontends.build.tensors import Tensor

WEIGHTINGS = ("TF", "IDF", "TFIDF")


def tf_idf(
    build: Builder,
    x: Tensor,
    pools: Sequence[Array],
    lengths: tuple[int, int],
    skips: int,
    columns: Sequence[int],
    weights: Sequence[float],
    weighting: str,
) -> Tensor:
    """[N, max(columns) + 1] in f32 of ``x`` [N, C]: how often each n-gram occurs, times its weight by ``weighting``.

    ``pools``: the n-grams [grams, n] of n = 1, 2, …, in the order of ``columns`` and ``weights``; of those whose length
    is in ``lengths`` the elements are up to ``skips`` + 1 apart. Strings are their numbers in the builder's table.
    """
    if weighting not in WEIGHTINGS or x.rank != 2:
        raise NotSupported(f"mode '{weighting}' of {x}; give [N, C], and TF, IDF or TFIDF")
    order = np.argsort(columns, kind="stable")
    sorted_weights = np.asarray(weights, np.float32)[order]
    each = sorted_weights if weighting == "TFIDF" else np.ones_like(sorted_weights)
    total = _totals(build, x, pools, lengths, skips, np.argsort(order), each)
    if weighting == "IDF":
        total = build.map("where(x0 > 0, x1, 0)", total, Tensor.from_known(sorted_weights))
    return _in_columns(build, total, np.asarray(columns)[order])


def _in_columns(build: Builder, values: Tensor, columns: Array) -> Tensor:
    """[N, max(columns) + 1]: the sum of the values of each column, which most often are in order and one each."""
    width = int(columns[-1]) + 1
    if np.array_equal(columns, np.arange(width)):
        return values
    offsets = build.compute(f"i0 * {width} + x0[i1]", [Tensor.from_known(columns)], values.shape)
    return _added(build, (values.shape[0], width), offsets, values)


def _added(build: Builder, shape: tuple[DimLike, ...], offsets: Tensor, values: Tensor) -> Tensor:
    """Zeros of ``shape``, to which the values are added at their offsets; none at a negative one."""
    zeros = build.broadcast(build.constant(0, "f32"), shape)
    return scatter_at(build, zeros, build.reshape(offsets, (product(offsets.shape),)), values, 1, "add")


def _totals(
    build: Builder, x: Tensor, pools: Sequence[Array], lengths: tuple[int, int], skips: int, ranks: Array, each: Array
) -> Tensor:
    """[N, grams]: over all positions and distances the sum of ``each`` n-gram that begins there, at its rank."""
    shape, starts = (x.shape[0], len(ranks)), np.cumsum([0, *map(len, pools)])
    numbered = [(pool, ranks[start:][: len(pool)]) for pool, start in zip(pools, starts, strict=False)]
    counted = [(pool, at) for pool, at in numbered if len(pool) and lengths[0] <= pool.shape[1] <= lengths[1]]
    found = list(_found(build, x, counted, skips)) if counted else []
    if not found:
        return build.broadcast(build.constant(0, "f32"), shape)
    at = build.concat(found, 1)
    offsets = build.compute(f"where(x0[i0, i1] < 0, -1, i0 * {len(ranks)} + x0[i0, i1])", [at], at.shape)
    values = build.compute("x1[max(x0[i0, i1], 0)]", [at, Tensor.from_known(each)], at.shape)
    return _added(build, shape, offsets, values)


def _found(build: Builder, x: Tensor, pools: Sequence[tuple[Array, Array]], skips: int) -> Iterator[Tensor]:
    """[N, C] for each length and distance: the rank of the n-gram that begins at a position, or -1."""
    elements = np.unique(np.concatenate([pool.ravel() for pool, _ in pools]))
    element = _numbered(build, x, elements)
    levels = list(_levels(elements, pools))
    for distance in range(1, skips + 2):
        path = element
        for step, (keys, ranks) in enumerate(levels):
            path = _numbered(build, _continued(build, path, element, step * distance, len(elements)), keys)
            if (ranks >= 0).any() and (step or distance == 1):
                yield build.compute("x1[x0[i0, i1]]", [path, Tensor.from_known(ranks)], x.shape)


def _levels(elements: Array, pools: Sequence[tuple[Array, Array]]) -> Iterator[tuple[Array, Array]]:
    """For k = 1, 2, …: the ways in which n-grams begin with k elements, each a number of k - 1 elements and one more
    (`_continued`); and for each of them the rank of the n-gram that it is, or -1, which is the last one as well."""
    pools = [(np.searchsorted(elements, pool), ranks) for pool, ranks in pools]
    begun = [np.zeros(len(pool), np.int64) for pool, _ in pools]
    for k in range(max(pool.shape[1] for pool, _ in pools)):
        longer = [n for n, (pool, _) in enumerate(pools) if pool.shape[1] > k]
        ways = [begun[n] * (len(elements) + 1) + pools[n][0][:, k] for n in longer]
        keys = np.unique(np.concatenate(ways))
        result = np.full(len(keys) + 1, -1)
        for n, way in zip(longer, ways, strict=True):
            begun[n] = np.searchsorted(keys, way)
            if pools[n][0].shape[1] == k + 1:
                result[begun[n]] = pools[n][1]
        yield keys, result


def _continued(build: Builder, path: Tensor, element: Tensor, ahead: int, elements: int) -> Tensor:
    """What is so far, and the element that many positions ahead, as one number; -1 after the end."""
    if not ahead:
        return element
    length = path.shape[1]
    text = f"x0[i0, i1] * {elements + 1} + x1[i0, min(i1 + {ahead}, {length} - 1)]"
    return build.compute(f"where(i1 + {ahead} < {length}, {text}, -1)", [path, element], path.shape)


def _numbered(build: Builder, x: Tensor, keys: Array) -> Tensor:
    """The index of the key that an element is, or how many keys there are."""
    found = looked_up(build, x, keys, np.arange(len(keys) + 1), "i64")
    if found is None:
        raise NotSupported(f"no hash function for {len(keys)} n-grams")
    return found
