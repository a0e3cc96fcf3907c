"""Contractions: generalised matrix products and convolutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, TensorType
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

from mlc.dialects.dims import DimLike, floordiv
from mlc.dialects.evaluate import Array
from mlc.dialects.expr import Expr, element_type, parse, substitute
from mlc.dialects.graph.base import PURE, StructuredOp, ints, ints_of
from mlc.dialects.statement import Statement, statement
from mlc.dialects.types import Shape, element_of, shape_of, tensor


@irdl_op_definition
class ContractOp(StructuredOp):
    """Sum of products over the letters missing in the result (an einsum of two operands; extents of 1 broadcast).

    ``%c = graph.contract "bmk,bkn->bmn"(%a, %b) : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>``

    With ``columns = N, block = b`` the right operand ``kn`` is stored packed, as panels [ceil(N/b), K, b].
    With ``product`` it is the sum of that expression of an element of each: ``"i32(x0) * i32(x1)"`` of bytes.
    """

    name = "graph.contract"
    equation = prop_def(StringAttr)
    columns = opt_prop_def(IntegerAttr)
    block = opt_prop_def(IntegerAttr)
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
        packing: tuple[int, int] | None = None,
        product: StringAttr | None = None,
    ):
        columns, block = (IntegerAttr(v, 64) for v in packing) if packing else (None, None)
        super().__init__(
            operands=[lhs, rhs],
            properties={"equation": StringAttr(equation), "columns": columns, "block": block, "product": product},
            result_types=[_infer_contract(equation, lhs, rhs, packing, product)],
        )

    @property
    def terms(self) -> tuple[str, str, str]:
        """Letters of lhs, rhs and result."""
        return _terms(self.equation.data)

    @property
    def packing(self) -> tuple[int, int] | None:
        """(columns, block) of a packed right operand."""
        return (self.columns.value.data, self.block.value.data) if self.columns and self.block else None

    def infer(self) -> TensorType:
        return _infer_contract(self.equation.data, self.lhs, self.rhs, self.packing, self.product)

    def extents(self) -> dict[str, DimLike]:
        return _extents(self.terms, shape_of(self.lhs), _unpacked(self.rhs, self.packing))

    def statements(self) -> tuple[Statement, ...]:
        lhs, rhs, out = self.terms
        extents = self.extents()
        reduce = [c for c in extents if c not in out]
        left, right = _read(lhs, shape_of(self.lhs), extents), _read(rhs, _unpacked(self.rhs, self.packing), extents)
        if self.packing:
            block = self.packing[1]
            right = [f"{right[1]}//{block}", right[0], f"{right[1]}%{block}"]
        bounds = tuple(extents[c] for c in (*out, *reduce))
        value = term(self.product, f"x0[{', '.join(left) or '()'}]", f"x1[{', '.join(right) or '()'}]")
        return (statement(" ".join(out), bounds, value, reduce=" ".join(reduce), monoid="add"),)

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """As the statement says, but through ``np.einsum`` (BLAS) where the operands are floats of full extent."""
        shapes = shape_of(self.lhs), shape_of(self.rhs)
        extents = self.extents()
        named = (pair for t, s in zip(self.terms, shapes, strict=False) for pair in zip(t, s, strict=False))
        stretched = any(extents[letter] != size for letter, size in named)
        if self.packing or self.product or stretched or operands[0].dtype not in (np.float32, np.float64):
            return super().evaluate(operands, symbols)
        return np.asarray(np.einsum(self.equation.data, *operands, optimize=True))


def term(product: StringAttr | None, lhs: str, rhs: str) -> str:
    """What an element of each operand adds to the sum."""
    reads = [parse(lhs), parse(rhs)]
    return str(substitute(_product(product), lambda load: reads[load.operand]))


def _product(product: StringAttr | None) -> Expr:
    return parse(product.data if product else "x0 * x1")


def product_element(op: str, product: StringAttr | None, lhs: SSAValue, rhs: SSAValue) -> str:
    """The element of a product of two operands.

    Raises:
        VerifyException: they differ where no expression says how they are multiplied, or it is not one of them.
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


