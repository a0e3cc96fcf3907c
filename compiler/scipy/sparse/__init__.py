"""``mlc.scipy.sparse``: sparse matrices as arrays, their products and derivatives, and Jacobians by colouring.

A = mlc.scipy.sparse.csr_array(scipy_matrix)
y = A @ x
gradient = mlc.grad(lambda values: loss(A.with_data(values) @ x))(A.data)
"""

from typing import Any

from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish
from mlc.scipy.sparse import linalg as linalg
from mlc.scipy.sparse.blocks import bsr_array
from mlc.scipy.sparse.compressed import Sparse, csc_array, csr_array
from mlc.scipy.sparse.construction import diags_array, eye_array, issparse
from mlc.scipy.sparse.jacobians import jacobian_sparsity, sparse_jacobian

__all__ = [
    "Sparse", "bsr_array", "csc_array", "csr_array", "diags_array", "eye_array", "issparse", "jacobian_sparsity",
    "linalg", "sparse_jacobian",
]  # fmt: skip

publish(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise missing("mlc.scipy.sparse", name, __all__)
