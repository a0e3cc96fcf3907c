"""Products of bytes with constant weights, compiled: exactly against NumPy's 64-bit integers, and models that quantize
against onnxruntime in floats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, NodeProto, helper, numpy_helper

import mlc
from mlc import target as targets
from mlc.driver.lower import lower
from mlc.frontends.onnx import import_model
from mlc.options import Options

Array = np.ndarray[Any, Any]
HERE = set(targets.get("cpu").features)
TARGETS = [  # vpdpbusd, if this machine has it; pmaddwd of each width
    name for name in ("cpu", "x86-64-v4", "x86-64-v3", "x86-64") if set(targets.get(name).features) <= HERE
]
PRODUCTS = [  # left and right type, K, N, zero point of the left, and of the right: one, one a column
    ("u1", "i1", 64, 64, 7, None),
    ("u1", "i1", 77, 45, None, None),
    ("i1", "i1", 130, 40, -3, 0),
    ("u1", "u1", 96, 33, 200, 128),
    ("i1", "u1", 61, 50, 100, "columns"),
    ("u1", "i1", 3072, 34, 0, "columns"),
]
CONVOLUTIONS = [  # types, channels, filters, window, pads, strides, group, zero points
    ("u1", "i1", 32, 40, 3, 1, 1, 1, 9, None),
    ("u1", "i1", 3, 64, 7, 3, 2, 1, 250, None),
    ("i1", "i1", 33, 50, 1, 0, 1, 1, -7, 0),
    ("u1", "u1", 20, 36, 3, 0, 1, 1, 5, "filters"),
    ("u1", "i1", 64, 64, 3, 1, 1, 2, 11, None),
    ("u1", "i1", 64, 64, 3, 1, 2, 64, 130, None),
]


class Graph:
    """Collects nodes, inputs and constants of one model, and what it should give."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, Array] = {}
        self.feeds: dict[str, Array] = {}
        self.wanted: dict[str, Array] = {}

    def bytes(self, dtype: str, *shape: int) -> Array:
        """All values, the extremes often: 255 · -128 twice does not fit 16 bits."""
        info = np.iinfo(dtype)
        values = self.random.integers(info.min, info.max + 1, shape)
        extreme = np.where(np.dtype(dtype).kind == "u", info.max, info.min)
        return np.where(self.random.random(shape) < 0.5, extreme, values).astype(dtype)

    def add(self, op: str, inputs: Sequence[str], output: str, **attributes: Any) -> None:
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))

    def constant(self, name: str, value: Array | None) -> str:
        """The name of a constant; of None that of an input which is absent."""
        if value is None:
            return ""
        self.constants[name] = value
        return name

    def model(self, symbolic: bool = False) -> ModelProto:
        inputs = [_info(name, value, ["rows"] if symbolic else []) for name, value in self.feeds.items()]
        outputs = [onnx.ValueInfoProto(name=name) for name in self.wanted or ["y"]]
        tensors = [numpy_helper.from_array(value, name) for name, value in self.constants.items()]
        graph = helper.make_graph(self.nodes, "integers", inputs, outputs, tensors)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def _info(name: str, value: Array, rows: list[str]) -> onnx.ValueInfoProto:
    shape = [*rows, *value.shape[len(rows) :]]
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), shape)


def products(g: Graph) -> None:
    for n, (left, right, k, columns, zero, other) in enumerate(PRODUCTS):
        x, w = g.bytes(left, 2, 19, k), g.bytes(right, k, columns)
        zx = None if zero is None else np.array(zero, left)
        zw = None if other is None else g.bytes(right, columns) if other == "columns" else np.array(other, right)
        names = [f"x{n}", g.constant(f"w{n}", w), g.constant(f"a{n}", zx), g.constant(f"b{n}", zw)]
        g.add("MatMulInteger", names, f"y{n}")
        g.feeds[f"x{n}"] = x
        g.wanted[f"y{n}"] = (wide(x) - wide(zx)) @ (wide(w) - wide(zw))


