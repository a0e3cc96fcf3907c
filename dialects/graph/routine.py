"""Routines: operators that are not statements, computed by a function in C (``mlc.dialects.semantics.routines``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, StringAttr, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import PURE, GraphOp, ints, ints_of
from mlc.dialects.semantics.dims import DimLike, evaluate
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.semantics.routines import ROUTINES, Given
from mlc.dialects.semantics.strings import StringTable, escaped, unescaped
from mlc.dialects.types import element_of, shape_of, tensor


@irdl_op_definition
class RoutineOp(GraphOp):
    """A call of a routine of ``ROUTINES`` on the operands, with constant strings (``words``) and integers
    (``numbers``).

    ``%y = graph.routine "string.concat"(%a, %b) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>``
    """

    name = "graph.routine"
    fn = prop_def(StringAttr)
    args = var_operand_def(TensorType)
    words = opt_prop_def(ArrayAttr[StringAttr])
    numbers = opt_prop_def(DenseArrayBase)
    result = result_def(TensorType)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$fn `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(
        self,
        fn: str,
        args: Sequence[SSAValue],
        shape: Sequence[DimLike],
        words: Sequence[str] = (),
        numbers: Sequence[int] = (),
    ):
        properties: dict[str, Attribute] = {"fn": StringAttr(fn)}
        properties |= {"words": ArrayAttr(StringAttr(escaped(w)) for w in words)} if words else {}
        properties |= {"numbers": ints(numbers)} if numbers else {}
        super().__init__(operands=[args], properties=properties, result_types=[tensor(ROUTINES[fn].result, shape)])

    def infer(self) -> TensorType:
        routine, shape = ROUTINES.get(self.fn.data), shape_of(self.result)
        if routine is None:
            raise VerifyException(f"graph.routine: there is no routine {self.fn.data!r}")
        if tuple(map(element_of, self.args)) != routine.operands:
            raise VerifyException(f"graph.routine: {self.fn.data} takes {', '.join(routine.operands)}")
        first = shape_of(self.args[0]) if routine.pointwise else ()
        return tensor(routine.result, (*first, *shape[len(first) :]) if routine.widens else first)

    def parameters(self) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the words and numbers of the routine."""
        words = tuple(unescaped(w.data) for w in self.words or ())
        return words, () if self.numbers is None else ints_of(self.numbers)

    def evaluate_with(self, strings: StringTable, operands: Sequence[Array], symbols: Mapping[str, int]) -> Array:
        """Return the result for concrete operands; new strings are added to ``strings``."""
        shape = tuple(cast(int, evaluate(d, symbols)) for d in shape_of(self.result))
        return ROUTINES[self.fn.data].meaning(Given(strings, *self.parameters(), shape), *operands)
