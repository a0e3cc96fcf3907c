"""mlc.InferenceSession against onnxruntime's: the same calls, the same names, types and results."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper

import mlc
from mlc.inference_session import NodeArg
from mlc.io_binding import OrtValue

Array = np.ndarray[Any, Any]
FLOAT = TensorProto.FLOAT


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def proto() -> ModelProto:
    """y = x / s, z = x · s, n = z as an integer."""
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Div", ["x", "s"], ["y"]), helper.make_node("Mul", ["x", "s"], ["z"]),
             helper.make_node("Cast", ["z"], ["n"], to=TensorProto.INT64)]  # fmt: skip
    inputs = [value("x", FLOAT, ["batch", 3]), value("s", FLOAT, [3])]
    outputs = [value("y", FLOAT, ["batch", 3]), value("z", FLOAT, ["batch", 3]), value("n", 7, ["batch", 3])]
    graph = helper.make_graph(nodes, "scales", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@pytest.fixture(scope="module")
def both(proto: ModelProto) -> tuple[Any, Any]:
    """mlc's session, and onnxruntime's."""
    data, providers = proto.SerializeToString(), ["CPUExecutionProvider"]
    return (mlc.InferenceSession(data, providers=providers), onnxruntime.InferenceSession(data, providers=providers))


def feeds(batch: int = 4) -> dict[str, Array]:
    seed = int(np.random.SeedSequence().entropy) % 2**32
    print("seed", seed)
    random = np.random.default_rng(seed)
    return {"x": random.standard_normal((batch, 3), np.float32), "s": random.uniform(1, 2, 3).astype(np.float32)}


def same(found: list[Array], expected: list[Array]) -> None:
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_inputs_and_outputs(both: tuple[Any, Any]) -> None:
    ours, theirs = both
    for found, expected in ((ours.get_inputs(), theirs.get_inputs()), (ours.get_outputs(), theirs.get_outputs())):
        assert [(a.name, a.shape, a.type) for a in found] == [(a.name, a.shape, a.type) for a in expected]
    assert ours.get_providers() == ["mlc"]


@pytest.mark.parametrize("names", [None, [], ["z"], ["n", "y"], ("z", "z")])
@pytest.mark.parametrize("batch", [1, 5, 0])
def test_run(both: tuple[Any, Any], names: Any, batch: int) -> None:
    given = feeds(batch)
    same(both[0].run(names, given), both[1].run(names, given))


def test_lists_are_converted(both: tuple[Any, Any]) -> None:
    given = {name: array.tolist() for name, array in feeds().items()}
    same(both[0].run(None, given), both[1].run(None, given))


@pytest.mark.parametrize("names, change", [
    (["q"], {}), ("y", {}), (None, {"w": np.ones(3, np.float32)}), (None, {"s": np.ones(3)}),
    (None, {"s": np.ones(4, np.float32)}),
])  # fmt: skip
def test_what_onnxruntime_refuses(both: tuple[Any, Any], names: Any, change: dict[str, Array]) -> None:
    with pytest.raises(mlc.RunError):
        both[0].run(names, feeds() | change)
    with pytest.raises(Exception):  # noqa: B017 - several classes of onnxruntime, without a common one
        both[1].run(names, feeds() | change)


def bound(session: Any, given: dict[str, Array]) -> tuple[Array, list[Array], list[list[int]]]:
    """An output in the caller's array, all outputs, and their shapes, of the same calls to either session."""
    binding, mine = session.io_binding(), np.zeros((len(given["x"]), 3), np.float32)
    binding.bind_cpu_input("x", given["x"])
    s = given["s"]
    binding.bind_input("s", "cpu", 0, np.float32, [3], s.ctypes.data)
    binding.bind_output("z", "cpu", 0, np.float32, list(mine.shape), mine.ctypes.data)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    return mine, binding.copy_outputs_to_cpu(), [value.shape() for value in binding.get_outputs()]


def test_binding(both: tuple[Any, Any]) -> None:
    given = feeds()
    (ours, all_ours, shapes), (theirs, all_theirs, expected) = (bound(session, given) for session in both)
    same([ours, *all_ours], [theirs, *all_theirs])
    assert shapes == expected and not np.shares_memory(ours, all_ours[0])
    np.testing.assert_array_equal(ours, all_ours[0])


def test_bound_values_and_what_cannot_be_bound(both: tuple[Any, Any]) -> None:
    session, given, out = both[0], feeds(), np.zeros((4, 3), np.float32)
    binding = session.io_binding()
    with pytest.raises(mlc.RunError, match="No output is bound"):
        session.run_with_iobinding(binding)
    for name in given:
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(given[name]))
    binding.bind_ortvalue_output("z", OrtValue.ortvalue_from_numpy(out))
    session.run_with_iobinding(binding)
    same([out], session.run(["z"], given))
    assert binding.get_outputs()[0].numpy() is out and binding.get_outputs()[0].data_ptr() == out.ctypes.data
    with pytest.raises(mlc.RunError, match=r"inputs \['x', 's'\], not 'nope'"):
        binding.bind_cpu_input("nope", given["x"])
    with pytest.raises(mlc.RunError, match="outputs .* not 'nope'"):
        binding.bind_output("nope")
    with pytest.raises(mlc.RunError, match="device 'cuda'"):
        binding.bind_output("z", "cuda")
    with pytest.raises(mlc.RunError, match="Output 'z' must be float32"):
        binding.bind_output("z", element_type=TensorProto.DOUBLE, shape=[4, 3], buffer_ptr=np.zeros(12).ctypes.data)
        session.run_with_iobinding(binding)


def test_run_async(both: tuple[Any, Any]) -> None:
    given, ended = feeds(), threading.Event()
    found: list[Any] = []

    def callback(*results: Any) -> None:
        found.append(results)
        ended.set()

    both[0].run_async(["z"], given, callback, "mine")
    assert ended.wait(10)
    ((results, data, error),) = found
    same(results, both[1].run(["z"], given))
    assert data == "mine" and error == ""
    ended.clear()
    both[0].run_async(None, given | {"s": np.ones(3)}, callback, None)
    assert ended.wait(10)
    assert found[1][0] == [] and "'s' must be float32" in found[1][2]


def test_a_file_an_artifact_and_threads(proto: ModelProto, tmp_path: Path) -> None:
    path, given = tmp_path / "net.onnx", feeds()
    path.write_bytes(proto.SerializeToString())
    options = SimpleNamespace(intra_op_num_threads=2)
    session = mlc.InferenceSession(str(path), options, dims={"batch": 4})
    assert session.model.threads == 2 and session.get_inputs()[0].shape == [4, 3]
    session.model.save(tmp_path / "net.so")
    again = mlc.InferenceSession(tmp_path / "net.so", onnxruntime.SessionOptions(), ["CUDAExecutionProvider"])
    assert again.model.threads is None
    same(again.run(None, given), session.run(None, given))


@pytest.mark.parametrize("dtype, name", [
    (np.float64, "double"), (np.float16, "float16"), (np.bool_, "bool"), (np.uint8, "uint8"), (object, "string"),
    (ml_dtypes.bfloat16, "bfloat16"), (ml_dtypes.float8_e4m3fn, "float8e4m3fn"), (ml_dtypes.int4, "int4"),
])  # fmt: skip
def test_names_of_types(dtype: Any, name: str) -> None:
    assert NodeArg.of("x", mlc.TensorSpec(np.dtype(dtype), ())).type == f"tensor({name})"