def convolutions(g: Graph, zero_is_known: bool = True) -> None:
    for n, (left, right, channels, filters, size, pad, stride, group, zero, other) in enumerate(CONVOLUTIONS):
        x, w = g.bytes(left, 2, channels, 11, 13), g.bytes(right, filters, channels // group, size, size)
        zx = np.array(zero, left)
        zw = None if other is None else g.bytes(right, filters) if other == "filters" else np.array(other, right)
        (g.constants if zero_is_known else g.feeds)[f"a{n}"] = zx
        names = [f"x{n}", g.constant(f"w{n}", w), f"a{n}", g.constant(f"b{n}", zw)]
        g.add("ConvInteger", names, f"y{n}", pads=[pad] * 4, strides=[stride] * 2, group=group)
        g.feeds[f"x{n}"] = x
        offset = wide(zw).reshape(-1, 1, 1, 1)
        g.wanted[f"y{n}"] = convolved(wide(x) - wide(zx), wide(w) - offset, pad, stride, group)


def zeros_of_a_run(g: Graph) -> None:
    """Padding is with a zero point that only a run knows, as of DynamicQuantizeLinear."""
    convolutions(g, zero_is_known=False)


def extremes(g: Graph) -> None:
    """All 255 by all -128 and all 127: two of these products do not fit 16 bits, in which pmaddubsw would add them."""
    w = np.repeat(np.array([[-128, 127]], "i1"), 20, axis=1)
    for n, k in enumerate((77, 3072)):
        g.feeds[f"x{n}"] = np.full((19, k), 255, "u1")
        g.add("MatMulInteger", [f"x{n}", g.constant(f"w{n}", np.repeat(w, k, axis=0))], f"y{n}")
        g.wanted[f"y{n}"] = np.repeat(255 * k * wide(w), 19, axis=0)
    g.feeds["x"] = np.full((1, 64, 9, 9), 255, "u1")
    filters = np.broadcast_to(w.reshape(-1, 1, 1, 1), (40, 64, 3, 3)).copy()
    g.add("ConvInteger", ["x", g.constant("w", filters)], "y")
    g.wanted["y"] = np.broadcast_to(255 * 576 * wide(w).reshape(1, -1, 1, 1), (1, 40, 7, 7))


def wide(x: Array | None) -> Array:
    return np.zeros((), np.int64) if x is None else x.astype(np.int64)


def convolved(x: Array, w: Array, pad: int, stride: int, group: int) -> Array:
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    windows = windows.reshape(x.shape[0], group, w.shape[1], *windows.shape[2:])
    y = np.einsum("ngcyxab,gfcab->ngfyx", windows, w.reshape(group, -1, *w.shape[1:]), optimize=True)
    return y.reshape(x.shape[0], w.shape[0], *y.shape[3:])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", [products, convolutions, zeros_of_a_run, extremes])
def test_whole_numbers_are_exact(kind: Any, target: str) -> None:
    g = Graph(3)
    kind(g)
    results = mlc.compile(g.model(), target=target, threads=2).run(g.feeds)
    for name, wanted in g.wanted.items():
        assert results[name].dtype == np.int32
        np.testing.assert_array_equal(results[name], wanted, err_msg=name)


def quantize(g: Graph, x: str, scale: float, zero: int, dtype: str = "u1") -> str:
    """A value through bytes and back."""
    names = [g.constant(f"{x}.s", np.array(scale, "f4")), g.constant(f"{x}.z", np.array(zero, dtype))]
    g.add("QuantizeLinear", [x, *names], f"{x}.q")
    g.add("DequantizeLinear", [f"{x}.q", *names], f"{x}.d")
    return f"{x}.d"


def weight(g: Graph, name: str, *shape: int, axis: int) -> str:
    """A weight of bytes with a scale for each channel."""
    channels = shape[axis]
    scales = g.constant(f"{name}.s", g.random.uniform(0.01, 0.02, channels).astype("f4"))
    zeros = g.constant(f"{name}.z", np.zeros(channels, "i1"))
    values = g.constant(f"{name}.q", g.random.integers(-127, 128, shape).astype("i1"))
    g.add("DequantizeLinear", [values, scales, zeros], name, axis=axis)
    return name


def residual(g: Graph, dtype: str) -> None:
    """conv, relu | conv, + , relu, conv | matmul, with bytes between them."""
    low = 0 if dtype == "u1" else -128
    g.feeds["x"] = g.random.standard_normal((2, 3, 14, 15)).astype("f4")
    x = quantize(g, "x", 0.02, low + 120, dtype)
    bias = g.constant("bias", g.random.standard_normal(32).astype("f4"))
    g.add("Conv", [x, weight(g, "w0", 32, 3, 3, 3, axis=0), bias], "c0", pads=[1] * 4)
    g.add("Relu", ["c0"], "r0")
    r0 = quantize(g, "r0", 0.04, low, dtype)
    g.add("Conv", [r0, weight(g, "w1", 32, 32, 3, 3, axis=0), bias], "c1", pads=[1] * 4)
    g.add("Add", [quantize(g, "c1", 0.2, low + 130, dtype), r0], "sum")
    g.add("Relu", ["sum"], "r1")
    g.add("MaxPool", [quantize(g, "r1", 0.1, low, dtype)], "p", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    g.add("GlobalAveragePool", [quantize(g, "p", 0.1, low, dtype)], "mean")
    g.add("Flatten", [quantize(g, "mean", 0.05, low, dtype)], "flat")
    g.add("Gemm", ["flat", weight(g, "w2", 50, 32, axis=0), ""], "m", transB=1)
    g.add("Identity", [quantize(g, "m", 0.05, low + 128, dtype)], "y")


@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
@pytest.mark.parametrize("dtype", ["u1", "i1"])
def test_a_quantized_network(dtype: str, target: str) -> None:
    """Sums of floats end near to a tie here and there, and then some numbers are another step away."""
    g = Graph(5)
    residual(g, dtype)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = g.model()
    wanted = onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, g.feeds)[0]
    y = mlc.compile(model, target=target, threads=2).run(g.feeds)["y"]
    assert np.abs(y - wanted).max() <= 2 * 0.05 + 1e-6
    assert np.mean(np.abs(y - wanted) > 1e-6) < 0.1


def operators(g: Graph) -> None:
    """The operators that quantize, on a symbolic number of rows. Weights have 7 bits: onnxruntime adds two products in
    16 bits on a CPU without VNNI, where larger ones saturate.
    """
    low, random = "com.microsoft", g.random
    w, v = random.integers(-64, 65, (64, 48)).astype("i1"), random.integers(-64, 65, (32, 16, 3, 3)).astype("i1")
    for name, value in {"as": 0.02, "cs": 0.01, "ys": 0.3}.items():
        g.constant(name, np.array(value, "f4"))
    for name, zero in {"az": np.uint8(7), "cz": np.int8(0), "yz": np.uint8(120)}.items():
        g.constant(name, np.array(zero))
    g.constant("w", w), g.constant("wt", w.T.copy()), g.constant("v", v)
    g.constant("ws", random.uniform(0.01, 0.02, 48).astype("f4")), g.constant("wz", np.zeros(48, "i1"))
    g.constant("vs", random.uniform(0.01, 0.02, 32).astype("f4")), g.constant("vz", np.zeros(32, "i1"))
    g.constant("wb", random.integers(-500, 500, 48).astype("i4"))
    g.constant("vb", random.integers(-500, 500, 32).astype("i4"))
    g.feeds |= {"a": g.bytes("u1", 3, 64), "x": g.bytes("u1", 3, 16, 9, 9)}
    g.feeds["f"] = random.normal(size=(3, 64)).astype("f4")
    g.add("QLinearMatMul", ["a", "as", "az", "w", "ws", "wz", "ys", "yz"], "y0")
    g.add("QLinearConv", ["x", "as", "az", "v", "vs", "vz", "ys", "yz", "vb"], "y1", pads=[1] * 4)
    g.nodes.append(helper.make_node("DynamicQuantizeLinear", ["f"], ["fq", "fs", "fz"]))
    g.add("MatMulInteger", ["fq", "w", "fz"], "y2")
    g.add("QGemm", ["a", "as", "az", "wt", "cs", "cz", "wb", "ys", "yz"], "y3", transB=1, domain=low)
    g.add("DynamicQuantizeMatMul", ["f", "w", "cs"], "y4", domain=low)
    g.add("MatMulIntegerToFloat", ["a", "w", "as", "cs", "az", "cz"], "y5", domain=low)
    g.wanted = dict.fromkeys([f"y{n}" for n in range(6)], np.zeros(0))


def test_operators_that_quantize() -> None:
    g = Graph(11)
    operators(g)
    model = g.model(symbolic=True)
    results = mlc.compile(model, threads=2).run(g.feeds)
    wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(list(g.wanted), g.feeds)
    for name, y in zip(g.wanted, wanted, strict=True):
        step = 1 if y.dtype == np.uint8 else 1e-5 * np.abs(y).max() if y.dtype == np.float32 else 0
        np.testing.assert_allclose(results[name].astype("f8"), y.astype("f8"), rtol=0, atol=step, err_msg=name)


BY_FOURS = [  # four of the operators share two products
    (operators, "strict", 4), (products, "strict", 6), (convolutions, "default", 6), (residual, "default", 3),
    (residual, "strict", 0), (zeros_of_a_run, "strict", 6),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "numerics", "number"), BY_FOURS)
