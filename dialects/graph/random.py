"""Random numbers: the run counter, by which the numbers of runs differ, and the generator MT19937.

Arithmetic operators compute the distributions from the generator's numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import GraphOp
from mlc.dialects.graph.library import LibraryOp, whole_numbers
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import element_of, shape_of, tensor

DRAWN: dict[str, tuple[int, ...]] = {"uniform": (), "disc": (2,)}  # the kinds of draws, and the shape of one


@irdl_op_definition
class RunCounterOp(GraphOp):
    """The run counter: the number of earlier runs of the loaded model, or the value set by ``Model.seed``.

    ``%n = graph.run_counter : tensor<i64>``

    The operator is pure within a run, but not a constant: no pass folds it.
    """

    name = "graph.run_counter"
    result = result_def(TensorType)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self) -> None:
        super().__init__(result_types=[tensor("i64", ())])

    def infer(self) -> TensorType:
        return tensor("i64", ())

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """Return 0: the interpreter's run is the first."""
        return np.zeros((), np.int64)


@irdl_op_definition
class RandomDrawOp(LibraryOp):
    """Random numbers of NumPy's ``RandomState``: in [0, 1), or points of the unit disc, as its polar method draws
    them.

    ``%u = graph.random_draw "uniform"(%key) : tensor<3xi64> -> tensor<60xf64>``
    ``%p = graph.random_draw "disc"(%key) : tensor<3xi64> -> tensor<30x2xf64>``

    The key is the low 32 bits of each number in ``%key``, without trailing zeros: one number is a seed, several are an
    array seed.
    MT19937 (Matsumoto and Nishimura, 1998), with 53 random bits a double.
    """

    name = "graph.random_draw"
    kind = prop_def(StringAttr)
    key = operand_def(TensorType)
    result = result_def(TensorType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$kind `(` $key `)` attr-dict `:` type($key) `->` type($result)"

    def __init__(self, kind: str, key: SSAValue, count: DimLike):
        result = tensor("f64", (count, *DRAWN[kind]))
        super().__init__(operands=[key], properties={"kind": StringAttr(kind)}, result_types=[result])

    @property
    def function(self) -> str:
        return f"random_draw_{self.kind.data}"

    @property
    def integers(self) -> Sequence[DimLike]:
        return shape_of(self.key)[0], shape_of(self.result)[0]

    def infer(self) -> TensorType:
        if self.kind.data not in DRAWN:
            raise VerifyException(f"graph.random_draw: there are {' and '.join(DRAWN)}, not {self.kind.data!r}")
        if len(shape_of(self.key)) != 1 or element_of(self.key) != "i64":
            raise VerifyException(f"graph.random_draw: a key is a vector of i64, not {self.key.type}")
        return tensor("f64", (*shape_of(self.result)[:1], *DRAWN[self.kind.data]))

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        key = np.trim_zeros(operands[0] & 0xFFFFFFFF, "b")
        state = np.random.RandomState(key if len(key) > 1 else int(key.sum()))
        count = whole_numbers(shape_of(self.result), symbols)[0]
        return state.random_sample(count) if self.kind.data == "uniform" else _in_disc(state, count)


def _in_disc(state: np.random.RandomState, count: int) -> Array:
    """Return the first points, drawn from the square around 0, that are in the disc and not its center."""
    points = np.empty((0, 2))
    while len(points) < count:
        more = 2 * state.random_sample((count - len(points), 2)) - 1
        squares = (more * more).sum(1)
        points = np.concatenate([points, more[(squares > 0) & (squares < 1)]])
    return points
