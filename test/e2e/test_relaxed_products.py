"""``numerics = relaxed`` on CPUs that multiply pairs of bf16: the products of rounded factors, against NumPy in f64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import mlc
from mlc import target as targets
from mlc.driver.compile import compile_source
from mlc.driver.lower import lower
from mlc.driver.sources import source_of
from mlc.frontends.onnx import import_model
from mlc.options import Options
from mlc.pipelines.backends import backend_of

Array = np.ndarray[Any, Any]
PAIRS = "x86-64-v4:avx512bf16"
HERE = set(targets.get("cpu").features)
runs_pairs = pytest.mark.skipif(not set(targets.get(PAIRS).features) <= HERE, reason="this CPU has no avx512bf16")
MATRICES = [(3, 77, 45), (1, 256, 130), (37, 64, 16), (128, 33, 96), (5, 700, 50)]
CONVOLUTIONS = [  # channels, filters, window, pads, stride, dilation, groups
    (32, 40, 3, 1, 1, 1, 1), (17, 33, 3, 1, 2, 1, 1), (64, 48, 1, 0, 1, 1, 1), (33, 16, 1, 0, 2, 1, 1),
    (20, 36, 3, 2, 1, 2, 1), (64, 64, 3, 1, 1, 1, 2), (48, 24, 5, 2, 1, 1, 1),
]  # fmt: skip


def rounded(x: Array) -> Array:
    return x.astype(ml_dtypes.bfloat16).astype(np.float64)


def model(nodes: list[onnx.NodeProto], x: Any, weights: dict[str, Array], outputs: list[str]) -> onnx.ModelProto:
    made = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in outputs]
    given = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, x)]
    kept = [numpy_helper.from_array(v, k) for k, v in weights.items()]
    return helper.make_model(
        helper.make_graph(nodes, "g", given, made, kept), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )


def data(*shape: int) -> Array:
    random = np.random.default_rng()
    return (random.standard_normal(shape) * np.exp(random.standard_normal(shape)) + 0.3).astype(np.float32)


def close(actual: Array, expected: Array, error: float = 2e-6) -> None:
    assert np.abs(actual - expected).max() <= error * np.abs(expected).max()


def layouts(proto: onnx.ModelProto, target: str = PAIRS, numerics: Any = "relaxed") -> str:
    imported = import_model(proto)
    lower(imported.module, imported.weights, Options(target=targets.get(target), numerics=numerics), until="layout")
    return str(imported.module)


@runs_pairs
@pytest.mark.parametrize(("m", "k", "n"), MATRICES)
@pytest.mark.parametrize("transposed", [False, True])
def test_matrix_products(m: int, k: int, n: int, transposed: bool) -> None:
    x, w, b = data(m, k), data(k, n), data(n)
    stored = np.ascontiguousarray(w.T) if transposed else w
    node = helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=int(transposed))
    for rows in (m, "rows"):
        proto = model([node], [rows, k], {"w": stored, "b": b}, ["y"])
        assert layouts(proto).count("dot2") == 1
        net = mlc.compile(proto, numerics="relaxed", target=PAIRS)
        for x_ in (x, x[: (m + 1) // 2]) if rows == "rows" else (x,):
            close(net.run({"x": x_})["y"], rounded(x_) @ rounded(w) + b)


@runs_pairs
@pytest.mark.parametrize(("c", "f", "window", "pads", "stride", "dilation", "groups"), CONVOLUTIONS)
def test_convolutions(c: int, f: int, window: int, pads: int, stride: int, dilation: int, groups: int) -> None:
    x, w = data(2, c, 13, 11), data(f, c // groups, window, window)
    steps = {"pads": [pads] * 4, "strides": [stride] * 2, "dilations": [dilation] * 2, "group": groups}
    proto = model([helper.make_node("Conv", ["x", "w"], ["y"], **steps)], x.shape, {"w": w}, ["y"])
    wide = model([helper.make_node("Conv", ["x", "w"], ["y"], **steps)], x.shape, {"w": rounded(w).astype("f4")}, ["y"])
    assert "dot2" in layouts(proto)
    expected = mlc.compile(wide, numerics="strict", target=PAIRS).run({"x": rounded(x).astype("f4")})["y"]
    close(mlc.compile(proto, numerics="relaxed", target=PAIRS).run({"x": x})["y"], expected)


@runs_pairs
def test_other_readers_see_what_was_not_rounded() -> None:
    """Two products share the rounded factor; the sum after them reads f32."""
    x, v, w = data(9, 64), data(64, 64), data(64, 64)
    nodes = [
        helper.make_node("Tanh", ["x"], ["t"]),
        helper.make_node("MatMul", ["t", "v"], ["p"]),
        helper.make_node("MatMul", ["t", "w"], ["q"]),
        helper.make_node("Sum", ["p", "q", "t"], ["y"]),
    ]
    proto = model(nodes, [9, 64], {"v": v, "w": w}, ["y", "t"])
    got = mlc.compile(proto, numerics="relaxed", target=PAIRS).run({"x": x})
    close(got["t"], np.tanh(x.astype(np.float64)), 1e-6)
    factor = rounded(got["t"])
    close(got["y"], factor @ rounded(v) + factor @ rounded(w) + got["t"])


@runs_pairs
def test_special_values_pass() -> None:
    """NaN and infinities as in f32; what is beyond the largest bf16 rounds to infinity."""
    x, w = np.ones((6, 32), np.float32), np.ones((32, 16), np.float32)
    x[0, 3], x[1, 4], x[2, 5], x[3, 6], x[4, 7:9] = np.nan, np.inf, -np.inf, 3.4e38, (np.inf, -np.inf)
    x.view(np.uint32)[5, 31] = 0x7F800001  # a NaN whose upper half alone would be infinite
    proto = model([helper.make_node("MatMul", ["x", "w"], ["y"])], x.shape, {"w": w}, ["y"])
    got = mlc.compile(proto, numerics="relaxed", target=PAIRS).run({"x": x})["y"]
    expected = np.array([np.nan, np.inf, -np.inf, np.inf, np.nan, np.nan], np.float32)
    np.testing.assert_array_equal(got, np.repeat(expected[:, None], 16, 1))


def of_bf16(node: onnx.NodeProto, x: Array, w: Array) -> onnx.ModelProto:
    """A model whose tensors are bf16."""
    made = helper.make_tensor_value_info("y", onnx.TensorProto.BFLOAT16, None)
    given = helper.make_tensor_value_info("x", onnx.TensorProto.BFLOAT16, x.shape)
    kept = helper.make_tensor("w", onnx.TensorProto.BFLOAT16, w.shape, w.tobytes(), raw=True)
    graph = helper.make_graph([node], "g", [given], [made], [kept])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


@pytest.mark.parametrize("kind", ["MatMul", "Conv"])
def test_models_of_bf16_keep_their_factors(kind: str) -> None:
    """By default too, as no value changes; in strict numerics they are cast to f32."""
    shapes = ((37, 77), (77, 45)) if kind == "MatMul" else ((1, 40, 9, 7), (33, 40, 3, 3))
    x, w = (data(*shape).astype(ml_dtypes.bfloat16) for shape in shapes)
    proto = of_bf16(helper.make_node(kind, ["x", "w"], ["y"]), x, w)
    for numerics in ("default", "relaxed"):
        assert layouts(proto, numerics=numerics).count("dot2") == 1
    assert "dot2" not in layouts(proto, numerics="strict") + layouts(proto, "x86-64-v4")
    if not set(targets.get(PAIRS).features) <= HERE:
        return
    expected, got = (mlc.compile(proto, numerics=n, target=PAIRS).run({"x": x})["y"] for n in ("strict", "default"))
    wide, exact = got.astype(np.float64), expected.astype(np.float64)
    assert np.mean(wide == exact) > 0.98  # sums in another order round to a neighbour now and then
    np.testing.assert_allclose(wide, exact, rtol=2**-7, atol=1e-6 * np.abs(exact).max())


def test_what_stays_in_f32() -> None:
    """Numerics by default, targets without the instruction, short sums, few columns, depthwise, products of inputs."""
    proto = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [8, 64], {"w": data(64, 32)}, ["y"])
    assert "dot2" in layouts(proto)
    assert "bf16" not in layouts(proto, numerics="default")
    assert "bf16" not in layouts(proto, "x86-64-v4")
    assert "bf16" not in layouts(proto, "x86-64-v3")
    for k, n in ((31, 32), (64, 15)):
        assert "bf16" not in layouts(
            model([helper.make_node("MatMul", ["x", "w"], ["y"])], [8, k], {"w": data(k, n)}, ["y"])
        )
    assert "bf16" not in layouts(model([helper.make_node("MatMul", ["x", "x"], ["y"])], [64, 64], {}, ["y"]))
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)
    winograd = layouts(model([node], [1, 64, 56, 56], {"w": data(64, 64, 3, 3)}, ["y"]))
    assert "graph.winograd_rows" in winograd and "bf16" not in winograd
    for c, group in ((64, 64), (3, 1)):
        node = helper.make_node("Conv", ["x", "w"], ["y"], group=group)
        assert "bf16" not in layouts(model([node], [1, c, 9, 9], {"w": data(64, c // group, 3, 3)}, ["y"]))


def test_an_artifact_says_what_it_needs() -> None:
    """The artifact carries the list of instruction sets that the loader checks (``test_c_runtime.py``)."""
    proto = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [8, 64], {"w": data(64, 32)}, ["y"])
    options = Options(target=targets.get(PAIRS), numerics="relaxed")
    imported = import_model(proto)
    lower(imported.module, imported.weights, options, until="plan")
    printed = backend_of(options.target).print_kernels(imported.module).strings.values()
    assert any("mlc_dot2_f32x16(" in text for text in printed)
    assert b"avx512bf16" in compile_source(source_of(proto), options).artifact.library.read_bytes()
