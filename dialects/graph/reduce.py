"""Reductions over whole axes and over sliding windows."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import PURE, StructuredOp, ints, ints_of, iterators
from mlc.dialects.graph.conv import verify_window, window_extent
from mlc.dialects.graph.traits import PlaneByPlane, RowReduction
from mlc.dialects.semantics.statement import MONOIDS, Statement, statement
from mlc.dialects.types import Shape, element_of, shape_of, tensor


@irdl_op_definition
class ReduceOp(StructuredOp):
    """A reduction of all elements along ``axes`` by a monoid (add, mul, max, min, and_, or_).

    ``%y = graph.reduce "add"(%x) {axes = [1], keepdims = false} : (tensor<4x8xf32>) -> tensor<4xf32>``
    """

    name = "graph.reduce"
    fn = prop_def(StringAttr)
    input = operand_def(TensorType)
    result = result_def(TensorType)
    axes = prop_def(DenseArrayBase)
    keepdims = prop_def(BoolAttr)
    traits = traits_def(PURE, RowReduction())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$fn `(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(self, fn: str, input: SSAValue, axes: Sequence[int], keepdims: bool = False):
        rank = len(shape_of(input))
        axes = sorted({a % rank for a in axes}) if rank else []
        properties = {"fn": StringAttr(fn), "axes": ints(axes), "keepdims": BoolAttr.from_bool(keepdims)}
        super().__init__(
            operands=[input], properties=properties, result_types=[_infer_reduce(fn, input, axes, keepdims)]
        )

    def infer(self) -> TensorType:
        return _infer_reduce(self.fn.data, self.input, ints_of(self.axes), bool(self.keepdims))

    def statements(self) -> tuple[Statement, ...]:
        shape, axes = shape_of(self.input), ints_of(self.axes)
        names = iterators(len(shape))
        kept = [n for n in range(len(shape)) if n not in axes]
        out = [("0" if n in axes else names[n]) for n in range(len(shape)) if bool(self.keepdims) or n not in axes]
        return (
            statement(
                " ".join(names[n] for n in kept),
                tuple(shape[n] for n in (*kept, *axes)),
                f"x0[{', '.join(names) or '()'}]",
                out="; ".join(out),
                reduce=" ".join(names[n] for n in axes),
                monoid=self.fn.data,
            ),
        )


def _infer_reduce(fn: str, input: SSAValue, axes: Sequence[int], keepdims: bool) -> TensorType:
    shape = shape_of(input)
    if fn not in MONOIDS:
        raise VerifyException(f"graph.reduce: {fn!r} is none of {', '.join(MONOIDS)}")
    if any(not 0 <= a < len(shape) for a in axes) or len(set(axes)) != len(axes):
        raise VerifyException(f"graph.reduce: axes {list(axes)} of an operand of rank {len(shape)}")
    kept: Shape = tuple(1 if n in axes else d for n, d in enumerate(shape) if keepdims or n not in axes)
    return tensor(element_of(input), kept)


@irdl_op_definition
class PoolOp(StructuredOp):
    """A reduction of a sliding window by a monoid; the window slides over dimensions 2, 3, … (no padding).

    ``%y = graph.pool "max"(%x) {kernel = [3, 3], strides = [2, 2], dilations = [1, 1]} : …``
    """

    name = "graph.pool"
    fn = prop_def(StringAttr)
    input = operand_def(TensorType)
    result = result_def(TensorType)
    kernel = prop_def(DenseArrayBase)
    strides = prop_def(DenseArrayBase)
    dilations = prop_def(DenseArrayBase)
    traits = traits_def(PURE, PlaneByPlane())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$fn `(` $input `)` attr-dict `:` functional-type($input, $result)"

    def __init__(
        self, fn: str, input: SSAValue, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
    ):
        properties = {"fn": StringAttr(fn), "kernel": ints(kernel)}
        properties |= {"strides": ints(strides), "dilations": ints(dilations)}
        result = _infer_pool(fn, input, kernel, strides, dilations)
        super().__init__(operands=[input], properties=properties, result_types=[result])

    def infer(self) -> TensorType:
        window = (ints_of(self.kernel), ints_of(self.strides), ints_of(self.dilations))
        return _infer_pool(self.fn.data, self.input, *window)

    def statements(self) -> tuple[Statement, ...]:
        out, kernel = shape_of(self.result), ints_of(self.kernel)
        names = iterators(len(out))
        at = list(names)
        for n, (s, d) in enumerate(zip(ints_of(self.strides), ints_of(self.dilations), strict=True)):
            at[2 + n] = f"i{2 + n}*{s} + k{n}*{d}"
        reduce = " ".join(f"k{n}" for n in range(len(kernel)))
        value = f"x0[{', '.join(at)}]"
        return (statement(" ".join(names), (*out, *kernel), value, reduce=reduce, monoid=self.fn.data),)


def _infer_pool(
    fn: str, input: SSAValue, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> TensorType:
    shape = shape_of(input)
    if fn not in MONOIDS or len(shape) < 2 + len(kernel):
        raise VerifyException(f"graph.pool: {fn!r} of a window {list(kernel)} over an operand of shape {shape}")
    verify_window("graph.pool", len(kernel), strides, dilations)
    spatial = [window_extent(shape[2 + n], k, strides[n], dilations[n]) for n, k in enumerate(kernel)]
    if any(isinstance(s, int) and s < 0 for s in spatial):
        raise VerifyException(f"graph.pool: window {list(kernel)} does not fit into input {shape}")
    return tensor(element_of(input), (*shape[:2], *spatial, *shape[2 + len(kernel) :]))
