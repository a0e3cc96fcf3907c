"""mlc.InferenceSession against onnxruntime's: the same calls, the same names, types and results."""

from __future__ import annotations

import json
import subprocess
import sys
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
from mlc.onnxruntime import OrtValue
from mlc.onnxruntime.metadata import NodeArg

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
    assert ours.get_providers() == ["CPUExecutionProvider"]


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


ABSENT = """
    AdapterFormat LoraAdapter ModelCompiler ModelPackage ModelPackageComponentContext ModelPackageContext
    ModelPackageOptions ModelPackageWriteMode OrtArenaCfg OrtCompileApiFlags OrtDeviceMemoryType OrtDeviceVendorId
    OrtEpAssignedNode OrtEpAssignedSubgraph OrtEpContextData OrtEpContextDataBuffer OrtEpDevice
    OrtExecutionProviderDevicePolicy OrtExternalInitializerInfo OrtHardwareDevice OrtHardwareDeviceType OrtMemoryInfo
    OrtMemoryInfoDeviceType OrtSparseFormat OrtSyncStream SparseTensor copy_tensors create_and_register_allocator
    create_and_register_allocator_v2 get_ep_devices has_collective_ops register_execution_provider_library
    set_default_logger_callback set_global_thread_pool_sizes unregister_execution_provider_library
    contextlib cuda_version import_capi_exception onnxruntime_validation package_name version
"""  # providers, devices, adapters and packages of onnxruntime's own; the last row: names that it leaks


def test_names_of_the_module() -> None:
    # A subpackage is a name of onnxruntime only once some test has imported it, so subpackages do not count.
    names = (name for name in dir(onnxruntime) if f"onnxruntime.{name}" not in sys.modules)
    public = {name for name in names if not name.startswith("_")}
    assert public - set(dir(mlc.onnxruntime)) <= set(ABSENT.split())
    with pytest.raises(AttributeError, match="no 'LoraAdapter'"):
        mlc.onnxruntime.LoraAdapter  # noqa: B018


@pytest.mark.parametrize("name", ["SessionOptions", "RunOptions"])
def test_options_have_the_same_fields_and_defaults(name: str) -> None:
    theirs, ours = getattr(onnxruntime, name)(), getattr(mlc.onnxruntime, name)()
    for field in (field for field in dir(theirs) if not field.startswith("_") and hasattr(ours, field)):
        if not callable(value := getattr(theirs, field)):
            assert getattr(ours, field) == (value if isinstance(value, bool | int | str) else int(value)), field
    ours.log_severity_level = 3
    with pytest.raises(RuntimeError, match="no entry 'a'"):
        ours.get_session_config_entry("a") if name == "SessionOptions" else ours.get_run_config_entry("a")


def test_free_dimensions_of_the_options(proto: ModelProto) -> None:
    named = ModelProto()
    named.CopyFrom(proto)
    named.graph.input[0].type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    by_name, by_denotation = mlc.onnxruntime.SessionOptions(), mlc.onnxruntime.SessionOptions()
    by_name.add_free_dimension_override_by_name("batch", 4)
    by_denotation.add_free_dimension_override_by_denotation("DATA_BATCH", 4)
    for options in (by_name, by_denotation):
        session = mlc.onnxruntime.InferenceSession(named.SerializeToString(), options)
        assert [arg.shape for arg in session.get_inputs()] == [[4, 3], [3]]
        with pytest.raises(mlc.onnxruntime.capi.onnxruntime_pybind11_state.InvalidArgument):
            session.run(None, feeds(5))


def test_metadata_and_declared_shapes(proto: ModelProto) -> None:
    described = ModelProto()
    described.CopyFrom(proto)
    described.producer_name, described.domain, described.doc_string = "a tool", "org.example", "what it does"
    helper.set_model_props(described, {"characters": "a\nb", "größe": "3"})
    described.graph.input[0].type.tensor_type.shape.dim[0].ClearField("dim_param")
    described.graph.output[0].type.tensor_type.ClearField("shape")
    data = described.SerializeToString()
    ours, theirs = mlc.InferenceSession(data), onnxruntime.InferenceSession(data)
    for field in ("producer_name", "graph_name", "domain", "description", "graph_description", "version"):
        assert getattr(ours.get_modelmeta(), field) == getattr(theirs.get_modelmeta(), field), field
    assert ours.get_modelmeta().custom_metadata_map == theirs.get_modelmeta().custom_metadata_map
    assert [arg.shape for arg in ours.get_inputs()] == [arg.shape for arg in theirs.get_inputs()] == [[None, 3], [3]]


def test_classes_of_errors(both: tuple[Any, Any], tmp_path: Path) -> None:
    errors = mlc.onnxruntime.capi.onnxruntime_pybind11_state
    cases: list[tuple[dict[str, Any], type[Exception]]] = [
        ({"x": feeds()["x"]}, ValueError),
        (feeds() | {"s": np.ones(3)}, errors.InvalidArgument),
        (feeds() | {"s": np.ones(4, np.float32)}, errors.InvalidArgument),
        (feeds() | {"more": np.ones(4, np.float32)}, errors.InvalidArgument),
    ]
    for given, kind in cases:
        with pytest.raises(Exception) as theirs:  # noqa: B017
            both[1].run(None, given)
        with pytest.raises(kind) as ours:
            both[0].run(None, given)
        assert type(theirs.value).__name__ in {each.__name__ for each in type(ours.value).__mro__}
    (tmp_path / "text.onnx").write_text("text")
    for path in (tmp_path / "missing.onnx", tmp_path / "text.onnx"):
        with pytest.raises(Exception) as theirs:  # noqa: B017
            onnxruntime.InferenceSession(path)
        with pytest.raises(mlc.InputError) as refused:
            mlc.InferenceSession(path)
        assert type(refused.value).__name__ == type(theirs.value).__name__
    with pytest.raises(errors.NotImplemented, match="NoSuchOperator"):
        node = helper.make_node("NoSuchOperator", ["x"], ["y"], domain="org.example")
        value = helper.make_tensor_value_info("x", FLOAT, [2])
        graph = helper.make_graph([node], "g", [value], [helper.make_tensor_value_info("y", FLOAT, [2])])
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid("org.example", 1)]
        mlc.InferenceSession(helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString())


