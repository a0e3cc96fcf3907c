"""Linear algebra by Gaussian elimination with row pivoting: determinants, unrolled; inverses, in a loop.

Source: ONNX Det 22; Golub and Van Loan, "Matrix Computations", chapter 3.
"""

from __future__ import annotations

from mlc.dialects.semantics.dims import Dim
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.control.loops import Iteration, emit_loop
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
    """The iterators of the batch dimensions, each followed by a comma, and their number."""
    return "".join(f"i{n}, " for n in range(x.rank - 2)), x.rank - 2


def _pivot(build: Builder, x: Tensor) -> tuple[Tensor, Tensor]:
    """The element of largest magnitude in the first column, and its row."""
    at, _ = _batch(x)
    here = f"x1[{at.removesuffix(', ') or '()'}]"
    largest = build.compute(f"abs(x0[{at}r0, 0])", [x], x.shape[:-2], [x.shape[-2]], "max")
    last = f"{x.shape[-2]} - 1"  # also where nothing equals the maximum, because it is no number
    row = build.compute(
        f"where(abs(x0[{at}r0, 0]) == {here}, r0, {last})", [x, largest], x.shape[:-2], [x.shape[-2]], "min"
    )
    return build.compute(f"x0[{at}{here}, 0]", [x, row], x.shape[:-2]), row


def _eliminated(build: Builder, x: Tensor, pivot: Tensor, row: Tensor) -> Tensor:
    """The matrices after one step of elimination: without their first column, and with the first row in the pivot's
    place.
    """
    at, outer = _batch(x)
    here = at.removesuffix(", ") or "()"
    source = f"where(i{outer} + 1 == x2[{here}], 0, i{outer} + 1)"
    ratio = f"where(x1[{here}] == 0, 0, x0[{at}{source}, 0] / x1[{here}])"
    text = f"x0[{at}{source}, i{outer + 1} + 1] - {ratio} * x0[{at}x2[{here}], i{outer + 1} + 1]"
    size = x.shape[-1] - 1
    return build.compute(text, [x, pivot, row], (*x.shape[:-2], size, size))


def inverse(build: Builder, x: Tensor) -> Tensor:
    """The inverses of matrices [.., n, n]; one that has none gives infinities or NaN."""
    if x.rank < 2 or x.shape[-1] != x.shape[-2]:
        raise NotSupported(f"matrices of shape {x.shape[-2:]}; they must be square")
    at, outer = _batch(x)
    wide, n = build.wide(x), x.shape[-1]
    unit = f"{wide.element}(i{outer} + ({n}) == i{outer + 1})"
    text = f"where(i{outer + 1} < {n}, x0[{at}i{outer}, min(i{outer + 1}, ({n}) - 1)], {unit})"
    state = build.compute(text, [wide], (*x.shape[:-1], 2 * n))
    done = emit_loop(build, n, [state], lambda k, states: Iteration([_reduced(build, states[0], k)]))[0]
    return build.cast(build.slice(done, [0] * (outer + 1) + [n], x.shape), x.element)


def _reduced(build: Builder, x: Tensor, k: Dim) -> Tensor:
    """The matrices [.., n, m] after step ``k`` of Gauss-Jordan elimination: column ``k`` is one of the unit matrix."""
    at, outer = _batch(x)
    n, here, i, j = x.shape[-2], at.removesuffix(", ") or "()", f"i{outer}", f"i{outer + 1}"
    size = f"where(r0 < {k}, -1, abs(x0[{at}r0, {k}]))"
    largest = build.compute(size, [x], x.shape[:-2], [n], "max")
    row = build.compute(f"where({size} == x1[{here}], r0, ({n}) - 1)", [x, largest], x.shape[:-2], [n], "min")
    pivot = f"x0[{at}x1[{here}], {k}]"
    line = build.compute(f"x0[{at}x1[{here}], i{outer}] / {pivot}", [x, row], (*x.shape[:-2], x.shape[-1]))
    source = f"where({i} == x2[{here}], {k}, {i})"  # row k went where the pivot's was
    rest = f"x0[{at}{source}, {j}] - x0[{at}{source}, {k}] * x1[{at}{j}]"
    return build.compute(f"where({i} == {k}, x1[{at}{j}], {rest})", [x, line, row], x.shape)
