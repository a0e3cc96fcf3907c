"""Winograd's convolution of a gradient: the derivative of a 3x3 convolution with respect to its filters
(``minimal_filtering.py``).

    rows → points of the image and of the adjoint → products, summed over all tiles → tap rows → taps

The tiles of all images are the terms of one matrix product for each of the a x a points, so the points come first:
[a*a, C, N, th, tw, b].
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, TensorType, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import PURE
from mlc.dialects.graph.minimal_filtering import TAPS, even_odd, matrices, paired, transform
from mlc.dialects.graph.traits import FusesWithProducer
from mlc.dialects.graph.winograd import WinogradOp, WinogradRowsOp, tiles_in
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.types import element_of, shape_of, tensor


class _ReadsRowsAlone(FusesWithProducer):
    """Holds if the operator reads rows that no other operator reads."""

    def holds(self, op: Operation) -> bool:
        assert isinstance(op, (WinogradPointsOp, WinogradTapsOp))
        return isinstance(op.input.owner, (WinogradRowsOp, WinogradTapRowsOp)) and op.input.has_one_use()


@irdl_op_definition
class WinogradPointsOp(WinogradOp):
    """The input transform (Bᵀ d) B of each tile of ``graph.winograd_rows``, with the points as first dimension: [N, C,
    th, a, m*tw + 2, b] → [a*a, C, N, th, tw, b]; with ``adjoint``, (A y) Aᵀ of [N, C, th, a, m*tw, b].

    ``%v = graph.winograd_points(%t) {m = 4} : (tensor<8x4x2x6x10x16xf32>) -> tensor<36x4x8x2x2x16xf32>``
    """

    name = "graph.winograd_points"
    traits = traits_def(PURE, _ReadsRowsAlone())
    input = operand_def(TensorType)
    result = result_def(TensorType)
    adjoint = opt_prop_def(UnitAttr)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, m: int, adjoint: bool = False):
        super().__init__(
            operands=[input],
            properties={"m": IntegerAttr(m, 64), "adjoint": UnitAttr() if adjoint else None},
            result_types=[_infer_points(input, m, adjoint)],
        )

    def infer(self) -> TensorType:
        return _infer_points(self.input, self.tile, bool(self.adjoint))

    def statements(self) -> tuple[Statement, ...]:
        n, c, th, a, _, b = shape_of(self.input)
        matrix, tw = transform(self.tile, bool(self.adjoint)), shape_of(self.result)[4]
        read = [f"x0[n, c, ty, i, {self.tile}*tx + {k}, ci]" for k in range(len(matrix[0]))]
        bounds = (n, c, th, a, tw, b)
        return tuple(
            statement("n c ty i tx ci", bounds, even_odd(row, read), out=f"{a}*i + {j}; c; n; ty; tx; ci")
            for j, row in enumerate(matrix)
        )


def _infer_points(input: SSAValue, m: int, adjoint: bool) -> TensorType:
    name, shape = WinogradPointsOp.name, shape_of(input)
    if m not in (2, 4) or len(shape) != 6 or shape[3] != m + TAPS - 1:
        raise VerifyException(f"{name} takes [N, C, th, m + 2, W, b] and m of 2 or 4, not {shape} and {m}")
    n, c, th, a, w, b = shape
    return tensor(element_of(input), (a * a, c, n, th, tiles_in(name, w, m, adjoint), b))


@irdl_op_definition
class WinogradTapRowsOp(WinogradOp):
    """The rows of the filter transform, Gᵀ q, of the sums of all tiles: [C, F, a*a, c, f] → [C, F, c, 3, a, f].

    ``%s = graph.winograd_tap_rows(%q) {m = 4} : (tensor<4x8x36x16x16xf32>) -> tensor<4x8x16x3x6x16xf32>``
    """

    name = "graph.winograd_tap_rows"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, m: int):
        result = _infer_tap_rows(input, m)
        super().__init__(operands=[input], properties={"m": IntegerAttr(m, 64)}, result_types=[result])

    def infer(self) -> TensorType:
        return _infer_tap_rows(self.input, self.tile)

    def statements(self) -> tuple[Statement, ...]:
        c, f, ci, _, a, fi = shape_of(self.result)
        read = [f"x0[c, f, {i}*{a} + j, ci, fi]" for i in range(self.tile + TAPS - 1)]
        return tuple(
            statement("c f ci j fi", (c, f, ci, a, fi), paired(row, read), out=f"c; f; ci; {k}; j; fi")
            for k, row in enumerate(_by_taps(self.tile))
        )


def _by_taps(m: int) -> Sequence[Sequence[float]]:
    """Return Gᵀ [3, a]."""
    return tuple(zip(*matrices(m)[1], strict=True))


def _infer_tap_rows(input: SSAValue, m: int) -> TensorType:
    name, shape, a = WinogradTapRowsOp.name, shape_of(input), m + TAPS - 1
    if m not in (2, 4) or len(shape) != 5 or shape[2] != a * a:
        raise VerifyException(f"{name} takes [C, F, (m + 2)², c, f] and m of 2 or 4, not {shape} and {m}")
    c, f, _, ci, fi = shape
    return tensor(element_of(input), (c, f, ci, TAPS, a, fi))


@irdl_op_definition
class WinogradTapsOp(WinogradOp):
    """The derivative with respect to the taps, (Gᵀ q) G, from ``graph.winograd_tap_rows``: [C, F, c, 3, a, f] → [C, F,
    3, 3, c, f].

    ``%g = graph.winograd_taps(%s) {m = 4} : (tensor<4x8x16x3x6x16xf32>) -> tensor<4x8x3x3x16x16xf32>``
    """

    name = "graph.winograd_taps"
    traits = traits_def(PURE, _ReadsRowsAlone())
    input = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, m: int):
        result = _infer_taps(input, m)
        super().__init__(operands=[input], properties={"m": IntegerAttr(m, 64)}, result_types=[result])

    def infer(self) -> TensorType:
        return _infer_taps(self.input, self.tile)

    def statements(self) -> tuple[Statement, ...]:
        c, f, _, _, ci, fi = shape_of(self.result)
        read = [f"x0[c, f, ci, i, {j}, fi]" for j in range(self.tile + TAPS - 1)]
        return tuple(
            statement("c f ci i fi", (c, f, ci, TAPS, fi), paired(row, read), out=f"c; f; i; {k}; ci; fi")
            for k, row in enumerate(_by_taps(self.tile))
        )


def _infer_taps(input: SSAValue, m: int) -> TensorType:
    name, shape = WinogradTapsOp.name, shape_of(input)
    if m not in (2, 4) or len(shape) != 6 or shape[3:5] != (TAPS, m + TAPS - 1):
        raise VerifyException(f"{name} takes [C, F, c, 3, m + 2, f] and m of 2 or 4, not {shape} and {m}")
    c, f, ci, _, _, fi = shape
    return tensor(element_of(input), (c, f, TAPS, TAPS, ci, fi))
