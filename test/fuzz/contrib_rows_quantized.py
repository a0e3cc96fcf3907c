"""Cases of operators on quantized tensors: elementwise, pools, convolutions."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from contrib import Case, Data, Draw, row

KINDS = ("u1", "i1")


def scale(d: Draw, *shape: int, low: float = 0.01, high: float = 0.2) -> Data:
    return d.uniform(low, high, *shape, constant=True)


def parameters(d: Draw, kind: str, zero: bool = True) -> list[Data | None]:
    """A scale and a zero point of a tensor."""
    return [scale(d), d.bytes(kind=kind, constant=True) if zero else None]


def narrow(d: Draw, kind: str, *shape: int, constant: bool = True) -> Data:
    """Integers of 4 bits (whose inputs onnxruntime takes as initializers), or of whole bytes."""
    if kind not in ("int4", "uint4"):
        return d.bytes(*shape, kind=kind, constant=constant)
    low = -8 if kind == "int4" else 0
    drawn = d.integers(low, low + 16, *shape, constant=True)
    return d.data(drawn.array.astype(getattr(ml_dtypes, kind)), shape, constant=True)


def spatial(d: Draw, rank: int, low: int = 5, high: int = 9) -> list[int]:
    return [d.open(f"space{n}", low, high) for n in range(rank)]


def image(d: Draw, kind: str, rank: int, channels: int, last: bool) -> Data:
    shape = [d.open("batch", 1, 3), channels, *spatial(d, rank)]
    return d.bytes(*([shape[0], *shape[2:], channels] if last else shape), kind=kind)


def window(d: Draw, kernel: list[int], dilations: bool = True, ceil: bool = True) -> dict[str, Any]:
    """Attributes of a window beside its extents."""
    rank = len(kernel)
    how: dict[str, Any] = {"strides": [d.int(1, 2) for _ in kernel]} if d.flip() else {}
    how |= {"dilations": [d.int(1, 2) for _ in kernel]} if dilations and d.flip(0.3) else {}
    padding = d.one("none", "pads", "VALID", "SAME_UPPER", "SAME_LOWER")
    if padding == "pads":
        how["pads"] = [d.int(0, min(1, k - 1)) for k in kernel * 2]
    elif padding != "none":
        how["auto_pad"] = padding
        if padding.startswith("SAME"):
            how.pop("dilations", None)
    assert len(how.get("pads", kernel * 2)) == 2 * rank
    return how | ({"ceil_mode": d.int(0, 1)} if ceil else {})


@row("QuantizeLinear")
def quantize_linear(d: Draw) -> Case:
    """Of 4 bits the test of the operator itself has some: onnxruntime gives no such tensor in Python."""
    kind, shape, axis = d.one("u1", "i1", "u2", "i2"), [d.open("n", 1, 5), 4, 6], d.one(None, 1, 2, -1)
    columns = () if axis is None else (shape[axis],)
    inputs = [d.normal(*shape, scale=20), scale(d, *columns, low=0.1, high=2), narrow(d, kind, *columns)]
    inputs = inputs[:2] if d.flip(0.3) else inputs
    how = {"axis": d.one(0, 1) if axis is None else axis}
    return Case("QuantizeLinear", inputs, how if axis is not None or d.flip() else {})


@row("DequantizeLinear")
def dequantize_linear(d: Draw) -> Case:
    kind, shape, axis = d.one("u1", "i1", "u2", "i2", "i4", "uint4", "int4"), (3, 4, 6), d.one(None, 1, 2, -1)
    columns = () if axis is None else (shape[axis],)
    zero = d.given(np.zeros(columns), "i4") if kind == "i4" else narrow(d, kind, *columns)
    inputs = [narrow(d, kind, *shape, constant=False), scale(d, *columns), None if d.flip(0.3) else zero]
    return Case("DequantizeLinear", inputs, {} if axis is None else {"axis": axis})


@row("QLinearConv, com.microsoft")
def qlinear_conv(d: Draw) -> Case:
    groups, last, rank, kind = d.int(1, 2), d.flip(), d.int(1, 2), d.one(*KINDS)
    channels, filters, kernel = groups * d.int(1, 3), groups * d.int(1, 3), [d.int(1, 3) for _ in range(rank)]
    of_weight = "i1" if kind == "i1" else d.one(*KINDS)
    columns = (filters,) if d.flip() else ()
    zero = d.given(np.zeros(columns), of_weight) if columns else d.bytes(kind=of_weight, constant=True)
    weight = d.bytes(filters, channels // groups, *kernel, kind=of_weight, constant=True)
    inputs = [image(d, kind, rank, channels, last), *parameters(d, kind), weight]
    inputs += [scale(d, *columns, low=0.001, high=0.01), zero, *parameters(d, kind)]
    inputs += [d.integers(-500, 500, filters, constant=True)] if d.flip() else []
    how = window(d, kernel, ceil=False) | {"group": groups} | ({"channels_last": 1} if last else {})
    return Case("QLinearConv", inputs, how, steps=1)


@row("NhwcMaxPool")
def nhwc_max_pool(d: Draw) -> Case:
    kernel = [d.int(1, 3) for _ in range(d.int(1, 3))]
    x = image(d, d.one(*KINDS), len(kernel), d.int(1, 5), last=True)
    return Case("NhwcMaxPool", [x], {"kernel_shape": kernel, **window(d, kernel)})


@row("QLinearAveragePool")
def qlinear_average_pool(d: Draw) -> Case:
    kernel, kind, last = [d.int(1, 3) for _ in range(d.int(1, 3))], d.one(*KINDS), d.flip()
    inputs = [image(d, kind, len(kernel), d.int(1, 4), last), *parameters(d, kind), *parameters(d, kind)]
    how = {"kernel_shape": kernel, "count_include_pad": d.int(0, 1), **window(d, kernel, dilations=False)}
    return Case("QLinearAveragePool", inputs, how | ({"channels_last": 1} if last else {}), steps=1)


@row("QLinearGlobalAveragePool")
def qlinear_global_average_pool(d: Draw) -> Case:
    kind, last = d.one(*KINDS), d.flip()
    inputs = [image(d, kind, d.int(1, 3), d.int(1, 4), last), *parameters(d, kind), *parameters(d, kind)]
    return Case("QLinearGlobalAveragePool", inputs, {"channels_last": int(last)}, steps=1)


@row("QLinearWhere")
def qlinear_where(d: Draw) -> Case:
    kind, n = d.one(*KINDS), d.open("n", 2, 5)
    shapes = d.one([(n, 3), (n, 3), (n, 3)], [(n, 1), (3,), (n, 3)], [(3,), (2, n, 3), (1, 1)])
    condition = d.integers(0, 2, *shapes[0], kind="?")
    sides = [[d.bytes(*shape, kind=kind), *parameters(d, kind)] for shape in shapes[1:]]
    return Case("QLinearWhere", [condition, *sides[0], *sides[1], *parameters(d, kind)], steps=1)


def _binary(d: Draw, op: str) -> Case:
    kind, n = d.one(*KINDS), d.open("n", 2, 5)
    left, right = d.one([(n, 7), (n, 7)], [(n, 7), (7,)], [(2, 1, 7), (n, 1)], [(n, 7), ()])
    sides = [[d.bytes(*shape, kind=kind), *parameters(d, kind)] for shape in (left, right)]
    return Case(op, [*sides[0], *sides[1], *parameters(d, kind, d.flip(0.8))], steps=1)


@row("QLinearAdd")
def qlinear_add(d: Draw) -> Case:
    return _binary(d, "QLinearAdd")


@row("QLinearMul")
def qlinear_mul(d: Draw) -> Case:
    return _binary(d, "QLinearMul")


def _unary(d: Draw, op: str, **how: Any) -> Case:
    kind = d.one(*KINDS)
    x = d.bytes(d.open("n", 1, 6), d.int(1, 40), kind=kind)
    return Case(op, [x, *parameters(d, kind, d.flip(0.8)), *parameters(d, kind)], how, steps=1)


@row("QLinearSigmoid")
def qlinear_sigmoid(d: Draw) -> Case:
    return _unary(d, "QLinearSigmoid")


@row("QLinearLeakyRelu")
def qlinear_leaky_relu(d: Draw) -> Case:
    return _unary(d, "QLinearLeakyRelu", **({"alpha": d.one(0.3, -0.5, 1.5)} if d.flip() else {}))


@row("QLinearSoftmax")
def qlinear_softmax(d: Draw) -> Case:
    kind, shape = d.one(*KINDS), [d.open("n", 1, 4), d.int(1, 4), d.int(1, 9)]
    x = [d.bytes(*shape, kind=kind), scale(d), d.bytes(kind=kind, constant=True) if d.flip() else None]
    y = [d.given(d.one(1 / 256, 0.01), "f4"), d.given({"u1": 0, "i1": -128}[kind], kind)]
    how = {"axis": d.int(-3, 2), "opset": d.one(11, 12, 13, 17)}
    return Case("QLinearSoftmax", [*x, *y], {**how, **({} if d.flip(0.8) else {"axis": -1})}, steps=1)


@row("QLinearConcat")
def qlinear_concat(d: Draw) -> Case:
    kind, n, axis = d.one(*KINDS), d.open("n", 1, 4), d.int(-2, 1)
    inputs = parameters(d, kind)
    for _ in range(d.int(1, 3)):
        inputs += [d.bytes(n, 3, kind=kind), *parameters(d, kind)]
    return Case("QLinearConcat", inputs, {"axis": axis}, steps=1)