def _unpacked(rhs: SSAValue, packing: tuple[int, int] | None) -> Shape:
    return (shape_of(rhs)[1], packing[0]) if packing else shape_of(rhs)


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
    equation: str, lhs: SSAValue, rhs: SSAValue, packing: tuple[int, int] | None, product: StringAttr | None
) -> TensorType:
    terms, stored = _terms(equation), shape_of(rhs)
    if packing and (len(stored) != 3 or stored[0] != -(-packing[0] // packing[1]) or stored[2] != packing[1]):
        raise VerifyException(f"graph.contract: {stored} does not hold {packing[0]} columns in panels of {packing[1]}")
    extents = _extents(terms, shape_of(lhs), _unpacked(rhs, packing))
    element = product_element("graph.contract", product, lhs, rhs)
    if not set(terms[2]) <= set(extents) or len(set(terms[2])) != len(terms[2]):
        raise VerifyException(f"graph.contract: result {terms[2]!r} of {equation!r} is not made of operand dimensions")
    return tensor(element, (extents[c] for c in terms[2]))


LAYOUTS = ("NCX", "NCXc", "NCXc_depthwise")


@irdl_op_definition
class ConvOp(StructuredOp):
    """Convolution without padding (that is a ``graph.pad`` before it), in any number of spatial dimensions X.

    layout ``NCX``: input [N, C, X…], weight [F, C/groups, K…] as in ONNX Conv. ``product`` as in graph.contract.
    layout ``NCXc``: channels blocked; input [N, C/b, X…, b], weight [F/b', C/(b·groups), K…, b, b'], result 
    [N, F/b', X…, b']. layout ``NCXc_depthwise``: input [N, C/b, X…, b], weight [C/b, K…, b].

    ``%y = graph.conv(%x, %w) {strides = [2, 2], dilations = [1, 1], groups = 1, layout = "NCX"} : …``
    """

    name = "graph.conv"
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    result = result_def(TensorType)
    strides = prop_def(DenseArrayBase)
    dilations = prop_def(DenseArrayBase)
    groups = prop_def(IntegerAttr)
    layout = prop_def(StringAttr)
    product = opt_prop_def(StringAttr)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `,` $weight `)` attr-dict `:` functional-type(operands, $result)"

    def __init__(
        self,
        input: SSAValue,
        weight: SSAValue,
        strides: Sequence[int],
        dilations: Sequence[int],
        groups: int = 1,
        layout: str = "NCX",
        product: StringAttr | None = None,
    ):
        properties = {
            "strides": ints(strides),
            "dilations": ints(dilations),
            "groups": IntegerAttr(groups, 64),
            "layout": StringAttr(layout),
            "product": product,
        }
        result = _infer_conv(layout, input, weight, strides, dilations, groups, product)
        super().__init__(operands=[input, weight], properties=properties, result_types=[result])

    def infer(self) -> TensorType:
        windows, groups = (ints_of(self.strides), ints_of(self.dilations)), self.groups.value.data
        return _infer_conv(self.layout.data, self.input, self.weight, *windows, groups, self.product)

    def statements(self) -> tuple[Statement, ...]:
        rank = len(self.strides)
        strides, dilations = ints_of(self.strides), ints_of(self.dilations)
        window = [f"y{n}*{s} + k{n}*{d}" for n, (s, d) in enumerate(zip(strides, dilations, strict=True))]
        spatial, kernel = [f"y{n}" for n in range(rank)], [f"k{n}" for n in range(rank)]
        make = {"NCX": self._plain, "NCXc": self._blocked, "NCXc_depthwise": self._depthwise}[self.layout.data]
        return (make(window, spatial, kernel),)

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """As the statement says; plain layouts of floats as a product with all windows, which is faster.

        In float64, rounded once: how a sum in float32 comes out depends on the channel and on the CPU (BLAS).
        """
        x, w = operands
        plain = self.layout.data == "NCX" and not self.product and x.dtype in (np.float32, np.float64)
        if not plain or not x.size or not w.size:
            return super().evaluate(operands, symbols)
        return _by_windows(x, w, ints_of(self.strides), ints_of(self.dilations), self.groups.value.data)

    def _plain(self, window: list[str], spatial: list[str], kernel: list[str]) -> Statement:
        groups, w, out = self.groups.value.data, shape_of(self.weight), shape_of(self.result)
        per_group = floordiv(w[0], groups)
        x, ky = ", ".join(window), ", ".join(kernel)
        value = term(self.product, f"x0[n, g*{w[1]} + c, {x}]", f"x1[g*{per_group} + f, c, {ky}]")
        return statement(
            " ".join(["n", "g", "f", *spatial]),
            (out[0], groups, per_group, *out[2:], *w[1:]),
            value,
            out="; ".join(["n", f"g*{per_group} + f", *spatial]),
            reduce=" ".join(["c", *kernel]),
            monoid="add",
        )

    def _blocked(self, window: list[str], spatial: list[str], kernel: list[str]) -> Statement:
        groups, w, out = self.groups.value.data, shape_of(self.weight), shape_of(self.result)
        per_group = floordiv(w[0], groups)
        x, ky = ", ".join(window), ", ".join(kernel)
        value = term(self.product, f"x0[n, g*{w[1]} + c, {x}, ci]", f"x1[g*{per_group} + f, c, {ky}, ci, fi]")
        return statement(
            " ".join(["n", "g", "f", *spatial, "fi"]),
            (out[0], groups, per_group, *out[2:-1], w[-1], *w[1:-1]),
            value,
            out="; ".join(["n", f"g*{per_group} + f", *spatial, "fi"]),
            reduce=" ".join(["c", *kernel, "ci"]),
            monoid="add",
        )

    def _depthwise(self, window: list[str], spatial: list[str], kernel: list[str]) -> Statement:
        out, w = shape_of(self.result), shape_of(self.weight)
        x, ky = ", ".join(window), ", ".join(kernel)
        return statement(
            " ".join(["n", "c", *spatial, "ci"]),
            (*out, *w[1:-1]),
            term(self.product, f"x0[n, c, {x}, ci]", f"x1[c, {ky}, ci]"),
            reduce=" ".join(kernel),
            monoid="add",
        )


def _by_windows(x: Array, w: Array, strides: Sequence[int], dilations: Sequence[int], groups: int) -> Array:
    reach = [d * (k - 1) + 1 for k, d in zip(w.shape[2:], dilations, strict=True)]
    axes = tuple(range(2, x.ndim))
    windows = np.lib.stride_tricks.sliding_window_view(x, reach, axes)
    steps = [slice(None), slice(None), *(slice(None, None, n) for n in (*strides, *dilations))]
    taken = windows[tuple(steps)]
    taken = taken.reshape(x.shape[0], groups, w.shape[1], *taken.shape[2:])
    kernels = w.reshape(groups, w.shape[0] // groups, *w.shape[1:])
    spatial, kernel = "uvw"[: len(strides)], "xyz"[: len(strides)]
    wide = taken.astype(np.float64), kernels.astype(np.float64)
    y = np.einsum(f"ngc{spatial}{kernel},gfc{kernel}->ngf{spatial}", *wide, optimize=True).astype(x.dtype)
    return np.ascontiguousarray(y.reshape(x.shape[0], w.shape[0], *y.shape[3:]))


def window_extent(size: DimLike, kernel: DimLike, stride: int, dilation: int) -> DimLike:
    """Number of positions of a window without padding: floor((size - dilation·(kernel-1) - 1) / stride) + 1."""
    return floordiv(size - dilation * (kernel - 1) - 1, stride) + 1


def verify_window(op: str, rank: int, strides: Sequence[int], dilations: Sequence[int]) -> None:
    """Windows move by one stride and look at one dilation a dimension, of at least 1."""
    if not len(strides) == len(dilations) == rank or min((*strides, *dilations), default=1) < 1:
        given = f"strides {list(strides)} and dilations {list(dilations)}"
        raise VerifyException(f"{op}: {given} must be numbers from 1, one for each of {rank} dimensions")


def _verify_filters(weight: SSAValue, groups: int) -> None:
    filters = shape_of(weight)[0]
    if groups < 1 or (isinstance(filters, int) and filters % groups):
        raise VerifyException(f"graph.conv: {filters} filters do not make {groups} equal groups")


def _infer_conv(
    layout: str, input: SSAValue, weight: SSAValue, strides: Sequence[int], dilations: Sequence[int], groups: int,
    product: StringAttr | None,
) -> TensorType:  # fmt: skip
    if layout not in LAYOUTS:
        raise VerifyException(f"graph.conv: layout {layout!r} is none of {', '.join(LAYOUTS)}")
    verify_window("graph.conv", len(strides), strides, dilations)
    x, w, rank = shape_of(input), shape_of(weight), len(strides)
    first = 1 if layout == "NCXc_depthwise" else 2
    expected = {"NCX": (rank + 2, rank + 2), "NCXc": (rank + 3, rank + 4), "NCXc_depthwise": (rank + 3, rank + 2)}
    if (len(x), len(w)) != expected[layout]:
        ranks = f"{expected[layout]}, not {len(x)} and {len(w)}"
        raise VerifyException(f"graph.conv: {layout} takes operands of rank {ranks}")
    channels = x[1] == (w[0] if layout == "NCXc_depthwise" else w[1] * groups)
    if not channels or (layout != "NCX" and x[-1] != w[-2 if layout == "NCXc" else -1]):
        raise VerifyException(f"graph.conv: channels of input {x} and weight {w} with {groups} groups do not match")
    element = product_element("graph.conv", product, input, weight)
    _verify_filters(weight, 1 if layout == "NCXc_depthwise" else groups)
    spatial = [
        window_extent(x[2 + n], w[first + n], s, d) for n, (s, d) in enumerate(zip(strides, dilations, strict=True))
    ]
    if any(isinstance(s, int) and s < 0 for s in spatial):
        raise VerifyException(f"graph.conv: window {w[first : first + rank]} does not fit into input {x}")
    tail = () if layout == "NCX" else (w[-1],)
    return tensor(element, (x[0], w[0], *spatial, *tail))
