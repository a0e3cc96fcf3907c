"""Convolutions: sums over windows and channels of an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, TensorType
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

from mlc.dialects.graph.base import PURE, ints, ints_of
from mlc.dialects.graph.contract import product_element, term
from mlc.dialects.graph.in_layouts import LayoutOp, infer_in_layouts, layouts_attr
from mlc.dialects.graph.layouts import Layouts
from mlc.dialects.graph.traits import PlaneByPlane
from mlc.dialects.semantics.dims import DimLike, floordiv
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.semantics.statement import Statement, statement
from mlc.dialects.types import Shape, tensor


class _Depthwise(PlaneByPlane):
    """Holds for depthwise convolutions: each filter reads one channel."""

    def holds(self, op: Operation) -> bool:
        assert isinstance(op, ConvOp)
        return op.depthwise


@irdl_op_definition
class ConvOp(LayoutOp):
    """Convolution without padding (that is a ``graph.pad`` before it), in any number of spatial dimensions X: input
    [N, C, X…], weight [F, C/groups, K…] as in ONNX Conv. ``product`` as in graph.contract.

    ``%y = graph.conv(%x, %w) {strides = [2, 2], dilations = [1, 1], groups = 1} : …``
    """

    name = "graph.conv"
    input = operand_def(TensorType)
    weight = operand_def(TensorType)
    result = result_def(TensorType)
    strides = prop_def(DenseArrayBase)
    dilations = prop_def(DenseArrayBase)
    groups = prop_def(IntegerAttr)
    product = opt_prop_def(StringAttr)
    traits = traits_def(PURE, _Depthwise())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "`(` $input `,` $weight `)` attr-dict `:` functional-type(operands, $result)"

    def __init__(
        self,
        input: SSAValue,
        weight: SSAValue,
        strides: Sequence[int],
        dilations: Sequence[int],
        groups: int = 1,
        product: StringAttr | None = None,
        layouts: Layouts | None = None,
    ):
        properties = {
            "strides": ints(strides),
            "dilations": ints(dilations),
            "groups": IntegerAttr(groups, 64),
            "product": product,
            "layouts": layouts_attr(layouts),
        }
        result = _infer_conv(input, weight, (strides, dilations), groups, product, layouts)
        super().__init__(operands=[input, weight], properties=properties, result_types=[result])

    @property
    def window(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The strides and the dilations."""
        return ints_of(self.strides), ints_of(self.dilations)

    @property
    def depthwise(self) -> bool:
        """Whether filter n reads only channel n."""
        filters, channels = self.plain_shape(1)[:2]
        return channels == 1 and filters == self.groups.value.data

    def infer(self) -> TensorType:
        groups = self.groups.value.data
        return _infer_conv(self.input, self.weight, self.window, groups, self.product, self.data_layouts)

    def plain_statements(self) -> tuple[Statement, ...]:
        rank = len(self.strides)
        at = [f"y{n}*{s} + k{n}*{d}" for n, (s, d) in enumerate(zip(*self.window, strict=True))]
        spatial, kernel = [f"y{n}" for n in range(rank)], [f"k{n}" for n in range(rank)]
        by_channel = self.depthwise and self.data_layouts is not None
        return (self._depthwise(at, spatial, kernel) if by_channel else self._dense(at, spatial, kernel),)

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """Return the statement's result; for plain floats by a product with all windows, which is faster.

        Computed in float64 and rounded once: a sum in float32 would depend on the channel and on the CPU (BLAS).
        """
        x, w = operands
        plain = self.data_layouts is None and not self.product and x.dtype in (np.float32, np.float64)
        fits = all(n >= k for n, k in zip(x.shape[2:], _reach(w, self.window[1]), strict=True)) if plain else False
        if not fits or not x.size or not w.size:
            return super().evaluate(operands, symbols)
        return _by_windows(x, w, *self.window, int(self.groups.value.data))

    def _dense(self, at: list[str], spatial: list[str], kernel: list[str]) -> Statement:
        groups, w, out = self.groups.value.data, self.plain_shape(1), self.plain_shape(-1)
        per_group = floordiv(w[0], groups)
        x, ky = ", ".join(at), ", ".join(kernel)
        value = term(self.product, f"x0[n, g*{w[1]} + c, {x}]", f"x1[g*{per_group} + f, c, {ky}]")
        return statement(
            " ".join(["n", "g", "f", *spatial]),
            (out[0], groups, per_group, *out[2:], *w[1:]),
            value,
            out="; ".join(["n", f"g*{per_group} + f", *spatial]),
            reduce=" ".join(["c", *kernel]),
            monoid="add",
        )

    def _depthwise(self, at: list[str], spatial: list[str], kernel: list[str]) -> Statement:
        out, w = self.plain_shape(-1), self.plain_shape(1)
        return statement(
            " ".join(["n", "c", *spatial]),
            (*out, *w[2:]),
            term(self.product, f"x0[n, c, {', '.join(at)}]", f"x1[c, 0, {', '.join(kernel)}]"),
            reduce=" ".join(kernel),
            monoid="add",
        )


def _reach(w: Array, dilations: Sequence[int]) -> list[int]:
    """Return the elements from the first to the last that a window reads, along each dimension."""
    return [d * (k - 1) + 1 for k, d in zip(w.shape[2:], dilations, strict=True)]


def _by_windows(x: Array, w: Array, strides: Sequence[int], dilations: Sequence[int], groups: int) -> Array:
    reach = _reach(w, dilations)
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
    """Return the number of positions of a window without padding: floor((size - dilation·(kernel-1) - 1) / stride)
    + 1."""
    return floordiv(size - dilation * (kernel - 1) - 1, stride) + 1


def verify_window(op: str, rank: int, strides: Sequence[int], dilations: Sequence[int]) -> None:
    """Check that a window has one stride and one dilation for each dimension, at least 1."""
    if not len(strides) == len(dilations) == rank or min((*strides, *dilations), default=1) < 1:
        given = f"strides {list(strides)} and dilations {list(dilations)}"
        raise VerifyException(f"{op}: {given} must be at least 1, one for each of {rank} dimensions")


def _verify_filters(filters: DimLike, groups: int) -> None:
    if groups < 1 or (isinstance(filters, int) and filters % groups):
        raise VerifyException(f"graph.conv: {filters} filters do not divide into {groups} equal groups")


def _infer_conv(
    input: SSAValue,
    weight: SSAValue,
    window: tuple[Sequence[int], Sequence[int]],
    groups: int,
    product: StringAttr | None,
    layouts: Layouts | None,
) -> TensorType:
    rank, element = len(window[0]), product_element("graph.conv", product, input, weight)
    verify_window("graph.conv", rank, *window)

    def infer(shapes: Sequence[Shape]) -> TensorType:
        x, w = shapes
        if len(x) != rank + 2 or len(w) != rank + 2:
            ranks = f"{rank + 2}, not {len(x)} and {len(w)}"
            raise VerifyException(f"graph.conv: {rank} strides take operands of rank {ranks}")
        if x[1] != w[1] * groups:
            raise VerifyException(f"graph.conv: channels of input {x} and weight {w} with {groups} groups do not match")
        _verify_filters(w[0], groups)
        spatial = [window_extent(x[2 + n], w[2 + n], s, d) for n, (s, d) in enumerate(zip(*window, strict=True))]
        if any(isinstance(s, int) and s < 0 for s in spatial):
            raise VerifyException(f"graph.conv: window {w[2:]} does not fit into input {x}")
        return tensor(element, (x[0], w[0], *spatial))

    return infer_in_layouts([input, weight], layouts, infer)
