"""Quantized models run in onnxruntime and in mlc with the same numbers, near those of the model in f32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from quantizable import (
    by_onnxruntime,
    checked,
    checked_outputs,
    convolutions,
    drawn,
    made,
    node,
    products,
    samples,
    sqnr,
)

import mlc
from benchmarks.exact_sessions import exact_options
from mlc.quantization import saving

RANDOM = np.random.default_rng
NETWORKS = {"convolutions": convolutions, "products": products}
LEAST = {"static": 28, "dynamic": 30, "weights8": 35, "weights4": 12}
"""Decibels of an output beside that in f32."""


@pytest.mark.parametrize("mode", LEAST)
@pytest.mark.parametrize("name", NETWORKS)
def test_modes(name: str, mode: str) -> None:
    random = RANDOM()
    model = NETWORKS[name](random)
    data = samples(random, model, 20)
    quantized = mlc.quantize(model, data, mode=mode)
    inputs = {"x": data["x"][:3]}
    assert sqnr(by_onnxruntime(model, inputs)[0], checked(quantized, inputs)) > LEAST[mode]
    assert any(layer.form != "f32" and layer.output for layer in quantized.report.layers)
    assert quantized.report.outputs["y"].sqnr > LEAST[mode]


@pytest.mark.parametrize("calibration", ["percentile", "entropy"])
def test_ranges_without_outliers(calibration: str) -> None:
    """An input far from all others costs little where it is cut off."""
    random = RANDOM()
    model = products(random)
    data = samples(random, model, 200)
    data["x"][7, 3, 5] = 300
    inputs = {"x": data["x"][10:20]}
    plain = by_onnxruntime(model, inputs)[0]
    least = sqnr(plain, checked(mlc.quantize(model, data), inputs))
    found = sqnr(plain, checked(mlc.quantize(model, data, calibration=calibration, percentile=99.9), inputs))
    assert found > least + 5


def test_ranges_of_the_least_squared_error() -> None:
    """Of numbers with long tails, and on these themselves: the greatest share of the error is rounding."""
    random = RANDOM()
    model = made([node("MatMul", ["x", "w"], ["y"])], {"w": drawn(random, 24, 8)}, ["n", 24])
    data = {"x": random.laplace(size=(4000, 24)).astype(np.float32)}
    plain = by_onnxruntime(model, data)[0]
    least, found = (
        sqnr(plain, checked(mlc.quantize(model, data, calibration=how), data)) for how in ("minmax", "mse")
    )
    assert found > least + 0.4


@pytest.mark.parametrize("options", [
    {"activations": "int8"}, {"per_channel": False}, {"reduce_range": True}, {"search": True},
])  # fmt: skip
def test_static_options(options: dict[str, object]) -> None:
    random = RANDOM()
    model = convolutions(random)
    data = samples(random, model, 8)
    quantized = mlc.quantize(model, data, **options)
    assert sqnr(by_onnxruntime(model, data)[0], checked(quantized, data)) > 20
    integers = [t for t in quantized.model.graph.initializer if t.data_type == TensorProto.INT8 and len(t.dims) > 1]
    assert len(integers) == 4
    most = max(int(np.abs(numpy_helper.to_array(t).astype(int)).max()) for t in integers)
    assert most == (63 if options.get("reduce_range") else 127)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("symmetric", [False, True])
def test_blocks(bits: int, symmetric: bool) -> None:
    """An extent that blocks do not divide, an odd number of blocks, and Gemm with factors."""
    random = RANDOM()
    weights = {"w": drawn(random, 71, 9), "w2": drawn(random, 5, 9), "b": drawn(random, 5)}
    nodes = [
        node("MatMul", ["x", "w"], ["h"], "first"),
        node("Gemm", ["h", "w2", "b"], ["y"], "second", transB=1, alpha=0.5, beta=2.0),
    ]
    model = made(nodes, weights, ["batch", 71])
    data = samples(random, model, 4)
    plain = by_onnxruntime(model, data)[0]
    found = [
        sqnr(plain, checked(mlc.quantize(model, mode=f"weights{bits}", block=b, symmetric=symmetric), data))
        for b in (16, 64)
    ]
    assert min(found) > (10 if bits == 4 else 35)


def test_search_lowers_the_error_of_weights() -> None:
    random = RANDOM()
    model = products(random)
    errors = [
        [layer.weight.sqnr for layer in mlc.quantize(model, mode="weights4", search=search).report.quantized]
        for search in (False, True)
    ]
    assert all(after > before for before, after in zip(*errors, strict=True))


SINGLE = {
    "conv1d": (node("Conv", ["x", "w"], ["y"], "one", auto_pad="SAME_UPPER", strides=[2]), (6, 4, 3), ["n", 4, 11]),
    "conv3d": (node("Conv", ["x", "w"], ["y"], "one", dilations=[1, 2, 1]), (6, 4, 3, 2, 2), ["n", 4, 6, 6, 6]),
    "depthwise": (node("Conv", ["x", "w"], ["y"], "one", group=4), (4, 1, 3, 3), ["n", 4, 7, 7]),
    "transposed": (node("ConvTranspose", ["x", "w"], ["y"], "one", group=2), (4, 3, 3, 3), ["n", 4, 7, 7]),
    "batch of matrices": (node("MatMul", ["x", "w"], ["y"], "one"), (3, 8, 5), ["n", 3, 4, 8]),
    "left batch": (node("MatMul", ["w", "x"], ["y"], "one"), (3, 8, 5), ["n", 3, 5, 6]),
    "vector": (node("MatMul", ["x", "w"], ["y"], "one"), (8,), ["n", 8]),
    "left vector": (node("MatMul", ["w", "x"], ["y"], "one"), (8,), ["n", 8, 3]),
    "left Gemm": (node("Gemm", ["w", "x"], ["y"], "one", transA=1, transB=1), (6, 4), [5, 6]),
    "transposed operand": (node("Gemm", ["x", "w"], ["y"], "one", transA=1), (6, 4), [6, 5]),
}  # fmt: skip


@pytest.mark.parametrize("mode", ["static", "dynamic", "weights8"])
@pytest.mark.parametrize("name", SINGLE)
def test_single_layers(name: str, mode: str) -> None:
    operator, shape, x = SINGLE[name]
    random = RANDOM()
    model = made([operator], {"w": drawn(random, *shape)}, x)
    data = samples(random, model, 4)
    if mode == "dynamic" and name == "transposed":
        with pytest.raises(mlc.InputError, match="no transposed convolution"):
            mlc.quantize(model, data, mode=mode)
        return
    assert sqnr(by_onnxruntime(model, data)[0], checked(mlc.quantize(model, data, mode=mode), data)) > 25


@pytest.mark.parametrize("mode", LEAST)
def test_a_weight_that_layers_share(mode: str) -> None:
    """Along two axes, and once with a bias."""
    random = RANDOM()
    nodes = [
        node("MatMul", ["x", "w"], ["a"], "one"),
        node("Tanh", ["a"], ["t"]),
        node("MatMul", ["t", "w"], ["b"], "two"),
        node("Gemm", ["b", "w", "bias"], ["y"], "three", transB=1),
    ]
    model = made(nodes, {"w": drawn(random, 16, 16), "bias": drawn(random, 16)}, ["n", 16])
    data = samples(random, model, 12)
    quantized = mlc.quantize(model, data, mode=mode)
    assert sqnr(by_onnxruntime(model, data)[0], checked(quantized, data)) > LEAST[mode] - 3
    assert len(quantized.report.quantized) == 3
    assert all(tensor.name != "w" for tensor in quantized.model.graph.initializer)


@pytest.mark.parametrize("mode", LEAST)
def test_layers_in_branches(mode: str) -> None:
    """Weights inside and outside of a branch; static quantization leaves those inside, and says why."""
    random = RANDOM()
    bodies = [
        helper.make_graph(
            [node("MatMul", ["x", weight], [f"{weight}_y"], f"in_{weight}")], weight, [],
            [helper.make_tensor_value_info(f"{weight}_y", TensorProto.FLOAT, None)], constants,
        )
        for weight, constants in (("w", []), ("v", [numpy_helper.from_array(drawn(random, 16, 16), "v")]))
    ]  # fmt: skip
    nodes = [
        node("ReduceSum", ["x"], ["sum"], keepdims=0),
        node("Greater", ["sum", "zero"], ["condition"]),
        node("If", ["condition"], ["h"], "branch", then_branch=bodies[0], else_branch=bodies[1]),
        node("MatMul", ["h", "w"], ["y"], "after"),
    ]
    model = made(nodes, {"w": drawn(random, 16, 16), "zero": np.float32(0)}, ["n", 16])
    data = samples(random, model, 32)
    quantized = mlc.quantize(model, data, mode=mode, batch=4)
    for x in (np.abs(data["x"]), -np.abs(data["x"])):
        assert sqnr(by_onnxruntime(model, {"x": x})[0], checked(quantized, {"x": x})) > LEAST[mode] - 10
    inside = [layer for layer in quantized.report.layers if layer.name.startswith("in_")]
    assert [layer.form == "f32" and "body of 'branch'" in layer.why for layer in inside] == [mode == "static"] * 2


@pytest.mark.parametrize("opset", [7, 9, 11, 12])
def test_older_opsets(opset: int) -> None:
    random = RANDOM()
    nodes = [
        node("Conv", ["x", "w", "b"], ["a"], "conv", pads=[1] * 4),
        node("BatchNormalization", ["a", "s", "t", "m", "v"], ["n"]),
        node("Relu", ["n"], ["r"]),
        node("Reshape", ["r", "shape"], ["f"]),
        node("Gemm", ["f", "w2", "b2"], ["y"], "last"),
    ]
    weights = {"w": drawn(random, 4, 3, 3, 3), "w2": drawn(random, 144, 5), "b2": drawn(random, 5)}
    weights |= {name: drawn(random, 4) for name in "bstm"} | {"v": np.abs(drawn(random, 4)) + 1}
    model = made(nodes, weights | {"shape": np.array([-1, 144])}, ["n", 3, 6, 6], opset)
    model.ir_version = 3
    inputs = [helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in model.graph.initializer]
    model.graph.input.extend(inputs)
    data = samples(random, model, 8)
    quantized = mlc.quantize(model, data)
    assert sqnr(by_onnxruntime(model, data)[0], checked(quantized, data)) > 25
    assert {info.name for info in quantized.model.graph.input}.isdisjoint(weights)


def test_an_opset_that_cannot_be_raised() -> None:
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("Add", ["a", "b"], ["y"], axis=1, broadcast=1)]
    model = made(nodes, {"w": drawn(RANDOM(), 4, 4), "b": drawn(RANDOM(), 4)}, ["n", 4], 6)
    with pytest.raises(mlc.InputError, match="Opset 6 cannot be raised to 13.*mlc export"):
        mlc.quantize(model, {"x": np.ones((2, 4), np.float32)})


def test_external_data(tmp_path: Path) -> None:
    random = RANDOM()
    model = products(random)
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    data = samples(random, model, 8)
    expected = by_onnxruntime(onnx.load(tmp_path / "m.onnx"), data)[0]
    quantized = mlc.quantize(tmp_path / "m.onnx", data)
    quantized.save(tmp_path / "out.onnx")
    assert sqnr(expected, checked(quantized, data)) > 28
    assert onnx.load(tmp_path / "out.onnx") == quantized.model


def test_weights_beyond_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that protobuf cannot write has its weights beside it, which both engines read."""
    monkeypatch.setattr(saving, "LARGEST", 4000)
    random = RANDOM()
    model = made([node("MatMul", ["x", "w"], ["y"])], {"w": drawn(random, 64, 64)}, ["n", 64])
    quantized = mlc.quantize(model, mode="weights8")
    quantized.save(tmp_path / "out.onnx")
    assert (tmp_path / "out.onnx").stat().st_size < 4000 < (tmp_path / "out.onnx.data").stat().st_size
    assert quantized.report.bytes_before == pytest.approx(64 * 64 * 4, rel=0.05)
    data = samples(random, model, 3)
    found = onnxruntime.InferenceSession(tmp_path / "out.onnx", exact_options(quantized.model)).run(None, data)[0]
    np.testing.assert_allclose(found, checked(quantized, data))
    np.testing.assert_allclose(mlc.compile(tmp_path / "out.onnx").run(data)["y"], found, rtol=1e-4, atol=1e-5)


