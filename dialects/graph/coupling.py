"""Coupling: class probabilities from the probabilities of pairs of classes, as in support vector machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import BatchAxis
from mlc.dialects.graph.library import LibraryOp
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import element_of, shape_of, tensor

ITERATIONS, ERROR = 100, 0.005  # the latter divided by the number of classes; in C as well


@irdl_op_definition
class CouplingOp(LibraryOp):
    """Class probabilities that agree with those of pairs of classes, to the precision of libsvm's iteration.

    ``%p = graph.coupling(%r) : tensor<?x3x3xf64> -> tensor<?x9xf64>``

    ``r[n, i, j]`` is the probability of class i against class j. The first columns of the result are the classes; the
    others are unspecified. The iteration minimizes the sum of (r[j, i] p[i] - r[i, j] p[j])², where p sums to 1, and
    stops near the minimum, at the iteration that other runtimes stop at. Reference: T.-F. Wu, C.-J. Lin and R. C. Weng,
    "Probability Estimates for Multi-class Classification by Pairwise Coupling", 2004, algorithm 2.
    """

    name = "graph.coupling"
    pairs = operand_def(TensorType)
    result = result_def(TensorType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $pairs `)` attr-dict `:` type($pairs) `->` type($result)"

    def __init__(self, pairs: SSAValue):
        rows, classes, _ = shape_of(pairs)
        super().__init__(operands=[pairs], result_types=[tensor("f64", (rows, 3 * classes))])

    @property
    def function(self) -> str:
        return "coupling"

    @property
    def integers(self) -> Sequence[DimLike]:
        return shape_of(self.pairs)[:2]

    def infer(self) -> TensorType:
        shape = shape_of(self.pairs)
        if len(shape) != 3 or shape[1] != shape[2] or element_of(self.pairs) != "f64":
            raise VerifyException(f"{self.name}: it takes [N, classes, classes] in f64, not {self.pairs.type}")
        return tensor("f64", (shape[0], 3 * shape[1]))

    def batch_axes(self) -> tuple[BatchAxis, ...]:
        return (((0,), 0),)

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        r = operands[0]
        rows, classes, _ = r.shape
        q = -r.transpose(0, 2, 1) * r
        each = np.arange(classes)
        q[:, each, each] = (r * r).sum(1) - r[:, each, each] ** 2
        found = np.zeros((rows, 3 * classes))
        found[:, :classes] = [_coupled(matrix, classes) for matrix in q]
        return found


def _coupled(q: Array, classes: int) -> Array:
    p = np.full(classes, 1 / classes)
    for _ in range(ITERATIONS):
        qp = q @ p
        total = p @ qp
        if np.abs(qp - total).max() < ERROR / classes:
            break
        for n in range(classes):
            step = (total - qp[n]) / q[n, n]
            total = (total + step * (step * q[n, n] + 2 * qp[n])) / (1 + step) / (1 + step)
            p[n] += step
            qp, p = (qp + step * q[n]) / (1 + step), p / (1 + step)
    return p
