"""Contractions: generalized matrix products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import PURE
from mlc.dialects.graph.in_layouts import LayoutOp, infer_in_layouts, layouts_attr
from mlc.dialects.graph.layouts import Layouts
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.semantics.expr import Expr, element_type, parse, substitute
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.types import Shape, element_of, shape_of, tensor


@irdl_op_definition
class ContractOp(LayoutOp):
    """A sum of products over the letters that the result lacks (an einsum of two operands; extents of 1 broadcast).

    ``%c = graph.contract "bmk,bkn->bmn"(%a, %b) : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>``

    With ``product`` it sums that expression of one element of each operand: ``"i32(x0) * i32(x1)"`` for bytes.
    """

    name = "graph.contract"
    equation = prop_def(StringAttr)
    product = opt_prop_def(StringAttr)
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    result = result_def(TensorType)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$equation `(` $lhs `,` $rhs `)` attr-dict `:` functional-type(operands, $result)"

    def __init__(
        self,
        equation: str,
        lhs: SSAValue,
        rhs: SSAValue,
        product: StringAttr | None = None,
        layouts: Layouts | None = None,
    ):
        properties = {"equation": StringAttr(equation), "product": product, "layouts": layouts_attr(layouts)}
        result = _infer_contract(equation, lhs, rhs, product, layouts)
        super().__init__(operands=[lhs, rhs], properties=properties, result_types=[result])

    @property
    def terms(self) -> tuple[str, str, str]:
        """The letters of lhs, rhs and result."""
        return _terms(self.equation.data)

    def infer(self) -> TensorType:
        return _infer_contract(self.equation.data, self.lhs, self.rhs, self.product, self.data_layouts)

    def extents(self) -> dict[str, DimLike]:
        return _extents(self.terms, self.plain_shape(0), self.plain_shape(1))

    def plain_statements(self) -> tuple[Statement, ...]:
        lhs, rhs, out = self.terms
        extents = self.extents()
        reduce = [c for c in extents if c not in out]
        left, right = _read(lhs, self.plain_shape(0), extents), _read(rhs, self.plain_shape(1), extents)
        bounds = tuple(extents[c] for c in (*out, *reduce))
        value = term(self.product, f"x0[{', '.join(left) or '()'}]", f"x1[{', '.join(right) or '()'}]")
        return (statement(" ".join(out), bounds, value, reduce=" ".join(reduce), monoid="add"),)

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """Return the statement's result, by ``np.einsum`` (BLAS) in f64 if the operands are floats without
        broadcast."""
        shapes = shape_of(self.lhs), shape_of(self.rhs)
        extents = self.extents()
        named = (pair for t, s in zip(self.terms, shapes, strict=False) for pair in zip(t, s, strict=False))
        stretched = any(extents[letter] != size for letter, size in named)
        if self.data_layouts or self.product or stretched or operands[0].dtype not in (np.float32, np.float64):
            return super().evaluate(operands, symbols)
        wide = [x.astype(np.float64, copy=False) for x in operands]  # of f32, too: BLAS sums it in f32
        return np.asarray(np.einsum(self.equation.data, *wide, optimize=True)).astype(operands[0].dtype, copy=False)


def term(product: StringAttr | None, lhs: str, rhs: str) -> str:
    """Return the term of the sum, from one element of each operand."""
    reads = [parse(lhs), parse(rhs)]
    return str(substitute(_product(product), lambda load: reads[load.operand]))


def _product(product: StringAttr | None) -> Expr:
    return parse(product.data if product else "x0 * x1")


def product_element(op: str, product: StringAttr | None, lhs: SSAValue, rhs: SSAValue) -> str:
    """Return the element type of a product of two operands.

    Raises:
        VerifyException: the element types differ and there is no product expression, or that expression has no type.
    """
    elements = element_of(lhs), element_of(rhs)
    if product is None and elements[0] != elements[1]:
        raise VerifyException(f"{op}: operands are {elements[0]} and {elements[1]}; insert a cast")
    element = element_type(_product(product), elements)
    if element is None:
        raise VerifyException(f"{op}: the product {product} has no type")
    return element


def _read(term: str, shape: Shape, extents: dict[str, DimLike]) -> list[str]:
    return [c if d == extents[c] else "0" for c, d in zip(term, shape, strict=True)]


def _terms(equation: str) -> tuple[str, str, str]:
    left, _, out = equation.partition("->")
    lhs, _, rhs = left.partition(",")
    return lhs, rhs, out


def _extents(terms: tuple[str, str, str], lhs: Shape, rhs: Shape) -> dict[str, DimLike]:
    extents: dict[str, DimLike] = {}
    for term, shape in zip(terms, (lhs, rhs), strict=False):
        if len(term) != len(shape):
            names = f"{term!r} names {len(term)} dimensions"
            raise VerifyException(f"graph.contract: {names} of an operand of shape {shape}")
        for c, d in zip(term, shape, strict=True):
            known = extents.get(c, 1)
            if d != known and d != 1 and known != 1:
                raise VerifyException(f"graph.contract: dimension {c!r} is {known} and {d}")
            extents[c] = known if d == 1 else d
    return extents


def _infer_contract(
    equation: str, lhs: SSAValue, rhs: SSAValue, product: StringAttr | None, layouts: Layouts | None
) -> TensorType:
    terms, element = _terms(equation), product_element("graph.contract", product, lhs, rhs)

    def infer(shapes: Sequence[Shape]) -> TensorType:
        extents = _extents(terms, *shapes)
        if not set(terms[2]) <= set(extents) or len(set(terms[2])) != len(terms[2]):
            wrong = f"result {terms[2]!r} of {equation!r} has dimensions that no operand has"
            raise VerifyException(f"graph.contract: {wrong}")
        return tensor(element, (extents[c] for c in terms[2]))

    return infer_in_layouts([lhs, rhs], layouts, infer)
