"""Householder's reflections as LAPACK keeps them: QR of columns and factors, and the products with their Q.

    H_k = I - tau_k v_k v_k^H, Q = H_0 H_1 …: v_k is 0 above row k, 1 in it, and kept below it.

Source: LAPACK's geqrf, larft, orgqr, ormqr; Schreiber and Van Loan (1989), "A Storage-Efficient WY Representation".
Products take no loop: Q = I - V (I + D U)^-1 D V^H, where D has the factors tau and U is V^H V above its diagonal.
"""

from __future__ import annotations

from mlc.frontends.array.array import Array
from mlc.frontends.array.functions.creation import eye, tril, triu, zeros
from mlc.frontends.array.functions.elementwise import FUNCTIONS, conj, convert, imag, real, where
from mlc.frontends.array.functions.reductions import max, sum
from mlc.frontends.array.linalg.factors import triangular_solution
from mlc.frontends.array.linalg.matrices import adjoint, counts, extent, squares
from mlc.frontends.array.transforms.control import fori_loop


def reflections(x: Array) -> tuple[Array, Array]:
    """(R above and the vectors below the diagonal [..., m, n], their factors [..., min(m, n)])."""
    m, n = extent(x, -2), extent(x, -1)
    steps, line = (m if m < n else n), counts(m)
    start = x, zeros((*x.shape[:-2], steps), dtype=x.dtype)

    def reflect(k: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        rest, factors = state
        vector, factor, diagonal = _reflection(rest[..., k], k, line)
        after = where(counts(n) > k, conj(vector)[..., None, :] @ rest, 0)
        rest = rest - (vector * conj(factor)[..., None])[..., None] * after
        kept = where(line > k, vector, where(line == k, diagonal[..., None], rest[..., k]))
        return where(counts(n) == k, kept[..., None], rest), where(counts(steps) == k, factor[..., None], factors)

    return fori_loop(0, steps, reflect, start) if steps else start


def _reflection(column: Array, k: Array, line: Array) -> tuple[Array, Array, Array]:
    """(v, tau, the real element that H^H makes of the column at row ``k``); tau is 0 where nothing is to be done."""
    top = max(FUNCTIONS["abs"](where(line >= k, column, 0)), axis=-1)
    scale = where(top == 0, 1, top)
    scaled = where(line >= k, column, 0) / scale[..., None]
    first = sum(where(line == k, scaled, 0), axis=-1)
    rest = sum(squares(where(line > k, scaled, 0)), axis=-1)
    idle = (rest == 0) & (imag(first) == 0)
    length = FUNCTIONS["sqrt"](squares(first) + rest)
    aim = where(real(first) < 0, length, -length)
    factor = (aim - first) / where(idle, 1, aim)
    below = where(idle[..., None], 0, scaled / where(idle, 1, first - aim)[..., None])
    vector = where(line > k, below, convert(line == k, first.element))
    return vector, where(idle, 0, factor), where(idle, first, convert(aim, first.element)) * scale


def multiplied(a: Array, factors: Array, b: Array, *, left: bool = True, inverse: bool = False) -> Array:
    """``Q b``, or ``b Q`` unless ``left``; with ``inverse`` of Q^H. ``a`` [..., m, k or more] has the vectors."""
    if not left:
        return adjoint(multiplied(a, factors, adjoint(b), inverse=not inverse))
    k, column = extent(factors, -1), factors[..., None]
    unit = eye(extent(a, -2), k, dtype=a.dtype)
    vectors = tril(a[..., :k], k=-1) + unit
    triangle = unit[:k] + column * triu(adjoint(vectors) @ vectors, k=1)
    along = adjoint(vectors) @ b
    if inverse:
        above = triangular_solution(conj(triangle), along, lower=False, unit=True, transposed=True)
        return b - vectors @ (conj(column) * above)
    return b - vectors @ triangular_solution(triangle, column * along, lower=False, unit=True)
