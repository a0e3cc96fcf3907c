"""Layers that several models share, written as PyTorch's exporter writes them.

Weights are scaled so that activations stay of order one. Those of convolutions and Gemms sum to zero a row: what a Relu
leaves has a positive mean, which would grow from layer to layer and drown what depends on the input.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from benchmarks.models.builder import Builder, Dim

RELU_GAIN = 1 / math.sqrt(0.5 - 0.5 / math.pi)  # restores the variance that a Relu leaves of a normal variable


def conv(
    b: Builder, x: str, channels: tuple[int, int], kernel: int, *, stride: int = 1, padding: int | None = None,
    groups: int = 1, gain: float = RELU_GAIN, name: str = "conv",
) -> str:  # fmt: skip
    """A 2-D convolution with bias from `channels[0]` to `channels[1]`; padding defaults to "same" for odd kernels.

    Batch normalization is folded in, as exporters do in inference mode: there is only the bias.
    """
    n_in, n_out = channels
    pad = kernel // 2 if padding is None else padding
    with b.scope(name):
        shape = (n_out, n_in // groups, kernel, kernel)
        weight = b.weight("weight", shape, gain / math.sqrt(math.prod(shape[1:])), centered=groups == 1)
        bias = b.weight("bias", (n_out,), 0.1)
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
        return b.op("Conv", x, weight, bias, dilations=[1, 1], group=groups, **attributes)


def conv_relu(b: Builder, x: str, channels: tuple[int, int], kernel: int, **options: object) -> str:
    """A convolution followed by a Relu."""
    return b.op("Relu", conv(b, x, channels, kernel, **options))  # type: ignore[arg-type]


def max_pool(b: Builder, x: str, kernel: int, stride: int, padding: int = 0, ceil: bool = False) -> str:
    """2-D max pooling with square windows."""
    window = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [padding] * 4}
    return b.op("MaxPool", x, ceil_mode=int(ceil), **window)


def gemm(b: Builder, x: str, n_in: int, n_out: int, name: str, gain: float = 1.0) -> str:
    """`x @ weight.T + bias` of a matrix [rows, n_in], as nn.Linear on two dimensions is exported."""
    with b.scope(name):
        weight = b.weight("weight", (n_out, n_in), gain / math.sqrt(n_in), centered=True)
        return b.op("Gemm", x, weight, b.weight("bias", (n_out,), 0.1), transB=1)


def linear(b: Builder, x: str, n_in: int, n_out: int, name: str, gain: float = 1.0) -> str:
    """MatMul and Add over the last axis, as nn.Linear on three dimensions is exported."""
    with b.scope(name):
        product = b.op("MatMul", x, b.weight("weight", (n_in, n_out), gain / math.sqrt(n_in)))
        return b.op("Add", b.weight("bias", (n_out,), 0.1), product)


def matmul(b: Builder, x: str, n_in: int, n_out: int, name: str, gain: float = 1.0) -> str:
    """MatMul over the last axis, as nn.Linear without bias is exported."""
    with b.scope(name):
        return b.op("MatMul", x, b.weight("weight", (n_in, n_out), gain / math.sqrt(n_in)))


def rms_norm(b: Builder, x: str, size: int, name: str, epsilon: float = 1e-5) -> str:
    """`x / √(mean(x²) + ε) · weight` over the last axis, in the operators that an exporter makes of it."""
    with b.scope(name):
        mean = b.op("ReduceMean", b.op("Pow", x, b.constant(2.0)), axes=[-1], keepdims=1)
        root = b.op("Sqrt", b.op("Add", mean, b.constant(epsilon)))
        scaled = b.op("Mul", x, b.op("Div", b.constant(1.0), root))
        return b.op("Mul", b.weight("weight", (size,), 0.1, mean=1.0), scaled)


def swish(b: Builder, x: str) -> str:
    """`x · sigmoid(x)`, also called SiLU."""
    return b.op("Mul", x, b.op("Sigmoid", x))


def layer_norm(b: Builder, x: str, size: int, name: str, epsilon: float = 1e-5) -> str:
    """LayerNormalization over the last axis."""
    with b.scope(name):
        scale, bias = b.weight("weight", (size,), 0.1, mean=1.0), b.weight("bias", (size,), 0.1)
        return b.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon)


def gelu(b: Builder, x: str) -> str:
    """The exact Gelu, `x (1 + erf(x / √2)) / 2`."""
    erf = b.op("Erf", b.op("Div", x, b.constant(math.sqrt(2.0))))
    return b.op("Mul", b.op("Mul", x, b.op("Add", erf, b.constant(1.0))), b.constant(0.5))


def gelu_tanh(b: Builder, x: str) -> str:
    """GPT-2's Gelu, `x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`."""
    cubic = b.op("Mul", b.op("Pow", x, b.constant(3.0)), b.constant(0.044715))
    inner = b.op("Mul", b.op("Add", x, cubic), b.constant(math.sqrt(2.0 / math.pi)))
    half = b.op("Mul", x, b.constant(0.5))
    return b.op("Mul", half, b.op("Add", b.op("Tanh", inner), b.constant(1.0)))


def split_heads(b: Builder, x: str, shape: Sequence[Dim], heads: int, perm: Sequence[int]) -> str:
    """Reshape [batch, tokens, hidden] to [batch, tokens, heads, hidden / heads] and transpose by `perm`."""
    batch, tokens, hidden = shape
    assert isinstance(hidden, int)
    return b.op("Transpose", b.reshape(x, batch, tokens, heads, hidden // heads), perm=perm)


def merge_heads(b: Builder, x: str, shape: Sequence[Dim]) -> str:
    """Transpose [batch, heads, tokens, size] back and reshape to `shape`, [batch, tokens, hidden]."""
    return b.reshape(b.op("Transpose", x, perm=[0, 2, 1, 3]), *shape)


def zeros(b: Builder, *dims: Dim) -> str:
    """float32 zeros: a constant, or ConstantOfShape where a dimension is symbolic."""
    if all(isinstance(dim, int) for dim in dims):
        return b.constant(np.zeros(dims))  # type: ignore[arg-type]
    return b.op("ConstantOfShape", b.shape(dims))
