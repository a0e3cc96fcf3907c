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
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, TensorType, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
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


def _plain(coefficients: Sequence[float], terms: Sequence[str]) -> tuple[bool, str] | None:
    """(is it negated, text) of a sum of products; None: it is 0. The last coefficient of the text is positive, so that
    sums that differ in sign have equal texts."""
    parts = [(c, t) for c, t in zip(coefficients, terms, strict=True) if c]
    if not parts:
        return None
    negative = parts[-1][0] < 0
    scaled = [(-c if negative else c, t) for c, t in parts]
    return negative, "(" + " + ".join(t if c == 1 else f"{c!r}*{t}" for c, t in scaled) + ")"


def _even_odd(coefficients: Sequence[float], terms: Sequence[str]) -> str:
    """A row of Bᵀ times ``terms``. The rows of the points p and -p are E + O and E - O: they share both."""
    halves = [_plain(coefficients[k::2], terms[k::2]) for k in (0, 1)]
    found = sorted(half for half in halves if half)  # what is added first
    (negative, text), rest = found[0], found[1:]
    text = f"-{text}" if negative else text
    return text + "".join(f" {'-' if minus else '+'} {other}" for minus, other in rest)


def _paired(coefficients: Sequence[float], terms: Sequence[str]) -> str:
    """A row of Aᵀ times ``terms``. The columns of p and -p differ in sign at most: rows share sums of two terms."""
    c, last = coefficients, len(terms) - 1
    parts = [(c[k], f"({terms[k]} {'+' if c[k] == c[k + 1] else '-'} {terms[k + 1]})") for k in range(1, last, 2)]
    parts = [(c[0], terms[0]), *parts, (c[last], terms[last])]
    return " + ".join(t if k == 1 else f"{k!r}*{t}" for k, t in parts if k)


class _WinogradOp(StructuredOp):
    """What the four have in common: tiles of m x m outputs from a x a inputs, a = m + 2."""

    m = prop_def(IntegerAttr)
    traits = traits_def(PURE)
    irdl_options = (ParsePropInAttrDict(),)

    @property
    def tile(self) -> int:
        return self.m.value.data


@irdl_op_definition
class WinogradRowsOp(_WinogradOp):
    """Bᵀ d of the rows of each row of tiles: [N, C, m*th + 2, W, b] → [N, C, th, a, W, b].

    ``%t = graph.winograd_rows(%x) {m = 4} : (tensor<1x4x58x58x16xf32>) -> tensor<1x4x14x6x58x16xf32>``
    """

    name = "graph.winograd_rows"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, m: int):
        super().__init__(operands=[input], properties={"m": IntegerAttr(m, 64)}, result_types=[_infer_rows(input, m)])

    def infer(self) -> TensorType:
        return _infer_rows(self.input, self.tile)

    def statements(self) -> tuple[Statement, ...]:
        n, c, th, a, w, b = shape_of(self.result)
        read = [f"x0[n, c, {self.tile}*ty + {k}, w, ci]" for k in range(len(matrices(self.tile)[2]))]
        return tuple(
            statement("n c ty w ci", (n, c, th, w, b), _even_odd(row, read), out=f"n; c; ty; {i}; w; ci")
            for i, row in enumerate(matrices(self.tile)[2])
        )


def _tiles(op: str, extent: object, m: int) -> int:
    if not isinstance(extent, int) or extent < m + TAPS - 1 or (extent - TAPS + 1) % m:
        raise VerifyException(f"{op}: an extent of {extent} is no whole number of tiles of {m}, plus 2")
    return (extent - TAPS + 1) // m


def _infer_rows(input: SSAValue, m: int) -> TensorType:
    name, shape = WinogradRowsOp.name, shape_of(input)
    if len(shape) != 5 or m not in (2, 4):
        raise VerifyException(f"{name} takes [N, C, H, W, b] and m of 2 or 4, not {shape} and {m}")
    n, c, h, w, b = shape
    return tensor(element_of(input), (n, c, _tiles(name, h, m), m + TAPS - 1, w, b))


