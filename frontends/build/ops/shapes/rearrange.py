"""Data movement in known patterns: tile, split, depth to space and back (pixel shuffle), triangles of matrices."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike, floordiv
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


def tile(build: Builder, x: Tensor, repeats: Sequence[DimLike]) -> Tensor:
    """``x`` repeated along each dimension: a broadcast along a new dimension before each repeated one."""
    split = [d for n, r in zip(x.shape, repeats, strict=True) for d in (([1] if r != 1 else []) + [n])]
    wide = [d for n, r in zip(x.shape, repeats, strict=True) for d in (([r] if r != 1 else []) + [n])]
    repeated = build.broadcast(build.reshape(x, split), wide)
    return build.reshape(repeated, [n * r for n, r in zip(x.shape, repeats, strict=True)])


def split(build: Builder, x: Tensor, axis: int, sizes: Sequence[DimLike]) -> list[Tensor]:
    """Parts of ``x`` along an axis, one after the other."""
    at: DimLike = 0
    parts = []
    for size in sizes:
        parts.append(build.cut(x, axis, at, size))
        at = at + size
    return parts


def even_sizes(extent: DimLike, parts: int) -> list[DimLike]:
    """Sizes of equal parts, the last one smaller where they do not divide."""
    size = floordiv(extent + parts - 1, parts)
    return [size] * (parts - 1) + [extent - size * (parts - 1)]


def depth_to_space(build: Builder, x: Tensor, block: int, channels_first: bool = False) -> Tensor:
    """[N, C·block², H, W] as [N, C, H·block, W·block] (pixel shuffle).

    The channels are (row, column, C), or with ``channels_first`` (C, row, column), which is ONNX's CRD.
    """
    (n, depth, h, w), blocks = x.shape, (block, block)
    c = depth // (block * block)
    split = (n, c, *blocks, h, w) if channels_first else (n, *blocks, c, h, w)
    moved = build.transpose(build.reshape(x, split), [0, 1, 4, 2, 5, 3] if channels_first else [0, 3, 4, 1, 5, 2])
    return build.reshape(moved, (n, c, h * block, w * block))


def space_to_depth(build: Builder, x: Tensor, block: int, channels_first: bool = False) -> Tensor:
    """[N, C, H·block, W·block] as [N, C·block², H, W]; the inverse of ``depth_to_space``."""
    n, c, h, w = x.shape
    order = [0, 1, 3, 5, 2, 4] if channels_first else [0, 3, 5, 1, 2, 4]
    moved = build.transpose(build.reshape(x, (n, c, h // block, block, w // block, block)), order)
    return build.reshape(moved, (n, c * block * block, h // block, w // block))


def triangle(build: Builder, x: Tensor, k: DimLike, upper: bool) -> Tensor:
    """The elements of [.., rows, columns] on and above (or below) diagonal ``k``, zeros elsewhere (triu, tril)."""
    keep = ">=" if upper else "<="
    names = [f"i{n}" for n in range(x.rank)]
    zero = "False" if x.element == "i1" else f"{x.element}(0)"
    return build.compute(
        f"where({names[-1]} - {names[-2]} {keep} {k}, x0[{', '.join(names)}], {zero})", [x], x.shape
    )