def sequences() -> ModelProto:
    """Scores of classes as a list of maps, and the sequence of its two halves."""
    zipped = helper.make_node("ZipMap", ["x"], ["maps"], domain="ai.onnx.ml", classlabels_strings=["a", "b", "c", "d"])
    split = helper.make_node("SplitToSequence", ["x", "two"], ["halves"], axis=1)
    tensor = helper.make_tensor_type_proto(FLOAT, None)
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.STRING, tensor))
    outputs = [helper.make_value_info("maps", maps),
               helper.make_value_info("halves", helper.make_sequence_type_proto(tensor))]  # fmt: skip
    graph = helper.make_graph([zipped, split], "g", [helper.make_tensor_value_info("x", FLOAT, ["n", 4])], outputs)
    graph.initializer.append(helper.make_tensor("two", TensorProto.INT64, [], [2]))
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def test_sequences_and_maps() -> None:
    data, x = sequences().SerializeToString(), np.random.default_rng().random((3, 4), np.float32)
    ours, theirs = mlc.InferenceSession(data), onnxruntime.InferenceSession(data)
    assert [(a.name, a.type) for a in ours.get_outputs()] == [(a.name, a.type) for a in theirs.get_outputs()]
    (maps, halves), (expected_maps, expected) = ours.run(None, {"x": x}), theirs.run(None, {"x": x})
    assert maps == expected_maps and len(halves) == len(expected) == 2
    for found, wanted in zip(halves, expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_sequence_as_an_input() -> None:
    tensor = helper.make_tensor_type_proto(FLOAT, None)
    node = helper.make_node("ConcatFromSequence", ["xs"], ["y"], axis=0)
    inputs = [helper.make_value_info("xs", helper.make_sequence_type_proto(tensor))]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", FLOAT, None)])
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()
    ours, theirs = mlc.InferenceSession(data), onnxruntime.InferenceSession(data)
    for count in (1, 3):
        xs = [np.random.default_rng().random((n + 1, 2), np.float32) for n in range(count)]
        same(ours.run(["y"], {"xs": xs}), theirs.run(["y"], {"xs": xs}))
    with pytest.raises(mlc.onnxruntime.capi.onnxruntime_pybind11_state.NoModel):
        ours.model  # noqa: B018


def test_ort_values(both: tuple[Any, Any]) -> None:
    given = feeds()
    for module, session in zip((mlc.onnxruntime, onnxruntime), both, strict=True):
        values = {name: module.OrtValue.ortvalue_from_numpy(array.copy()) for name, array in given.items()}
        y, n = session.run_with_ort_values(["y", "n"], values)
        assert (y.data_type(), n.data_type(), y.element_type()) == ("tensor(float)", "tensor(int64)", FLOAT)
        assert y.shape() == [4, 3] and y.is_tensor() and y.has_value() and y.tensor_size_in_bytes() == 48
        np.testing.assert_allclose(y.numpy(), given["x"] / given["s"], rtol=1e-6)
        values["x"].update_inplace(given["x"] * 2)
        np.testing.assert_array_equal(values["x"].numpy(), given["x"] * 2)
        empty = module.OrtValue.ortvalue_from_shape_and_type([2, 5], np.float32, "cpu", 0)
        assert empty.shape() == [2, 5]


def test_a_profile(proto: ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = mlc.onnxruntime.SessionOptions()
    options.enable_profiling, options.profile_file_prefix = True, "mine"
    session = mlc.InferenceSession(proto.SerializeToString(), options)
    assert session.end_profiling() == ""
    session.run(None, feeds())
    path = Path(session.end_profiling())
    assert path.name.startswith("mine_") and json.loads(path.read_text())["traceEvents"]


PROGRAM = """
import onnxruntime as ort
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
import importlib.util, numpy as np, sys
assert importlib.util.find_spec("onnxruntime") is not None and sys.argv[1:] == ["model.onnx"]
session = ort.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
print(type(session).__module__, session.run(["y"], {"x": np.ones((2, 3), np.float32), "s": np.ones(3, np.float32)})[0].sum())
try:
    session.run(None, {"x": np.ones((2, 3)), "s": np.ones(3, np.float32)})
except InvalidArgument as error:
    print("InvalidArgument")
"""  # noqa: E501


def test_a_program_that_is_not_changed(proto: ModelProto, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    for arguments in (["program.py"], ["-m", "program"]):
        command = [sys.executable, "-m", "mlc.onnxruntime", *arguments, "model.onnx"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert ran.stdout == "mlc.onnxruntime.session 6.0\nInvalidArgument\n"
    for arguments, text in ([], "usage"), (["missing.py"], "no program 'missing.py'"):
        command = [sys.executable, "-m", "mlc.onnxruntime", *arguments]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == 2 and text in ran.stderr
    with pytest.raises(RuntimeError, match="imported already"):
        mlc.onnxruntime.install()  # these tests have imported onnxruntime