def test_products_are_by_fours(kind: Any, numerics: str, number: int) -> None:
    """Those of real numbers only in default numerics; 3x3 convolutions of stride 1 by pairs of i16 with AVX2."""
    g = Graph(5)
    kind(g, "u1") if kind is residual else kind(g)
    imported, options = import_model(g.model()), Options(targets.get("x86-64-v4:avx512vnni"), numerics=numerics)
    lower(imported.module, imported.weights, options, until="layout")
    assert str(imported.module).count('product = "dot4(x0, x1)"') == number
    imported, options = import_model(g.model()), Options(targets.get("znver3"), numerics=numerics)
    lower(imported.module, imported.weights, options, until="layout")
    assert sum(str(imported.module).count(f'product = "{name}(x0, x1)"') for name in ("dot4", "dot2_i16")) == number


@pytest.mark.parametrize(("window", "pads", "dilation", "stride"), [([5], [1, 6], 2, 1), ([3, 2], [2, 0, 0, 1], 1, 2)])
def test_dynamic_quantization_of_images_of_any_size(
    window: list[int], pads: list[int], dilation: int, stride: int
) -> None:
    g, rank, rng = Graph(7), len(window), np.random.default_rng(8)
    x = (rng.standard_normal((1, 6, *[31, 17][:rank])) * 3 + 1).astype("f4")
    g.feeds["x"], g.wanted["y"] = x, np.zeros(0)
    g.constant("w", g.bytes("u1", 37, 6, *window))
    g.constant("wz", np.array(74, "u1"))
    g.nodes.append(helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]))
    steps = {"dilations": [dilation] * rank, "strides": [stride] * rank}
    g.add("ConvInteger", ["q", "w", "z", "wz"], "y", pads=pads, **steps)
    model = g.model()
    for n in range(rank):
        model.graph.input[0].type.tensor_type.shape.dim[2 + n].dim_param = f"n{n}"
    compiled, session = mlc.compile(model, threads=2), onnxruntime.InferenceSession(model.SerializeToString())
    for extent in (31, 9, 4):
        feeds = {"x": x[:, :, :extent]}
        np.testing.assert_array_equal(compiled.run(feeds)["y"], session.run(None, feeds)[0])
