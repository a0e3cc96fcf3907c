"""Winograd convolution: the transform of the products of tiles to outputs, with the epilogue (see ``winograd.py``)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import PURE, broadcast_index, broadcast_shapes, ints, ints_of
from mlc.dialects.graph.conv import ConvOp
from mlc.dialects.graph.map import scalar_element
from mlc.dialects.graph.minimal_filtering import QUARTER, TAPS, matrices, paired
from mlc.dialects.graph.traits import FusesWithProducer
from mlc.dialects.graph.winograd import WinogradOp
from mlc.dialects.semantics.dims import ceildiv
from mlc.dialects.semantics.expr import Const, Expr, Index, Load, parse, substitute
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.types import Shape, element_of, is_float, shape_of, tensor


class _ReadsConvolution(FusesWithProducer):
    """Holds if the operator reads the result of a convolution directly."""

    def holds(self, op: Operation) -> bool:
        assert isinstance(op, WinogradSumsOp)
        return isinstance(op.input.owner, ConvOp)


@irdl_op_definition
class WinogradSumsOp(WinogradOp):
    """The rows of the output transform, Aᵀ q, of the products of each tile, for outputs of ``extents`` Y x X: [N,
    a*a*F, th, tw, b] → [N, F, th, m, tw, a, b]. Rows that are cut from the last tiles stay undefined.

    ``%s = graph.winograd_sums(%q) {m = 4, extents = [56, 56]} : (…) -> tensor<1x4x14x4x14x6x16xf32>``
    """

    name = "graph.winograd_sums"
    traits = traits_def(PURE, _ReadsConvolution())
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
        """Return a statement for each row of a tile; last tiles that are cut form a separate box."""
        parts = _parts(ints_of(self.extents)[0], self.tile)
        return tuple(s for part in parts for s in self._box(*part))

    def _box(self, y0: int, th: int, height: int) -> list[Statement]:
        n, f, _, _, tw, a, b = shape_of(self.result)
        tx = "t" if ints_of(self.extents)[1] % self.tile else "tx"  # a cut last tile is separate in the output
        iters, bounds = f"n f ty {tx} j fi", (n, f, th, tw, a, b)
        read = [f"x0[n, ({i * a} + j)*{f} + f, ty + {y0}, {tx}, fi]" for i in range(self.tile + TAPS - 1)]
        return [
            statement(iters, bounds, paired(row, read), out=f"n; f; ty + {y0}; {i}; {tx}; j; fi")
            for i, row in enumerate(matrices(self.tile, self.whole)[0][:height])
        ]


def _infer_sums(input: SSAValue, m: int, extents: Shape) -> TensorType:
    name, shape, a = WinogradSumsOp.name, shape_of(input), m + TAPS - 1
    if m not in (2, 4) or len(extents) != 2:
        raise VerifyException(f"{name} takes m of 2 or 4 and two extents, not {m} and {extents}")
    th, tw = (ceildiv(extent, m) for extent in extents)
    points = isinstance(shape[1], int) and shape[1] % (a * a) == 0 if len(shape) == 5 else False
    if not points or shape[2:-1] != (th, tw):
        raise VerifyException(f"{name}: {shape} does not hold tiles of {m} for outputs of {extents}")
    return tensor(element_of(input), (shape[0], shape[1] // (a * a), th, m, tw, a, shape[-1]))


class _ReadsSums(FusesWithProducer):
    """Holds if the operator reads a ``graph.winograd_sums`` directly. The sums that a reshape reads have their own
    kernel."""

    def holds(self, op: Operation) -> bool:
        assert isinstance(op, WinogradOutputOp)
        return isinstance(op.args[0].owner, WinogradSumsOp)


@irdl_op_definition
class WinogradOutputOp(WinogradOp):
    """The value ``expr`` at each point of x0, the output transform (Aᵀ q) A of ``graph.winograd_sums``, and of further
    operands (x1 …, broadcast): [N, F, th, m, tw, a, b] → [N, F, Y, X, b].

    ``%y = graph.winograd_output "max(x0 + x1, 0)"(%s, %bias) {m = 4, extents = [56, 56]} : (…) -> …``
    """

    name = "graph.winograd_output"
    traits = traits_def(PURE, _ReadsSums())
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
        """Return a statement for each column of a tile; tiles at the ends, which may be cut, are separate boxes."""
        height, width = (_parts(extent, self.tile) for extent in ints_of(self.extents))
        return tuple(s for rows in height for columns in width for s in self._box(rows, columns))

    def _box(self, rows: tuple[int, int, int], columns: tuple[int, int, int]) -> list[Statement]:
        (y0, th, height), (x0, tw, width) = rows, columns
        m, (n, f, _, _, b) = self.tile, shape_of(self.result)
        read = [f"x0[n, f, ty + {y0}, i, tx + {x0}, {j}, fi]" for j in range(m + TAPS - 1)]
        out = []
        for j, row in enumerate(matrices(m, self.whole)[0][:width]):
            place = ("n", "f", f"{m}*(ty + {y0}) + i", f"{m}*(tx + {x0}) + {j}", "fi")
            text = f"({paired(row, read)}) >> {QUARTER}" if self.whole else paired(row, read)
            value = self._value(parse(text), [parse(p) for p in place])
            written = statement("n f ty i tx fi", (n, f, th, height, tw, b), "0.0", out="; ".join(place))
            out.append(Statement(written.iters, written.bounds, written.reduction, written.out, value))
        return out

    def _value(self, transformed: Expr, place: Sequence[Expr]) -> Expr:
        """Return ``expr`` at an index of the result."""

        def load(node: Load) -> Expr:
            if node.operand == 0:
                return transformed
            at = parse(f"x{node.operand}{broadcast_index(shape_of(self.args[node.operand]), len(place))}")
            return substitute(at, index=lambda i: place[int(i.name[1:])] if isinstance(i, Index) else Const(0))

        return substitute(parse(self.expr.data), load)


def _parts(extent: int, m: int) -> list[tuple[int, int, int]]:
    """Return (first tile, number of tiles, outputs of a tile) of the whole tiles of an extent, and of the last, cut
    tile."""
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
    element = element_of(args[0]) if is_float(element_of(args[0])) else scalar_element(name, expr, args)
    result = tensor(element, (*shape[:2], *extents, shape[6]))
    _verify_epilogue(expr, args, result)
    return result


def _verify_epilogue(expr: str, args: Sequence[SSAValue], result: TensorType) -> None:
    """Check that ``expr`` has the type of products of floats, and that the further operands broadcast to the result."""
    element, shape = scalar_element("graph.winograd_output", expr, args), shape_of(result)
    if element != element_of(result):
        types = f"{expr} is {element} of products of {element_of(result)}"
        raise VerifyException(f"graph.winograd_output: {types}; write a graph.map after it")
    for other in map(shape_of, args[1:]):
        if broadcast_shapes([shape, other]) != shape:
            what = f"an operand of shape {other} is larger than the result {shape}"
            raise VerifyException(f"graph.winograd_output: {what}")
