"""Elementwise operators: one operator, ``graph.map``, over any scalar expression."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, prop_def, result_def, traits_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.expr import Expr, ExprError, element_type, loads, parse, substitute, verify_computes
from mlc.dialects.graph.base import PURE, StructuredOp, broadcast_index, broadcast_shapes, iterators
from mlc.dialects.statement import Statement
from mlc.dialects.types import element_of, shape_of, tensor


@irdl_op_definition
class MapOp(StructuredOp):
    """A scalar expression at every point of the broadcast shape of its operands (NumPy broadcasting).

    ``%y = graph.map "max(x0 + x1, 0)"(%x, %bias) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>``
    """

    name = "graph.map"
    expr = prop_def(StringAttr)
    args = var_operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(PURE)
    assembly_format = "$expr `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, expr: str | Expr, args: Sequence[SSAValue]):
        text = str(expr if not isinstance(expr, str) else parse(expr))
        super().__init__(
            operands=[args], properties={"expr": StringAttr(text)}, result_types=[_infer(text, args)]
        )

    @property
    def scalar(self) -> Expr:
        return parse(self.expr.data)

    def infer(self) -> TensorType:
        return _infer(self.expr.data, self.args)

    def statements(self) -> tuple[Statement, ...]:
        shape = shape_of(self.result)
        names = iterators(len(shape))
        at = [parse(f"x{n}{broadcast_index(shape_of(a), len(shape))}") for n, a in enumerate(self.args)]
        value = substitute(self.scalar, lambda load: at[load.operand])
        out = tuple(parse(n) for n in names)
        return (Statement(tuple(names), shape, (False,) * len(shape), out, value),)


def _infer(text: str, args: Sequence[SSAValue]) -> TensorType:
    element = scalar_element("graph.map", text, args)
    return tensor(element, broadcast_shapes([shape_of(a) for a in args]))


def scalar_element(op: str, text: str, args: Sequence[SSAValue]) -> str:
    """The element name in which ``text`` computes, a scalar expression over whole operands of the operator ``op``.

    Raises:
        VerifyException: not an expression over ``args``, or of no one type.
    """
    try:
        expr = parse(text)
        used = {load.operand for load in loads(expr)}
        if any(load.index is not None for load in loads(expr)):
            raise VerifyException(f"{op} reads whole operands (x0), not elements (x0[i])")
        if used and max(used) >= len(args):
            raise VerifyException(f"{op}: {text} reads x{max(used)} of {len(args)} operands")
        elements = [element_of(a) for a in args]
        verify_computes(expr, elements)
        element = element_type(expr, elements)
    except ExprError as e:
        raise VerifyException(f"{op}: {e}") from e
    if element is None:
        raise VerifyException(f"{op}: {text} has no type; write a cast such as f32(...)")
    return element