@irdl_op_definition
class WinogradInputOp(_WinogradOp):
    """(Bᵀ d) B of each tile, from ``graph.winograd_rows``: [N, C, th, a, m*tw + 2, b] → [N, a*a*C, th*tw, b], or
    ``deep``, [N, a*a*C, th, tw, b].

    ``%v = graph.winograd_input(%t) {m = 4} : (tensor<1x4x14x6x58x16xf32>) -> tensor<1x144x196x16xf32>``
    """

    name = "graph.winograd_input"
    JOINS: ClassVar[bool] = True
    input = operand_def(TensorType)
    result = result_def(TensorType)
    deep = opt_prop_def(UnitAttr)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, m: int, deep: bool = False):
        properties = {"m": IntegerAttr(m, 64), "deep": UnitAttr() if deep else None}
        super().__init__(operands=[input], properties=properties, result_types=[_infer_input(input, m, deep)])

    def infer(self) -> TensorType:
        return _infer_input(self.input, self.tile, self.deep is not None)

    def statements(self) -> tuple[Statement, ...]:
        m, (n, c, th, a, w, b) = self.tile, shape_of(self.input)
        tw = _tiles(self.name, w, m)
        read = [f"x0[n, c, ty, i, {m}*tx + {k}, ci]" for k in range(m + TAPS - 1)]
        bounds, at = (n, c, th, a, tw, b), "ty; tx" if self.deep else f"ty*{tw} + tx"
        return tuple(
            statement("n c ty i tx ci", bounds, _even_odd(row, read), out=f"n; ({a}*i + {j})*{c} + c; {at}; ci")
            for j, row in enumerate(matrices(m)[2])
        )


def _infer_input(input: SSAValue, m: int, deep: bool) -> TensorType:
    name, shape = WinogradInputOp.name, shape_of(input)
    if m not in (2, 4) or len(shape) != 6 or shape[3] != m + TAPS - 1 or not isinstance(shape[1], int):
        raise VerifyException(f"{name} takes [N, C, th, m + 2, W, b] and m of 2 or 4, not {shape} and {m}")
    n, c, th, a, w, b = shape
    tw = _tiles(name, w, m)
    return tensor(element_of(input), (n, a * a * c, *((th, tw) if deep else (th * tw,)), b))


@irdl_op_definition
class WinogradSumsOp(_WinogradOp):
    """Aᵀ q of the products of each tile, for outputs of ``extents`` Y x X: [N, a*a*F, th*tw, b], or deep as
    ``graph.winograd_input`` gives it, → [N, F, th, m, tw, a, b]. Rows that are cut from the last tiles stay undefined.

    ``%s = graph.winograd_sums(%q) {m = 4, extents = [56, 56]} : (…) -> tensor<1x4x14x4x14x6x16xf32>``
    """

    name = "graph.winograd_sums"
    input = operand_def(TensorType)
    result = result_def(TensorType)
    extents = prop_def(DenseArrayBase)
    assembly_format = "`(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, input: SSAValue, m: int, extents: Sequence[int]):
        super().__init__(
            operands=[input],
            properties={"m": IntegerAttr(m, 64), "extents": ints(extents)},
            result_types=[_infer_sums(input, m, tuple(extents))],
        )

    def infer(self) -> TensorType:
        return _infer_sums(self.input, self.tile, ints_of(self.extents))

    def statements(self) -> tuple[Statement, ...]:
        """The last tiles, where they are cut, are a box of their own."""
        parts = _parts(ints_of(self.extents)[0], self.tile)
        return tuple(s for part in parts for s in self._box(*part))

    @property
    def deep(self) -> bool:
        """Whether rows and columns of tiles have a dimension each."""
        return len(shape_of(self.input)) == 5

    def _box(self, y0: int, th: int, height: int) -> list[Statement]:
        n, f, _, _, tw, a, b = shape_of(self.result)
        tx = "t" if ints_of(self.extents)[1] % self.tile else "tx"  # the output takes a cut last tile apart
        iters, bounds = f"n f ty {tx} j fi", (n, f, th, tw, a, b)
        at = f"ty + {y0}, {tx}" if self.deep else f"(ty + {y0})*{tw} + {tx}"
        read = [f"x0[n, ({i * a} + j)*{f} + f, {at}, fi]" for i in range(self.tile + TAPS - 1)]
        return [
            statement(iters, bounds, _paired(row, read), out=f"n; f; ty + {y0}; {i}; {tx}; j; fi")
            for i, row in enumerate(matrices(self.tile)[0][:height])
        ]


