"""``mlc.numpy.linalg``: the linear algebra of the Array API standard 2025.12."""

from typing import Any

from mlc.frontends.array.compositions.matrices import cond, lstsq, multi_dot, norm
from mlc.frontends.array.functions.products import matmul, outer, tensordot, vecdot
from mlc.frontends.array.functions.shaping import matrix_transpose
from mlc.frontends.array.linalg.decompositions import (
    cholesky,
    det,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    matrix_power,
    matrix_rank,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    svdvals,
)
from mlc.frontends.array.linalg.norms import cross, diagonal, matrix_norm, trace, vector_norm
from mlc.frontends.array.linalg.systems import tensorinv, tensorsolve
from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish

__all__ = [
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq",
    "matmul", "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot",
    "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
    "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip

publish(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise missing("mlc.numpy.linalg", name, __all__)
