"""Winograd's minimal filtering: the transforms of tiles round the products of a 3x3 convolution.

``F(m, r)`` makes m outputs of an r-tap filter from a = m + r - 1 products instead of m*r: y = Aᵀ((G g) ⊙ (Bᵀ d)), and
in two dimensions with a matrix on either side (Lavin and Gray, arXiv 1509.09308). Here r is 3, m 2 or 4. The matrices
come from the points 0, ±5/8, ±3/2 and infinity: their transforms are exact in binary, and the error is half of that
with 0, ±1, 1/2, -2 and a quarter of that with 0, ±1, ±2 (512 channels, sums in blocks of 128).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product as pairs

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.dims import ceildiv
from mlc.dialects.expr import Const, Expr, Index, Load, parse, substitute
from mlc.dialects.graph.base import PURE, StructuredOp, broadcast_index, broadcast_shapes, ints, ints_of
from mlc.dialects.graph.map import scalar_element
from mlc.dialects.statement import Statement, statement
from mlc.dialects.types import Shape, element_of, shape_of, tensor

TAPS = 3
POINTS = (Fraction(0), Fraction(5, 8), Fraction(-5, 8), Fraction(3, 2), Fraction(-3, 2))
Matrix = tuple[tuple[float, ...], ...]


@lru_cache
def matrices(m: int) -> tuple[Matrix, Matrix, Matrix]:
    """(Aᵀ [m, a], G [a, 3], Bᵀ [a, a]) of F(m, 3), by Cook's and Toom's construction; exact but for G's thirds."""
    points = POINTS[: m + TAPS - 2]
    scales = [_value([p - q for q in points if q != p]) for p in points]
    at = [[p**i for p in points] + [Fraction(i == m - 1)] for i in range(m)]
    g = [[p**k / scale for k in range(TAPS)] for p, scale in zip(points, scales, strict=True)]
    bt = [[*_polynomial([q for q in points if q != p]), Fraction(0)] for p in points]
    last = [Fraction(k == TAPS - 1) for k in range(TAPS)]
    return _floats(at), _floats([*g, last]), _floats([*bt, _polynomial(points)])


def _value(factors: Sequence[Fraction]) -> Fraction:
    total = Fraction(1)
    for factor in factors:
        total *= factor
    return total


def _polynomial(roots: Sequence[Fraction]) -> list[Fraction]:
    """Coefficients of ∏(x - root), the constant one first."""
    total = [Fraction(1)]
    for root in roots:
        total = [low - root * high for low, high in zip([Fraction(0), *total], [*total, Fraction(0)], strict=True)]
    return total


def _floats(rows: Sequence[Sequence[Fraction]]) -> Matrix:
    return tuple(tuple(float(v) for v in row) for row in rows)


def _sum(coefficients: Sequence[float], terms: Sequence[str]) -> str:
    """The text of a sum of products, in which equal parts of two sums have equal texts."""
    parts = [t if c == 1 else f"{c!r}*{t}" for c, t in zip(coefficients, terms, strict=True) if c]
    return "(" + " + ".join(parts) + ")"


def _both(rows: Sequence[float], columns: Sequence[float], read: Sequence[Sequence[str]]) -> str:
    return _sum(rows, [_sum(columns, line) for line in read])


@irdl_op_definition
class WinogradInputOp(StructuredOp):
    """Bᵀ d B of each tile d of a x a neighbours: [N, C, m*th + 2, m*tw + 2, b] → [N, a*a*C, th*tw, b].

    ``%v = graph.winograd_input(%x) {m = 4} : (tensor<1x4x58x58x16xf32>) -> tensor<1x144x196x16xf32>``
    """

    name = "graph.winograd_input"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    m = prop_def(IntegerAttr)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, m: int):
        super().__init__(
            operands=[input], properties={"m": IntegerAttr(m, 64)}, result_types=[_infer_input(input, m)]
        )

    def infer(self) -> TensorType:
        return _infer_input(self.input, self.m.value.data)

    def statements(self) -> tuple[Statement, ...]:
        m, (n, c, h, w, b) = self.m.value.data, shape_of(self.input)
        _, _, bt = matrices(m)
        th, tw = _tiles(h, m), _tiles(w, m)
        read = [[f"x0[n, c, {m}*ty + {i}, {m}*tx + {j}, ci]" for j in range(len(bt))] for i in range(len(bt))]
        return tuple(
            statement(
                "n c ty tx ci", (n, c, th, tw, b), _both(row, column, read), out=f"n; {p * c} + c; ty*{tw} + tx; ci"
            )
            for p, (row, column) in enumerate(pairs(bt, bt))
        )


def _tiles(extent: object, m: int) -> int:
    if not isinstance(extent, int) or extent < m + TAPS - 1 or (extent - TAPS + 1) % m:
        raise VerifyException(f"graph.winograd_input: an extent of {extent} is no whole number of tiles of {m}, plus 2")
    return (extent - TAPS + 1) // m


