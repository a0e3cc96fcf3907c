"""Linear algebra: determinants, by Gaussian elimination with row pivoting, unrolled. Source: ONNX Det 22."""

from __future__ import annotations

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor

MAX_ROWS = 64


def determinant(build: Builder, x: Tensor) -> Tensor:
    """[..] of matrices [.., n, n]: the product of the pivots."""
    rows = x.shape[-1]
    if rows != x.shape[-2] or not isinstance(rows, int) or not 1 <= rows <= MAX_ROWS:
        raise NotSupported(f"matrices of shape {x.shape[-2:]}; square ones of 1 to {MAX_ROWS} known rows are unrolled")
    left, total = build.wide(x), None
    while True:
        pivot, row = _pivot(build, left)
        total = pivot if total is None else build.map("x0 * x1", total, pivot)
        if left.shape[-1] == 1:
            return build.cast(total, x.element)
        total = build.map("where(x1 == 0, x0, -x0)", total, row)
        left = _eliminated(build, left, pivot, row)


def _batch(x: Tensor) -> tuple[str, int]:
    """The iterators of the dimensions before the matrices, each followed by a comma; and their number."""
    return "".join(f"i{n}, " for n in range(x.rank - 2)), x.rank - 2


def _pivot(build: Builder, x: Tensor) -> tuple[Tensor, Tensor]:
    """The element of the first column that is largest in magnitude, and its row."""
    at, _ = _batch(x)
    here = f"x1[{at.removesuffix(', ') or '()'}]"
    largest = build.compute(f"abs(x0[{at}r0, 0])", [x], x.shape[:-2], [x.shape[-2]], "max")
    last = f"{x.shape[-2]} - 1"  # also where nothing equals the maximum, because it is no number
    row = build.compute(
        f"where(abs(x0[{at}r0, 0]) == {here}, r0, {last})", [x, largest], x.shape[:-2], [x.shape[-2]], "min"
    )
    return build.compute(f"x0[{at}{here}, 0]", [x, row], x.shape[:-2]), row


def _eliminated(build: Builder, x: Tensor, pivot: Tensor, row: Tensor) -> Tensor:
    """The matrices without the first column and the pivot's row, which the first row replaces."""
    at, outer = _batch(x)
    here = at.removesuffix(", ") or "()"
    source = f"where(i{outer} + 1 == x2[{here}], 0, i{outer} + 1)"
    ratio = f"where(x1[{here}] == 0, 0, x0[{at}{source}, 0] / x1[{here}])"
    text = f"x0[{at}{source}, i{outer + 1} + 1] - {ratio} * x0[{at}x2[{here}], i{outer + 1} + 1]"
    size = x.shape[-1] - 1
    return build.compute(text, [x, pivot, row], (*x.shape[:-2], size, size))
