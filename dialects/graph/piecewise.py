"""Index-set splitting: an operator that computes another expression in each box of its result."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, prop_def, result_def, traits_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import PURE, StructuredOp, ints, ints_of, iterators
from mlc.dialects.graph.map import scalar_element
from mlc.dialects.semantics.dims import product
from mlc.dialects.semantics.expr import parse
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.types import tensor

Box = tuple[tuple[int, ...], tuple[int, ...]]
"""The first element and the extents of a box."""


@irdl_op_definition
class PiecewiseOp(StructuredOp):
    """An expression ``exprs[n]`` at each point ``i0, i1, …`` of box ``n``, counted from its first element. The boxes
    partition the result. A shift over a periodic line:

    ``%y = graph.piecewise ["x0[i0 + 7]", "x0[i0]"](%x) {starts = array<i64: 0, 1>, sizes = array<i64: 1, 7>} : …``
    """

    name = "graph.piecewise"
    exprs = prop_def(ArrayAttr[StringAttr])
    args = var_operand_def(TensorType)
    result = result_def(TensorType)
    starts = prop_def(DenseArrayBase)
    sizes = prop_def(DenseArrayBase)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$exprs `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, exprs: Sequence[str], args: Sequence[SSAValue], boxes: Sequence[Box]):
        strings = [str(parse(each)) for each in exprs]
        super().__init__(
            operands=[args],
            properties={
                "exprs": ArrayAttr(StringAttr(each) for each in strings),
                "starts": ints([n for start, _ in boxes for n in start]),
                "sizes": ints([n for _, size in boxes for n in size]),
            },
            result_types=[_infer(strings, args, boxes)],
        )

    @property
    def boxes(self) -> list[Box]:
        rank = len(ints_of(self.sizes)) // len(self.exprs)
        ends = range(0, rank * len(self.exprs), rank)
        return [(ints_of(self.starts)[n : n + rank], ints_of(self.sizes)[n : n + rank]) for n in ends]

    def infer(self) -> TensorType:
        return _infer([each.data for each in self.exprs], self.args, self.boxes)

    def statements(self) -> tuple[Statement, ...]:
        made = []
        for expr, (start, sizes) in zip(self.exprs, self.boxes, strict=True):
            names = iterators(len(sizes))
            out = "; ".join(f"{name} + {first}" for name, first in zip(names, start, strict=True))
            made.append(statement(" ".join(names), sizes, expr.data, out=out))
        return tuple(made)


def _infer(exprs: Sequence[str], args: Sequence[SSAValue], boxes: Sequence[Box]) -> TensorType:
    elements = {scalar_element("graph.piecewise", each, args, indexed=True) for each in exprs}
    if len(elements) != 1 or len(exprs) != len(boxes):
        raise VerifyException(f"graph.piecewise: {len(exprs)} expressions of {len(elements)} types, {len(boxes)} boxes")
    shape = [max(s + d for s, d in axis) for axis in zip(*(zip(*box, strict=True) for box in boxes), strict=True)]
    if sum(map(product, (sizes for _, sizes in boxes))) != product(shape):
        raise VerifyException(f"graph.piecewise: the boxes do not partition {shape}")
    return tensor(elements.pop(), shape)
