"""N-gram counts (TF-IDF) of integers or strings, by comparing each position with each n-gram. ONNX TfIdf 9."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.fold import Array
from mlc.frontends.build.tensors import Tensor

WEIGHTINGS = {"TF": "x0", "IDF": "where(x0 > 0, x1, 0)", "TFIDF": "x0 * x1"}


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
    counts = [_counts(build, x, pool, lengths, skips) for pool in pools if len(pool)]
    width, total = max(columns) + 1, build.concat(counts, 1)
    operands = [total] if weighting == "TF" else [total, build.constant(weights, "f32")]
    weighted = build.map(WEIGHTINGS[weighting], *operands)
    to_column = np.zeros((len(columns), width), np.float32)
    to_column[np.arange(len(columns)), columns] = 1
    return build.contract("ng,gw->nw", weighted, Tensor.from_known(to_column))


def _counts(build: Builder, x: Tensor, pool: Array, lengths: tuple[int, int], skips: int) -> Tensor:
    """[N, grams]: over all positions and distances, how often the elements equal those of the gram."""
    grams, n = pool.shape
    if not lengths[0] <= n <= lengths[1]:
        return build.broadcast(build.constant(0, "f32"), (x.shape[0], grams))
    distances = skips + 1 if n > 1 else 1
    length = x.shape[1]
    hits = [f"(x0[i0, min(r1 + {k} * (r0 + 1), {length} - 1)] == x1[i1, {k}])" for k in range(n)]
    inside = f"(r1 + {n - 1} * (r0 + 1) < {length})"
    text, shape = f"f32({' & '.join([inside, *hits])})", (x.shape[0], grams)
    return build.compute(text, [x, Tensor.from_known(pool, x.element)], shape, [distances, length], "add")
