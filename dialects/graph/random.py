"""What makes random numbers differ from run to run; all else about them is arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.irdl import irdl_op_definition, result_def

from mlc.dialects.evaluate import Array
from mlc.dialects.graph.base import GraphOp
from mlc.dialects.types import tensor


@irdl_op_definition
class RunNumberOp(GraphOp):
    """How many runs of the loaded model came before this one, or were said to (``Model.seed``).

    ``%n = graph.run_number : tensor<i64>``

    Pure within a run, and no constant: it has no operands, yet is not folded.
    """

    name = "graph.run_number"
    result = result_def(TensorType)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self) -> None:
        super().__init__(result_types=[tensor("i64", ())])

    def infer(self) -> TensorType:
        return tensor("i64", ())

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """0: the interpreter's is a first run."""
        return np.zeros((), np.int64)