def test_functions_of_the_model() -> None:
    """Layers in functions are found where these are called, each with its own weight."""
    random = RANDOM()
    nodes = [node("MatMul", ["a", "b"], ["t"]), node("Relu", ["t"], ["c"])]
    opset = [helper.make_opsetid("", 17)]
    calls = [node("Layer", ["x", "w"], ["h"], domain="own"), node("Layer", ["h", "v"], ["y"], domain="own")]
    model = made(calls, {"w": drawn(random, 16, 16), "v": drawn(random, 16, 4)}, ["n", 16])
    model.functions.append(helper.make_function("own", "Layer", ["a", "b"], ["c"], nodes, opset))
    model.opset_import.append(helper.make_opsetid("own", 1))
    data = samples(random, model, 20)
    quantized = mlc.quantize(model, data)
    assert [layer.form for layer in quantized.report.layers] == ["int8", "int8"]
    assert sqnr(by_onnxruntime(model, data)[0], checked(quantized, data)) > 28


def test_outputs_and_sequences_of_several_lengths() -> None:
    """A convolution whose result is an output stays in floats there; runs of other lengths are a list."""
    random = RANDOM()
    nodes = [node("Conv", ["x", "w"], ["y"], "one"), node("Relu", ["y"], ["r"]), node("Conv", ["r", "v"], ["z"], "two")]
    model = made(nodes, {"w": drawn(random, 4, 3, 3), "v": drawn(random, 4, 4, 3)}, ["n", 3, "length"])
    model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, None))
    data = [{"x": random.standard_normal((2, 3, length)).astype(np.float32)} for length in (9, 30, 17)]
    quantized = mlc.quantize(model, data)
    assert quantized.report.samples == 3 and set(quantized.report.outputs) == {"y", "z"}
    for x in data:
        assert sqnr(by_onnxruntime(model, x)[1], checked_outputs(quantized, x)[1]) > 25