def _infer_input(input: SSAValue, m: int) -> TensorType:
    shape = shape_of(input)
    if len(shape) != 5 or not isinstance(shape[1], int) or m not in (2, 4):
        raise VerifyException(f"graph.winograd_input takes [N, C, H, W, b] and m of 2 or 4, not {shape} and {m}")
    n, c, h, w, b = shape
    return tensor(element_of(input), (n, (m + TAPS - 1) ** 2 * shape[1], _tiles(h, m) * _tiles(w, m), b))


@irdl_op_definition
class WinogradOutputOp(StructuredOp):
    """``expr`` of Aᵀ q A (x0) and of further operands (x1 …, broadcast) at each point: [N, a*a*F, th*tw, b] →
    [N, F, Y, X, b].

    ``%y = graph.winograd_output "max(x0 + x1, 0)"(%q, %bias) {m = 4, extents = [56, 56]} : (…) -> …``
    """

    name = "graph.winograd_output"
    expr = prop_def(StringAttr)
    args = var_operand_def(TensorType)
    result = result_def(TensorType)
    m = prop_def(IntegerAttr)
    extents = prop_def(DenseArrayBase)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$expr `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, expr: str | Expr, args: Sequence[SSAValue], m: int, extents: Sequence[int]):
        super().__init__(
            operands=[args],
            properties={"expr": StringAttr(str(expr)), "m": IntegerAttr(m, 64), "extents": ints(extents)},
            result_types=[_infer_output(str(expr), args, m, tuple(extents))],
        )

    def infer(self) -> TensorType:
        return _infer_output(self.expr.data, self.args, self.m.value.data, ints_of(self.extents))

    def statements(self) -> tuple[Statement, ...]:
        """A statement for each output of a tile; tiles at the far borders, which may be cut, are boxes of their own."""
        height, width = (_parts(extent, self.m.value.data) for extent in ints_of(self.extents))
        return tuple(s for rows in height for columns in width for s in self._box(rows, columns))

    def _box(self, rows: tuple[int, int, int], columns: tuple[int, int, int]) -> list[Statement]:
        (y0, th, height), (x0, tw, width) = rows, columns
        m, shape = self.m.value.data, shape_of(self.result)
        n, f, _, _, b = shape
        at, _, bt = matrices(m)
        across = ceildiv(shape[3], m)
        tile = f"(ty + {y0})*{across} + tx + {x0}"
        read = [[f"x0[n, {(i * len(bt) + j) * f} + f, {tile}, fi]" for j in range(len(bt))] for i in range(len(bt))]
        out = []
        for i, j in pairs(range(height), range(width)):
            place = ("n", "f", f"{m}*(ty + {y0}) + {i}", f"{m}*(tx + {x0}) + {j}", "fi")
            value = self._value(parse(_both(at[i], at[j], read)), [parse(p) for p in place])
            written = statement("n f ty tx fi", (n, f, th, tw, b), "0.0", out="; ".join(place))
            out.append(Statement(written.iters, written.bounds, written.reduction, written.out, value))
        return out

    def _value(self, transformed: Expr, place: Sequence[Expr]) -> Expr:
        """``expr`` at a place of the result."""

        def load(node: Load) -> Expr:
            if node.operand == 0:
                return transformed
            at = parse(f"x{node.operand}{broadcast_index(shape_of(self.args[node.operand]), len(place))}")
            return substitute(at, index=lambda i: place[int(i.name[1:])] if isinstance(i, Index) else Const(0))

        return substitute(parse(self.expr.data), load)


def _parts(extent: int, m: int) -> list[tuple[int, int, int]]:
    """(first tile, tiles, outputs a tile) of the whole tiles of an extent, and of the last, cut one."""
    whole, rest = divmod(extent, m)
    return [p for p in ((0, whole, m), (whole, 1, rest)) if p[1] and p[2]]


def _infer_output(expr: str, args: Sequence[SSAValue], m: int, extents: Shape) -> TensorType:
    if not args or m not in (2, 4):
        given = f"{len(args)} operands and m of {m}"
        wanted = "the products as its first operand, and m of 2 or 4"
        raise VerifyException(f"graph.winograd_output takes {wanted}, not {given}")
    shape, areas = shape_of(args[0]), (m + TAPS - 1) ** 2
    tiles = ceildiv(extents[0], m) * ceildiv(extents[1], m) if len(extents) == 2 else None
    if len(shape) != 4 or shape[2] != tiles or not isinstance(shape[1], int) or shape[1] % areas:
        raise VerifyException(f"graph.winograd_output: {shape} does not hold tiles of {m} for outputs of {extents}")
    result = tensor(element_of(args[0]), (shape[0], shape[1] // areas, *extents, shape[3]))
    _verify_epilogue(expr, args, result)
    return result


def _verify_epilogue(expr: str, args: Sequence[SSAValue], result: TensorType) -> None:
    """``expr`` is of the products' type, and the further operands stretch to the result."""
    element, shape = scalar_element("graph.winograd_output", expr, args), shape_of(result)
    if element != element_of(result):
        types = f"{expr} is {element} of products of {element_of(result)}"
        raise VerifyException(f"graph.winograd_output: {types}; write a graph.map behind it")
    for other in map(shape_of, args[1:]):
        if broadcast_shapes([shape, other]) != shape:
            what = f"an operand of shape {other} is larger than the result {shape}"
            raise VerifyException(f"graph.winograd_output: {what}")
