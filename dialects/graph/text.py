"""Routines on texts: what makes texts or looks into them. Between them texts are numbers (``mlc.dialects.texts``)."""

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

from mlc.dialects.dims import DimLike, evaluate
from mlc.dialects.evaluate import Array
from mlc.dialects.graph.base import PURE, GraphOp, ints, ints_of
from mlc.dialects.texts import ROUTINES, Given, Texts, escaped, unescaped
from mlc.dialects.types import element_of, shape_of, tensor


@irdl_op_definition
class TextOp(GraphOp):
    """A routine of ``ROUTINES``: at each place what it makes of the operands there, with ``words`` and ``numbers``.

    ``%y = graph.text "concat"(%a, %b) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>``
    """

    name = "graph.text"
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
        behind: Sequence[DimLike] = (),
        words: Sequence[str] = (),
        numbers: Sequence[int] = (),
    ):
        """``behind``: dimensions of the result behind those of the first operand."""
        properties: dict[str, Attribute] = {"fn": StringAttr(fn)}
        properties |= {"words": ArrayAttr(StringAttr(escaped(w)) for w in words)} if words else {}
        properties |= {"numbers": ints(numbers)} if numbers else {}
        result = tensor(ROUTINES[fn].result, (*shape_of(args[0]), *behind))
        super().__init__(operands=[args], properties=properties, result_types=[result])

    def infer(self) -> TensorType:
        routine, shape = ROUTINES.get(self.fn.data), shape_of(self.result)
        if routine is None:
            raise VerifyException(f"graph.text: there is no routine {self.fn.data!r}")
        if tuple(map(element_of, self.args)) != routine.operands:
            raise VerifyException(f"graph.text: {self.fn.data} takes {', '.join(routine.operands)}")
        first = shape_of(self.args[0])
        behind = shape[len(first) : len(first) + (self.fn.data == "split")]
        return tensor(routine.result, (*first, *behind))

    def parameters(self) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Its words and numbers."""
        words = tuple(unescaped(w.data) for w in self.words or ())
        return words, () if self.numbers is None else ints_of(self.numbers)

    def evaluate_with(self, texts: Texts, operands: Sequence[Array], symbols: Mapping[str, int]) -> Array:
        """The result for concrete operands; ``texts`` gets those that are new."""
        shape = tuple(cast(int, evaluate(d, symbols)) for d in shape_of(self.result))
        return ROUTINES[self.fn.data].meaning(Given(texts, *self.parameters(), shape), *operands)