def test_weights_that_nodes_compute() -> None:
    """A weight from a Constant node through Transpose and Cast; one of a Constant of doubles."""
    random = RANDOM()
    value = numpy_helper.from_array(drawn(random, 9, 8).astype(np.float64))
    nodes = [
        node("Constant", [], ["c"], value=value),
        node("Cast", ["c"], ["f"], to=TensorProto.FLOAT),
        node("Transpose", ["f"], ["t"], perm=[1, 0]),
        node("Mul", ["t", "half"], ["w"]),
        node("MatMul", ["x", "w"], ["y"], "only"),
    ]
    model = made(nodes, {"half": np.float32(0.5)}, ["n", 8])
    data = samples(random, model, 8)
    quantized = mlc.quantize(model, data)
    assert sqnr(by_onnxruntime(model, data)[0], checked(quantized, data)) > 30
    assert [layer.form for layer in quantized.report.layers] == ["int8"]


def test_halves() -> None:
    random = RANDOM()
    nodes = [
        node("MatMul", ["x", "w"], ["a"], "one"),
        node("Relu", ["a"], ["r"]),
        node("MatMul", ["r", "v"], ["y"], "two"),
    ]
    weights = {"w": drawn(random, 16, 32).astype(np.float16), "v": drawn(random, 32, 8).astype(np.float16)}
    model = made(nodes, weights, ["n", 16])
    for info in (*model.graph.input, *model.graph.output):
        info.type.tensor_type.elem_type = TensorProto.FLOAT16
    data = {"x": random.standard_normal((12, 16)).astype(np.float16)}
    for mode in ("static", "weights8", "weights4"):
        quantized = mlc.quantize(model, data, mode=mode)
        assert sqnr(by_onnxruntime(model, data)[0], checked(quantized, data, 35)) > LEAST[mode] - 3
    with pytest.raises(mlc.InputError, match="takes f32, and this is f16"):
        mlc.quantize(model, data, mode="dynamic")


def test_weights_of_zeros_and_a_bias_beyond_all_products() -> None:
    random = RANDOM()
    zeros = {"w": np.zeros((8, 4), np.float32), "b": drawn(random, 4)}
    tiny = {"w": drawn(random, 8, 4) * np.float32(1e-6), "b": drawn(random, 4) * np.float32(1e6)}
    for weights in (zeros, tiny):
        model = made([node("Gemm", ["x", "w", "b"], ["y"])], weights, ["n", 8])
        data = samples(random, model, 6)
        assert sqnr(by_onnxruntime(model, data)[0], checked(mlc.quantize(model, data), data)) > 80


def test_the_model_itself_stays() -> None:
    model = products(RANDOM())
    before = model.SerializeToString(deterministic=True)
    mlc.quantize(model, samples(RANDOM(), model, 4))
    assert model.SerializeToString(deterministic=True) == before