def _infer_sums(input: SSAValue, m: int, extents: Shape) -> TensorType:
    name, shape, a = WinogradSumsOp.name, shape_of(input), m + TAPS - 1
    if m not in (2, 4) or len(extents) != 2:
        raise VerifyException(f"{name} takes m of 2 or 4 and two extents, not {m} and {extents}")
    th, tw = (ceildiv(extent, m) for extent in extents)
    areas = isinstance(shape[1], int) and shape[1] % (a * a) == 0 if len(shape) in (4, 5) else False
    if not areas or shape[2:-1] not in ((th * tw,), (th, tw)):
        raise VerifyException(f"{name}: {shape} does not hold tiles of {m} for outputs of {extents}")
    return tensor(element_of(input), (shape[0], shape[1] // (a * a), th, m, tw, a, shape[-1]))


@irdl_op_definition
class WinogradOutputOp(_WinogradOp):
    """``expr`` of (Aᵀ q) A (x0), from ``graph.winograd_sums``, and of further operands (x1 …, broadcast) at each point:
    [N, F, th, m, tw, a, b] → [N, F, Y, X, b].

    ``%y = graph.winograd_output "max(x0 + x1, 0)"(%s, %bias) {m = 4, extents = [56, 56]} : (…) -> …``
    """

    name = "graph.winograd_output"
    JOINS: ClassVar[bool] = True
    expr = prop_def(StringAttr)
    args = var_operand_def(TensorType)
    result = result_def(TensorType)
    extents = prop_def(DenseArrayBase)
    assembly_format = "$expr `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, expr: str | Expr, args: Sequence[SSAValue], m: int, extents: Sequence[int]):
        super().__init__(
            operands=[args],
            properties={"expr": StringAttr(str(expr)), "m": IntegerAttr(m, 64), "extents": ints(extents)},
            result_types=[_infer_output(str(expr), args, m, tuple(extents))],
        )

    def infer(self) -> TensorType:
        return _infer_output(self.expr.data, self.args, self.tile, ints_of(self.extents))

    def statements(self) -> tuple[Statement, ...]:
        """A statement for each column of a tile; tiles at the far borders, which may be cut, are boxes of their own."""
        height, width = (_parts(extent, self.tile) for extent in ints_of(self.extents))
        return tuple(s for rows in height for columns in width for s in self._box(rows, columns))

    def _box(self, rows: tuple[int, int, int], columns: tuple[int, int, int]) -> list[Statement]:
        (y0, th, height), (x0, tw, width) = rows, columns
        m, (n, f, _, _, b) = self.tile, shape_of(self.result)
        read = [f"x0[n, f, ty + {y0}, i, tx + {x0}, {j}, fi]" for j in range(m + TAPS - 1)]
        out = []
        for j, row in enumerate(matrices(m)[0][:width]):
            place = ("n", "f", f"{m}*(ty + {y0}) + i", f"{m}*(tx + {x0}) + {j}", "fi")
            value = self._value(parse(_paired(row, read)), [parse(p) for p in place])
            written = statement("n f ty i tx fi", (n, f, th, height, tw, b), "0.0", out="; ".join(place))
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
    name = WinogradOutputOp.name
    if not args or m not in (2, 4) or len(extents) != 2:
        given = f"{len(args)} operands, m of {m} and {len(extents)} extents"
        raise VerifyException(f"{name} takes graph.winograd_sums first, m of 2 or 4 and two extents, not {given}")
    shape, (th, tw) = shape_of(args[0]), (ceildiv(extent, m) for extent in extents)
    if len(shape) != 7 or shape[2:6] != (th, m, tw, m + TAPS - 1):
        raise VerifyException(f"{name}: {shape} does not hold tiles of {m} for outputs of {extents}")
    result = tensor(element_of(args[0]), (*shape[:2], *extents, shape[6]))
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
