"""ONNX operators in PyTorch: functions of the inputs, with the attributes as keywords; others raise TypeError."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from onnx import helper
from torch.nn import functional as F

Ints = list[int]
Pads = list[int] | tuple[()]  # none: not padded
CONV = (F.conv1d, F.conv2d, F.conv3d)
CONV_TRANSPOSE = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)


def _symmetric(pads: Pads) -> list[int]:
    half = len(pads) // 2
    if list(pads[:half]) != list(pads[half:]):
        raise NotImplementedError("padding that differs at the two ends")
    return list(pads[:half])


def _conv(x: Any, w: Any, bias: Any = None, *, kernel_shape: Ints, strides: Ints, pads: Pads = (), group: int = 1,
          dilations: Ints | int = 1) -> Any:  # fmt: skip
    return CONV[len(kernel_shape) - 1](x, w, bias, strides, _symmetric(pads) or 0, dilations, group)


def _conv_transpose(x: Any, w: Any, bias: Any = None, *, kernel_shape: Ints, strides: Ints, pads: Pads = ()) -> Any:
    return CONV_TRANSPOSE[len(kernel_shape) - 1](x, w, bias, strides, _symmetric(pads) or 0)


def _gemm(x: Any, w: Any, bias: Any, *, transB: int = 0) -> Any:
    return F.linear(x, w, bias) if transB else torch.addmm(bias, x, w)


def _max_pool(x: Any, *, kernel_shape: Ints, strides: Ints, pads: Ints, ceil_mode: int = 0) -> Any:
    return F.max_pool2d(x, kernel_shape, strides, _symmetric(pads), ceil_mode=bool(ceil_mode))


def _average_pool(x: Any, *, kernel_shape: Ints, strides: Ints, pads: Ints) -> Any:
    return F.avg_pool2d(x, kernel_shape, strides, _symmetric(pads), count_include_pad=False)


def _layer_norm(x: Any, scale: Any, bias: Any, *, axis: int, epsilon: float = 1e-5) -> Any:
    return F.layer_norm(x, scale.shape, scale, bias, epsilon)


def _gather(x: Any, index: Any, *, axis: int = 0) -> Any:
    if isinstance(index, int):
        return x.select(axis, index)
    return F.embedding(index, x) if axis == 0 else torch.index_select(x, axis, index)


def _slice(x: Any, starts: Ints, ends: Ints, axes: Ints) -> Any:
    for start, end, axis in zip(starts, ends, axes, strict=True):
        x = x.narrow(axis, start, end - start)
    return x


def _unsqueeze(x: Any, axes: Ints) -> Any:
    for axis in sorted(axes):
        x = x.unsqueeze(axis)
    return x


def _cast(x: Any, *, to: int) -> Any:
    return x.to(torch.from_numpy(np.empty(0, helper.tensor_dtype_to_np_dtype(to))).dtype)


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *, axes, keepdims=1: function(x, axes, bool(keepdims))


def _resize(x: Any, region: None, scales: Any, *, mode: str, **_: Any) -> Any:
    factors = scales[2:].tolist()
    if mode == "nearest":
        return F.interpolate(x, scale_factor=factors, mode="nearest")
    return F.interpolate(x, scale_factor=factors, mode="bilinear", align_corners=False)


def _gates(w: Any) -> Any:
    """Weights of the gates in PyTorch's order (input, forget, cell, output) from ONNX's (i, o, f, c)."""
    i, o, f, c = w.squeeze(0).chunk(4)
    return torch.cat([i, f, c, o])


def _lstm(x: Any, w: Any, r: Any, b: Any, lengths: None, h: Any, c: Any, *, hidden_size: int) -> Any:
    biases = [b.narrow(1, first, 4 * hidden_size) for first in (0, 4 * hidden_size)]
    parameters = [_gates(weight) for weight in (w, r, *biases)]
    results = torch.lstm(x, (h, c), parameters, True, 1, 0.0, False, False, False)
    return results[0].unsqueeze(1), results[1], results[2]


OPERATORS: dict[str, Callable[..., Any]] = {
    "Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "Div": operator.truediv, "Pow": operator.pow,
    "Neg": operator.neg, "Sqrt": torch.sqrt, "Exp": torch.exp, "Erf": torch.erf, "Tanh": torch.tanh,
    "Sigmoid": torch.sigmoid, "Relu": F.relu, "Clip": torch.clamp, "Where": torch.where, "Cast": _cast,
    "MatMul": torch.matmul, "Gemm": _gemm, "Conv": _conv, "ConvTranspose": _conv_transpose, "LSTM": _lstm,
    "MaxPool": _max_pool, "AveragePool": _average_pool,
    "GlobalAveragePool": lambda x: F.adaptive_avg_pool2d(x, 1),
    "Softmax": lambda x, *, axis: torch.softmax(x, axis),
    "LayerNormalization": _layer_norm,
    "ReduceMean": _reduction(torch.mean), "ReduceMax": _reduction(torch.amax),
    "Reshape": lambda x, shape: x.reshape(shape),
    "Flatten": lambda x, *, axis: x.flatten(axis),
    "Transpose": lambda x, *, perm: x.permute(perm),
    "Concat": lambda *xs, axis: torch.cat(xs, axis),
    "Split": lambda x, sizes, *, axis: torch.split(x, sizes, axis),
    "Slice": _slice, "Gather": _gather, "Unsqueeze": _unsqueeze, "Resize": _resize,
    "Squeeze": lambda x, axes: x.squeeze(tuple(axes)),
    "Expand": lambda x, shape: x.expand(shape),
}  # fmt: skip
