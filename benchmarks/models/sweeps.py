"""The sweeps of single operators: shapes of real networks, and awkward ones, by name."""

from __future__ import annotations

from functools import partial
from typing import Any

import onnx

from benchmarks.models.operators import (
    attention,
    convolution,
    gather,
    gemm,
    iterations,
    non_zero,
    norm,
    product,
    resize,
    running_sum,
    suppression,
    top_k,
    transposed,
    unary,
    unique,
)

Build = partial[onnx.ModelProto]  # of a name

# rows, terms, columns
GEMMS = (
    (64, 64, 64), (256, 256, 256), (512, 512, 512), (1024, 1024, 1024),  # squares
    (1, 1024, 1024), (1, 4096, 4096), (8, 1024, 1024), (64, 1024, 1024),  # a few rows
    (127, 255, 511), (13, 37, 61), (1000, 100, 10),  # odd ones
    (128, 768, 768), (128, 768, 3072), (128, 3072, 768), (197, 768, 2304), (64, 768, 50257),  # of transformers
)  # fmt: skip
PRODUCTS = ((12, 128, 64, 128), (12, 128, 128, 64), (8, 1, 64, 1024), (1, 512, 512, 512))  # batch, rows, terms, columns
# side, channels in, channels out, kernel, stride
CONVOLUTIONS = (
    (56, 64, 64, 1, 1), (56, 64, 256, 1, 1), (14, 1024, 256, 1, 1), (7, 512, 2048, 1, 1), (56, 256, 512, 1, 2),
    (56, 64, 64, 3, 1), (28, 128, 128, 3, 1), (14, 256, 256, 3, 1), (7, 512, 512, 3, 1),  # ResNet
    (56, 128, 128, 3, 2), (14, 512, 512, 3, 2), (224, 3, 64, 7, 2), (224, 3, 32, 3, 2), (224, 64, 64, 3, 1),
    (256, 16, 16, 3, 1), (128, 64, 32, 3, 1), (32, 128, 128, 3, 1),  # U-Net
    (112, 32, 16, 1, 1), (28, 192, 32, 1, 1), (7, 160, 960, 1, 1), (7, 320, 1280, 1, 1),  # MobileNet
    (28, 48, 96, 5, 1),
)  # fmt: skip
DEPTHWISE = ((112, 32, 3, 1), (112, 96, 3, 2), (28, 192, 3, 1), (14, 576, 3, 2), (7, 960, 3, 1), (28, 240, 5, 1),
             (14, 672, 5, 2))  # side, channels, kernel, stride  # fmt: skip
TRANSPOSED = ((16, 256, 128, 2), (128, 32, 16, 2), (8, 256, 128, 4), (32, 64, 3, 4))  # side, channels, kernel
# heads, queries, keys, size
ATTENTIONS = ((12, 128, 128, 64), (12, 1024, 1024, 64), (12, 1, 1024, 64), (8, 77, 77, 40))
SOFTMAXES = ((1536, 128), (12, 1024, 1024), (1, 50257), (4096, 10))
NORMS = ((128, 768), (1, 4096), (4096, 64))
TRANSPOSES = (((1024, 1024), (1, 0)), ((1, 128, 12, 64), (0, 2, 1, 3)), ((1, 64, 56, 56), (0, 2, 3, 1)))
REDUCTIONS = (((1024, 1024), 1), ((1024, 1024), 0), ((8, 256, 1024), 1), ((64, 100003), 1))  # shape, axis
POOLS = ((112, 64, 3, 2, 1), (28, 256, 2, 2, 0), (14, 512, 3, 1, 1))  # side, channels, kernel, stride, padding
TOPS = (((1, 1000), 5), ((64, 1000), 5), ((1, 8400), 300), ((1, 50257), 50), ((32, 256), 256))  # shape, count
ITERATIONS = ((300, 1, 32), (300, 4, 64), (300, 8, 256))  # steps, rows, size
SUMS = (((1, 50257), 1), ((16, 512), 1), ((512, 64, 8), 0))  # shape, axis
UNARY = ("Erf", "Exp", "Relu", "Tanh")
SQUARE = (1024, 1024)


def _text(*sizes: int) -> str:
    return "x".join(map(str, sizes))


def _products() -> dict[str, Build]:
    table = {f"gemm_{_text(*sizes)}": partial(gemm, *sizes) for sizes in GEMMS}
    table |= {f"matmul_{_text(*sizes)}": partial(product, *sizes) for sizes in PRODUCTS}
    return table | {f"attention_{_text(*sizes)}": partial(attention, *sizes) for sizes in ATTENTIONS}


