"""Factorizations of matrices, and triangular systems. Source: Golub and Van Loan, "Matrix Computations", chapters 3 and
4.

The runtime's functions (``runtime/c/library/mlc_factors.h``) are blocked: nearly all of their operations are in tiled
matrix products.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import BoolAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import BatchAxis
from mlc.dialects.graph.library import LibraryOp
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import Shape, element_of, shape_of, tensor


def _check(name: str, *xs: SSAValue) -> None:
    """Raise VerifyException unless all tensors have rank 3 and the same float type, and the first holds square
    matrices."""
    shape, elements = shape_of(xs[0]), {element_of(x) for x in xs}
    ranks = {len(shape_of(x)) for x in xs}
    if ranks != {3} or shape[1] != shape[2] or len(elements) != 1 or not elements <= {"f32", "f64"}:
        raise VerifyException(f"{name}: it takes square matrices [N, n, n] in f32 or f64, not {xs[0].type}")


class FactorOp(LibraryOp, ABC):
    """A factorization of matrices ``%x`` [N, n, n]; one thread factors one matrix."""

    input = operand_def(TensorType)
    result = result_def(TensorType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` type($input) `->` type($result)"

    def __init__(self, input: SSAValue):
        super().__init__(operands=[input], result_types=[tensor(element_of(input), self.shape(shape_of(input)))])

    @staticmethod
    @abstractmethod
    def shape(given: Shape) -> Shape:
        """Return the shape of the result for that of the operand."""

    @property
    def function(self) -> str:
        return f"{self.name.removeprefix('graph.')}_{element_of(self.input)}"

    @property
    def integers(self) -> Sequence[DimLike]:
        return shape_of(self.input)[:2]

    def batch_axes(self) -> tuple[BatchAxis, ...]:
        return (((0,), 0),)

    def infer(self) -> TensorType:
        _check(self.name, self.input)
        return tensor(element_of(self.input), self.shape(shape_of(self.input)))


@irdl_op_definition
class CholeskyOp(FactorOp):
    """Cholesky: the lower triangular L of ``x = L L^T``. It reads the lower triangles of x; L is NaN where x is not
    positive definite.

    ``%l = graph.cholesky(%x) : tensor<2x9x9xf32> -> tensor<2x9x9xf32>``
    """

    name = "graph.cholesky"

    @staticmethod
    def shape(given: Shape) -> Shape:
        return given

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        return np.stack([_lower_factor(x) for x in operands[0]]) if len(operands[0]) else operands[0].copy()


def _lower_factor(x: Array) -> Array:
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        return np.tril(np.full_like(x, np.nan))


@irdl_op_definition
class LuOp(FactorOp):
    """LU: Gaussian elimination with row pivots, with U above and L (whose diagonal is 1) below the diagonal.

    ``%y = graph.lu(%x) : tensor<2x9x9xf32> -> tensor<2x10x9xf32>``

    The last row of the result holds, as floats, the permutation: the row of ``x`` that each row of L U is. The pivot of
    a column is its largest remaining element in magnitude; a column whose remaining elements are 0 is not eliminated.
    """

    name = "graph.lu"

    @staticmethod
    def shape(given: Shape) -> Shape:
        return (given[0], given[1] + 1, given[1])

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        count, n, _ = operands[0].shape
        y = np.concatenate([operands[0], np.broadcast_to(np.arange(n), (count, 1, n))], axis=1, dtype=operands[0].dtype)
        each = np.arange(count)
        with np.errstate(all="ignore"):
            for k in range(n):
                pivot = k + np.argmax(np.abs(y[:, k:n, k]), axis=1)
                y[each, k], y[each, pivot] = y[each, pivot], y[each, k]
                y[each, n, k], y[each, n, pivot] = y[each, n, pivot], y[each, n, k]
                divisor = np.where(y[:, k, k] == 0, 1, y[:, k, k])
                y[:, k + 1 : n, k] /= divisor[:, None]
                y[:, k + 1 : n, k + 1 :] -= y[:, k + 1 : n, k, None] * y[:, k, None, k + 1 :]
        return y


@irdl_op_definition
class TriangularSolveOp(LibraryOp):
    """The solution of ``a x = b``, or transposed ``a^T x = b``, for one triangle of ``a`` [N, n, n] and ``b`` [N, n,
    m].

    ``%x = graph.triangular_solve(%a, %b) {lower = true, transposed = false, unit = false} :
    tensor<2x9x9xf32>, tensor<2x9x4xf32>``

    ``lower`` says which triangle is read; with ``unit`` its diagonal counts as ones. Threads partition the columns of
    ``b``.
    """

    name = "graph.triangular_solve"
    matrix = operand_def(TensorType)
    right = operand_def(TensorType)
    result = result_def(TensorType)
    lower = prop_def(BoolAttr)
    unit = prop_def(BoolAttr)
    transposed = prop_def(BoolAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $matrix `,` $right `)` attr-dict `:` type($matrix) `,` type($right) `->` type($result)"

    def __init__(self, matrix: SSAValue, right: SSAValue, lower: bool, unit: bool, transposed: bool):
        flags = {"lower": lower, "unit": unit, "transposed": transposed}
        properties = {name: BoolAttr.from_bool(bool(flag)) for name, flag in flags.items()}
        super().__init__(operands=[matrix, right], properties=properties, result_types=[right.type])

    @property
    def flags(self) -> tuple[bool, bool, bool]:
        return bool(self.lower), bool(self.unit), bool(self.transposed)

    @property
    def function(self) -> str:
        return f"triangular_solve_{element_of(self.matrix)}"

    @property
    def integers(self) -> Sequence[DimLike]:
        return (*shape_of(self.right), *map(int, self.flags))

    def infer(self) -> TensorType:
        _check(self.name, self.matrix, self.right)
        if shape_of(self.matrix)[:2] != shape_of(self.right)[:2]:
            raise VerifyException(f"{self.name}: {self.matrix.type} and {self.right.type} have other numbers of rows")
        return tensor(element_of(self.right), shape_of(self.right))

    def batch_axes(self) -> tuple[BatchAxis, ...]:
        return ((0, 0), 0), ((None, 2), 2)

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        lower, unit, transposed = self.flags
        a = operands[0].swapaxes(1, 2) if transposed else operands[0]
        x, n = operands[1].copy(), a.shape[1]
        forward = lower != transposed
        with np.errstate(all="ignore"):
            for i in range(n) if forward else reversed(range(n)):
                done = slice(0, i) if forward else slice(i + 1, n)
                x[:, i] -= (a[:, i, None, done] @ x[:, done])[:, 0]
                x[:, i] /= 1 if unit else a[:, i, i, None]
        return x
