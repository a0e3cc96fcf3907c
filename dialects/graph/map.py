"""The elementwise operator ``graph.map``, over any scalar expression."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def, result_def, traits_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import PURE, StructuredOp, broadcast_index, broadcast_shapes, iterators
from mlc.dialects.graph.traits import Elementwise
from mlc.dialects.semantics.expr import Expr, ExprError, Load, element_type, loads, parse, substitute, verify_computes
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import Shape, element_of, shape_of, tensor


@irdl_op_definition
class MapOp(StructuredOp):
    """A scalar expression at every point of the broadcast shape of its operands (NumPy broadcasting).

    ``%y = graph.map "max(x0 + x1, 0)"(%x, %bias) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>``
    """

    name = "graph.map"
    expr = prop_def(StringAttr)
    args = var_operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(PURE, Elementwise())
    assembly_format = "$expr `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, expr: str | Expr, args: Sequence[SSAValue]):
        text = str(expr if not isinstance(expr, str) else parse(expr))
        super().__init__(operands=[args], properties={"expr": StringAttr(text)}, result_types=[_infer(text, args)])

    @classmethod
    def reading(cls, expr: Expr, args: Sequence[SSAValue]) -> MapOp:
        """Return a map of ``expr`` over the operands in ``args`` that it reads: ``x2 * x2`` becomes ``x0 * x0`` of the
        last one."""
        read = sorted({load.operand for load in loads(expr)})
        return cls(substitute(expr, lambda load: Load(read.index(load.operand))), [args[n] for n in read])

    @property
    def scalar(self) -> Expr:
        return parse(self.expr.data)

    def infer(self) -> TensorType:
        return _infer(self.expr.data, self.args)

    def statements(self) -> tuple[Statement, ...]:
        return _statements(self.expr.data, tuple(shape_of(a) for a in self.operands), shape_of(self.results[0]))


@lru_cache(maxsize=4096)
def _statements(text: str, args: tuple[Shape, ...], shape: Shape) -> tuple[Statement, ...]:
    names = iterators(len(shape))
    at = [parse(f"x{n}{broadcast_index(a, len(shape))}") for n, a in enumerate(args)]
    value = substitute(parse(text), lambda load: at[load.operand])
    out = tuple(parse(n) for n in names)
    return (Statement(tuple(names), shape, (False,) * len(shape), out, value),)


def _infer(text: str, args: Sequence[SSAValue]) -> TensorType:
    return _inferred(text, tuple(a.type for a in args))


@lru_cache(maxsize=4096)
def _inferred(text: str, args: tuple[Attribute, ...]) -> TensorType:
    """Return the type of a map, from its expression and the types of its operands. Cached: a model repeats few of
    them."""
    element = scalar_element("graph.map", text, args)
    return tensor(element, broadcast_shapes([shape_of(a) for a in args]))


def scalar_element(op: str, text: str, args: Sequence[SSAValue | Attribute], *, indexed: bool = False) -> str:
    """Return the element type of ``text``, a scalar expression over whole operands of the operator ``op``.

    ``indexed``: the expression is over elements of the operands instead, ``x0[i0, i1]``.

    Raises:
        VerifyException: not an expression over ``args``, or of no one type.
    """
    try:
        expr, elements = parse(text), [element_of(a) for a in args]
        for load in loads(expr):
            _verify_load(op, text, load, args, indexed)
        verify_computes(expr, elements)
        element = element_type(expr, elements)
    except ExprError as e:
        raise VerifyException(f"{op}: {e}") from e
    if element is None:
        raise VerifyException(f"{op}: {text} has no type; write a cast such as f32(...)")
    return element


def _verify_load(op: str, text: str, load: Load, args: Sequence[SSAValue | Attribute], indexed: bool) -> None:
    """Check that a load names an operand and, if it reads an element, has an index for each dimension of the
    operand."""
    if load.operand >= len(args):
        raise VerifyException(f"{op}: {text} reads x{load.operand} of {len(args)} operands")
    rank, given = len(shape_of(args[load.operand])), len(load.index or ())
    if indexed and given != rank:
        raise VerifyException(f"{op}: {load} has {given} indices for an operand of rank {rank}")
    if not indexed and load.index is not None:
        raise VerifyException(f"{op} reads whole operands (x0), not elements (x0[i])")