def _convolutions() -> dict[str, Build]:
    table = {
        f"conv_{k}x{k}_s{s}_{n_in}-{n_out}_{side}": partial(convolution, (side, side), n_in, n_out, k, stride=s)
        for side, n_in, n_out, k, s in CONVOLUTIONS
    }
    table |= {
        f"depthwise_{k}x{k}_s{s}_{n}_{side}": partial(convolution, (side, side), n, n, k, stride=s, groups=n)
        for side, n, k, s in DEPTHWISE
    }
    return table | _rare_convolutions()


def _rare_convolutions() -> dict[str, Build]:
    table = {
        f"transposed_{k}x{k}_s2_{n_in}-{n_out}_{side}": partial(transposed, side, n_in, n_out, k)
        for side, n_in, n_out, k in TRANSPOSED
    }
    return table | {
        "dilated_3x3_d2_128-128_28": partial(convolution, (28, 28), 128, 128, 3, dilation=2),
        "grouped_3x3_g32_128-128_56": partial(convolution, (56, 56), 128, 128, 3, groups=32),
        "conv1d_3_256-256_1000": partial(convolution, (1000,), 256, 256, 3),
        "conv1d_8_s4_64-128_4000": partial(convolution, (4000,), 64, 128, 8, stride=4),
        "conv3d_3x3x3_32-32_16": partial(convolution, (16, 32, 32), 32, 32, 3),
    }


def _rows() -> dict[str, Build]:
    table = {f"softmax_{_text(*s)}": partial(unary, "Softmax", s, s, axis=-1) for s in SOFTMAXES}
    table |= {f"layernorm_{_text(*s)}": partial(norm, *s) for s in NORMS}
    table |= {
        f"reduce_mean_{_text(*s)}_axis{i}": partial(unary, "ReduceMean", s, [*s[:i], *s[i + 1 :]], axes=[i], keepdims=0)
        for s, i in REDUCTIONS
    }
    return table | {
        "reduce_max_1024x1024_axis1": partial(unary, "ReduceMax", SQUARE, [1024], axes=[1], keepdims=0),
    }


def _moves() -> dict[str, Build]:
    table = {
        f"transpose_{_text(*s)}_{''.join(map(str, p))}": partial(unary, "Transpose", s, [s[i] for i in p], perm=p)
        for s, p in TRANSPOSES
    }
    return table | {
        "gather_30522x768_128": partial(gather, 30522, 768, 128),
        "resize_linear_64_56": partial(resize, 64, 56, "linear"),
        "resize_nearest_64_56": partial(resize, 64, 56, "nearest"),
        **{f"{name.lower()}_1024x1024": partial(unary, name, SQUARE, SQUARE) for name in UNARY},
    }


def _pools() -> dict[str, Build]:
    table: dict[str, Build] = {}
    for side, n, k, s, p in POOLS:
        window: dict[str, Any] = {"kernel_shape": [k, k], "strides": [s, s], "pads": [p] * 4}
        shape, out = [1, n, side, side], [1, n, *[(side + 2 * p - k) // s + 1] * 2]
        for kind in ("MaxPool", "AveragePool"):
            table[f"{kind.lower()}_{k}x{k}_s{s}_{n}_{side}"] = partial(unary, kind, shape, out, **window)
    table["globalaveragepool_2048_7"] = partial(unary, "GlobalAveragePool", [1, 2048, 7, 7], [1, 2048, 1, 1])
    return table


def _orders() -> dict[str, Build]:
    table = {f"topk_{k}_{_text(*s)}": partial(top_k, s, k) for s, k in TOPS}
    table |= {f"cumsum_{_text(*s)}_axis{i}": partial(running_sum, s, i) for s, i in SUMS}
    table |= {f"loop_{_text(*sizes)}": partial(iterations, *sizes) for sizes in ITERATIONS}
    return table | {
        "unique_20000": partial(unique, 20_000),
        "nonzero_512x512": partial(non_zero, (512, 512)),
        "nms_2048_1_200": partial(suppression, 2048, 1, 200),
        "nms_8400_4_100": partial(suppression, 8400, 4, 100),
        "argmax_64x50257": partial(unary, "ArgMax", (64, 50257), [64], axis=1, keepdims=0),
    }


OPERATORS: dict[str, Build] = {
    f"op_{name}": partial(build, name=name)
    for table in (_products(), _convolutions(), _rows(), _pools(), _moves(), _orders())
    for name, build in table.items()
}
