"""Winograd convolution: the transforms of tiles before and after the products of a 3x3 convolution
(``minimal_filtering.py``).

    rows → input → products, a convolution of 1x1 with a group for each of the a x a points of a tile → sums → output

Rows and columns of tiles have a dimension each: [.., th, tw, b]. If the products iterate over all tiles, a reshape
joins both dimensions. Without the reshape, the transforms fuse with the products, and all run a row of tiles at a time.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, TensorType, UnitAttr
from xdsl.ir import Operation, SSAValue
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

from mlc.dialects.graph.base import PURE, StructuredOp
from mlc.dialects.graph.conv import ConvOp
from mlc.dialects.graph.minimal_filtering import TAPS, even_odd, matrices, transform
from mlc.dialects.graph.traits import FusesWithConsumer, FusesWithProducer
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.types import element_of, is_float, shape_of, tensor


class WinogradOp(StructuredOp):
    """A stage of Winograd's convolution: tiles of m x m outputs from a x a inputs, a = m + 2."""

    m = prop_def(IntegerAttr)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)

    @property
    def tile(self) -> int:
        return self.m.value.data

    @property
    def whole(self) -> bool:
        """Whether the tiles are of integers."""
        return not is_float(element_of(self.operands[0]))


@irdl_op_definition
class WinogradRowsOp(WinogradOp):
    """The rows of the input transform, Bᵀ d, for each row of tiles: [N, C, m*th + 2, W, b] → [N, C, th, a, W, b].

    ``%t = graph.winograd_rows(%x) {m = 4} : (tensor<1x4x58x58x16xf32>) -> tensor<1x4x14x6x58x16xf32>``

    Rows of bytes are i16, as are the tiles; sums of products of both are i32.

    With ``adjoint``, it is A y of the rows of an adjoint [N, C, m*th, W, b], whose tiles of m x m do not overlap.
    """

    name = "graph.winograd_rows"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    adjoint = opt_prop_def(UnitAttr)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, m: int, adjoint: bool = False):
        super().__init__(
            operands=[input],
            properties={"m": IntegerAttr(m, 64), "adjoint": UnitAttr() if adjoint else None},
            result_types=[_infer_rows(input, m, adjoint)],
        )

    def infer(self) -> TensorType:
        return _infer_rows(self.input, self.tile, bool(self.adjoint))

    def statements(self) -> tuple[Statement, ...]:
        n, c, th, _, w, b = shape_of(self.result)
        matrix = transform(self.tile, bool(self.adjoint), self.whole)
        read = [f"x0[n, c, {self.tile}*ty + {k}, w, ci]" for k in range(len(matrix[0]))]
        read = [f"i16({x})" for x in read] if self.whole else read
        return tuple(
            statement("n c ty w ci", (n, c, th, w, b), even_odd(row, read), out=f"n; c; ty; {i}; w; ci")
            for i, row in enumerate(matrix)
        )


def tiles_in(op: str, extent: object, m: int, adjoint: bool = False) -> int:
    """Return the number of tiles in an extent of data, where tiles overlap by two, or of an adjoint, where they do
    not.

    Raises:
        VerifyException: the extent is no whole number of tiles.
    """
    overlap = 0 if adjoint else TAPS - 1
    if not isinstance(extent, int) or extent < m + overlap or (extent - overlap) % m:
        raise VerifyException(f"{op}: an extent of {extent} is no whole number of tiles of {m}, plus {overlap}")
    return (extent - overlap) // m


def _infer_rows(input: SSAValue, m: int, adjoint: bool) -> TensorType:
    name, shape = WinogradRowsOp.name, shape_of(input)
    if len(shape) != 5 or m not in (2, 4):
        raise VerifyException(f"{name} takes [N, C, H, W, b] and m of 2 or 4, not {shape} and {m}")
    n, c, h, w, b = shape
    element = "i16" if element_of(input) in ("i8", "ui8") else element_of(input)
    return tensor(element, (n, c, tiles_in(name, h, m, adjoint), m + TAPS - 1, w, b))


class _ReadByOneProduct(FusesWithConsumer):
    """Holds if one product alone reads the tiles directly. If two did, each of them could need the results of the
    other."""

    def holds(self, op: Operation) -> bool:
        assert isinstance(op, WinogradInputOp)
        use = op.result.get_unique_use()
        return use is not None and isinstance(use.operation, ConvOp) and op.input.has_one_use()


class _ReadsRows(FusesWithProducer):
    """Holds if the operator reads a ``graph.winograd_rows`` directly. The rows that a reshape reads have their own
    kernel."""

    def holds(self, op: Operation) -> bool:
        assert isinstance(op, WinogradInputOp)
        return isinstance(op.input.owner, WinogradRowsOp)


@irdl_op_definition
class WinogradInputOp(WinogradOp):
    """The columns of the input transform, (Bᵀ d) B, for each tile of ``graph.winograd_rows``: [N, C, th, a, m*tw + 2,
    b] → [N, a*a*C, th, tw, b].

    ``%v = graph.winograd_input(%t) {m = 4} : (tensor<1x4x14x6x58x16xf32>) -> tensor<1x144x14x14x16xf32>``
    """

    name = "graph.winograd_input"
    traits = traits_def(PURE, _ReadsRows(), _ReadByOneProduct())
    input = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, m: int):
        super().__init__(operands=[input], properties={"m": IntegerAttr(m, 64)}, result_types=[_infer_input(input, m)])

    def infer(self) -> TensorType:
        return _infer_input(self.input, self.tile)

    def statements(self) -> tuple[Statement, ...]:
        m, (n, c, th, a, w, b) = self.tile, shape_of(self.input)
        tw = tiles_in(self.name, w, m)
        read = [f"x0[n, c, ty, i, {m}*tx + {k}, ci]" for k in range(m + TAPS - 1)]
        bounds = (n, c, th, a, tw, b)
        return tuple(
            statement("n c ty i tx ci", bounds, even_odd(row, read), out=f"n; ({a}*i + {j})*{c} + c; ty; tx; ci")
            for j, row in enumerate(matrices(m, self.whole)[2])
        )


def _infer_input(input: SSAValue, m: int) -> TensorType:
    name, shape = WinogradInputOp.name, shape_of(input)
    if m not in (2, 4) or len(shape) != 6 or shape[3] != m + TAPS - 1 or not isinstance(shape[1], int):
        raise VerifyException(f"{name} takes [N, C, th, m + 2, W, b] and m of 2 or 4, not {shape} and {m}")
    n, c, th, a, w, b = shape
    return tensor(element_of(input), (n, a * a * c, th, tiles_in(name, w, m), b))
