"""Weights of a model in a file are not read at import; they come back as they were."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from graphs import graph, node
from onnx import numpy_helper

from mlc.dialects.semantics.interpreter import interpret
from mlc.errors import InputError
from mlc.frontends.onnx import import_model
from mlc.frontends.onnx.reading import protobuf_stream
from mlc.frontends.onnx.reading.protobuf_stream import INSIDE, WireError, skeleton

RANDOM = np.random.default_rng(7)
WEIGHTS = {
    "big": RANDOM.standard_normal((3, 400, 200)).astype(np.float32),
    "half": RANDOM.standard_normal((200, 300)).astype(np.float16),
    "small": RANDOM.standard_normal((300,)).astype(np.float32),
}


def model() -> onnx.ModelProto:
    nodes = [
        node("MatMul", "x big", "a"),
        node("Cast", "half", "h", to=onnx.TensorProto.FLOAT),
        node("MatMul", "a h", "b"),
        node("Add", "b small", "y"),
    ]
    return graph(nodes, {"x": [3, 5, 400]}, ["y"], WEIGHTS)


def saved(folder: Path, how: str) -> Path:
    proto, path = model(), folder / "model.onnx"
    if how == "floats":
        del proto.graph.initializer[0].raw_data
        proto.graph.initializer[0].ClearField("raw_data")
        proto.graph.initializer[0].float_data.extend(WEIGHTS["big"].ravel().tolist())
    onnx.save(proto, path, save_as_external_data=how == "external", location="model.data", size_threshold=0)
    return path


@pytest.mark.parametrize("how", ["raw", "external", "memory"])
def test_values(tmp_path: Path, how: str) -> None:
    imported = import_model(model() if how == "memory" else saved(tmp_path, how))
    x = RANDOM.standard_normal((3, 5, 400)).astype(np.float32)
    wanted = (x.astype(np.float64) @ WEIGHTS["big"]) @ WEIGHTS["half"].astype(np.float64) + WEIGHTS["small"]
    y = interpret(imported.module, imported.weights, {"x": x})["y"]
    np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())
    for name, array in WEIGHTS.items():
        np.testing.assert_array_equal(imported.weights[name], array)


def test_packed_floats_and_constants_of_nodes(tmp_path: Path) -> None:
    array = RANDOM.standard_normal((100, 300)).astype(np.float32)
    tensor = numpy_helper.from_array(array)
    tensor.ClearField("raw_data")
    tensor.float_data.extend(array.ravel().tolist())
    nodes = [node("Constant", "", "c", value=tensor), node("Add", "x c", "y")]
    path = tmp_path / "model.onnx"
    onnx.save(graph(nodes, {"x": [1, 300]}, ["y"]), path)
    assert len(skeleton(memoryview(path.read_bytes()))) < 2000
    imported = import_model(path)
    y = interpret(imported.module, imported.weights, {"x": np.zeros((1, 300), np.float32)})["y"]
    np.testing.assert_array_equal(y, array)


@pytest.mark.parametrize("kind", ["int4", "uint4"])
def test_two_integers_in_a_byte(tmp_path: Path, kind: str) -> None:
    numbers = RANDOM.integers(0, 8, (3, 401))
    weight = numpy_helper.from_array(numbers.astype(getattr(ml_dtypes, kind)), "w")
    proto = graph([node("Cast", "w", "f", to=1), node("Add", "x f", "y")], {"x": [401]}, ["y"], opset=21)
    proto.graph.initializer.append(weight)
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    imported = import_model(tmp_path / "m.onnx")
    y = interpret(imported.module, imported.weights, {"x": np.zeros(401, np.float32)})["y"]
    np.testing.assert_array_equal(y, numbers)


def test_import_does_not_hold_the_weights(tmp_path: Path) -> None:
    size = 64 << 20
    nodes = [node("Add", "x w", "y")]
    path = tmp_path / "model.onnx"
    onnx.save(graph(nodes, {"x": [1]}, ["y"], {"w": np.zeros(size // 4, np.float32)}), path)
    import_model(path)  # operators are loaded
    tracemalloc.start()
    imported = import_model(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < size // 16
    assert imported.weights.entry("w").nbytes == size


def test_a_file_cannot_claim_a_place_in_itself(tmp_path: Path) -> None:
    proto = model()
    for offset in ("-4", "99999999", "zero"):
        del proto.graph.initializer[0].external_data[:]
        proto.graph.initializer[0].external_data.add(key=INSIDE, value=offset)
        proto.graph.initializer[0].external_data.add(key="length", value=str(WEIGHTS["big"].nbytes))
        proto.graph.initializer[0].ClearField("raw_data")
        onnx.save(proto, tmp_path / "model.onnx")
        with pytest.raises(InputError, match="'big'"):
            import_model(tmp_path / "model.onnx")


def test_the_skeleton_of_a_small_model_is_the_model() -> None:
    data = graph([node("Relu", "x", "y")], {"x": [2]}, ["y"]).SerializeToString()
    assert skeleton(memoryview(data)) == data


@pytest.mark.parametrize("data", [b"\x0a\xff\xff\xff\xff\x7f", b"\xff" * 20, b"\x3a\x05abc", b"\x0b"])
def test_bytes_that_are_no_message(data: bytes) -> None:
    with pytest.raises(WireError):
        skeleton(memoryview(data))


def test_lists_of_attributes_are_not_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forest of a million nodes has a field for each element of each column: only its first bytes are read."""
    numbers = node("Some", "x", "y", numbers=[1 << 40] * 100_000, floats=[0.5] * 100_000, names=["LEAF"] * 100_000)
    tensor = node("Constant", "", "big", value=numpy_helper.from_array(WEIGHTS["big"]))
    data = graph([numbers, tensor], {"x": [2]}, ["y"]).SerializeToString()
    read = []
    varint = protobuf_stream._read_varint
    monkeypatch.setattr(protobuf_stream, "_read_varint", lambda *at: read.append(at) or varint(*at))
    bare = onnx.ModelProto.FromString(skeleton(memoryview(data)))
    assert len(read) < 500
    assert bare.graph.node[0] == numbers
    assert not bare.graph.node[1].attribute[0].t.raw_data
