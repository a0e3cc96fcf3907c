"""Padding: constants around a tensor and between its elements, as statements over disjoint boxes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import PURE, StructuredOp, dims_attr, dims_of, ints, ints_of, iterators
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.expr import Const, parse
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.types import element_of, shape_of, tensor


@irdl_op_definition
class PadOp(StructuredOp):
    """A padding with a constant: in each dimension ``low`` elements before, ``high`` after, ``interior`` between
    neighbours.

    ``graph.slice`` expresses negative padding. Interior padding expresses a transposed convolution as a convolution.
    """

    name = "graph.pad"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    low = prop_def(ArrayAttr[StringAttr])
    high = prop_def(ArrayAttr[StringAttr])
    interior = prop_def(DenseArrayBase)
    value = prop_def(StringAttr)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(
        self,
        input: SSAValue,
        low: Sequence[DimLike],
        high: Sequence[DimLike],
        value: str = "0",
        interior: Sequence[int] | None = None,
    ):
        interior = interior or [0] * len(low)
        properties = {
            "low": dims_attr(low),
            "high": dims_attr(high),
            "interior": ints(interior),
            "value": StringAttr(value),
        }
        super().__init__(operands=[input], properties=properties, result_types=[_infer_pad(input, low, high, interior)])

    @property
    def number(self) -> float:
        """The constant that pads."""
        return _number(self.value.data)

    def infer(self) -> TensorType:
        _number(self.value.data)
        return _infer_pad(self.input, dims_of(self.low), dims_of(self.high), ints_of(self.interior))

    def statements(self) -> tuple[Statement, ...]:
        source, target = shape_of(self.input), shape_of(self.result)
        names = " ".join(iterators(len(target)))
        padding = enumerate(zip(dims_of(self.low), ints_of(self.interior), strict=True))
        out = [f"i{n}*{k + 1} + ({low})" for n, (low, k) in padding]
        copy = statement(names, source, f"x0[{', '.join(iterators(len(source))) or '()'}]", out="; ".join(out))
        value = f"{element_of(self.result)}({self.value.data})"
        if any(ints_of(self.interior)):
            return (statement(names, target, value), copy)
        return (copy, *self._borders(value))

    def _borders(self, value: str) -> list[Statement]:
        """Return statements that write disjoint boxes around the copy: for each dimension n the box before and the box
        after it. These boxes have the copy's extent in the dimensions before n, and the whole extent in the dimensions
        after n."""
        source, target = shape_of(self.input), shape_of(self.result)
        low, high = dims_of(self.low), dims_of(self.high)
        names, boxes = iterators(len(target)), []
        for n in range(len(target)):
            for extent, start in ((low[n], 0), (high[n], low[n] + source[n])):
                if extent == 0:
                    continue
                bounds = (*source[:n], extent, *target[n + 1 :])
                out = [f"i{k} + ({low[k]})" if k < n else names[k] for k in range(len(target))]
                out[n] = f"i{n} + ({start})"
                boxes.append(statement(" ".join(names), bounds, value, out="; ".join(out)))
        return boxes


def _number(text: str) -> float:
    """Return the value of a literal in scalar expressions, such as ``(-inf)``."""
    value = parse(text)
    if not isinstance(value, Const):
        raise VerifyException(f"graph.pad: the value {text!r} is not a number")
    return float(value.value)


def _infer_pad(input: SSAValue, low: Sequence[DimLike], high: Sequence[DimLike], interior: Sequence[int]) -> TensorType:
    shape = shape_of(input)
    if not len(shape) == len(low) == len(high) == len(interior):
        raise VerifyException(f"graph.pad: low, high and interior must have one entry for each dimension of {shape}")
    if any(isinstance(p, int) and p < 0 for p in (*low, *high, *interior)):
        raise VerifyException(f"graph.pad: negative padding {list(low)}, {list(high)}; use graph.slice")
    grown = [d + a + b + (d - 1) * k if k else d + a + b for d, a, b, k in zip(shape, low, high, interior, strict=True)]
    return tensor(element_of(input), grown)
