"""Rotary position embedding (Su et al., 2021): pairs of elements of each head rotated by angles of its position."""

from __future__ import annotations

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


def rotated(build: Builder, x: Tensor, cosine: Tensor, sine: Tensor, interleaved: bool) -> Tensor:
    """[B, heads, S, size] with its first elements rotated in pairs by angles [B or 1, 1, S, pairs]; the others stay."""
    pairs = cosine.shape[3]
    size = 2 * pairs
    rotary, rest = build.cut(x, 3, 0, size), x.shape[3] - size
    if interleaved:
        split = build.reshape(rotary, (*x.shape[:3], pairs, 2))
        a, b = (build.reshape(build.cut(split, 4, n, 1), (*x.shape[:3], pairs)) for n in range(2))
    else:
        a, b = (build.cut(rotary, 3, n * pairs, pairs) for n in range(2))
    c, s = build.cast(cosine, x.element), build.cast(sine, x.element)
    new = [build.map("x0 * x2 - x1 * x3", a, b, c, s), build.map("x1 * x2 + x0 * x3", a, b, c, s)]
    if interleaved:
        stacked = build.concat([build.reshape(n, (*n.shape, 1)) for n in new], 4)
        new = [build.reshape(stacked, (*x.shape[:3], size))]
    return build.concat([*new, *([build.cut(x, 3, size, rest)] if rest != 0 else [])], 3)


def angles_at(build: Builder, cache: Tensor, positions: Tensor, rows: DimLike) -> Tensor:
    """The rows of a cache at [B, S] positions, or at those from the one position given on: [B or 1, 1, S, pairs]."""
    at = build.cast(positions, "i64")
    if at.rank == 2:
        return build.compute("x0[x1[i0, i2], i3]", [cache, at], (at.shape[0], 1, rows, cache.shape[1]))
    return build.compute("x0[x1[0] + i2, i3]", [cache, at], (1, 1, rows, cache.shape[1]))
