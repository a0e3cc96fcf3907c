"""Every malformed model gives a short error that says what is wrong and where; nothing else happens."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest
from graphs import graph, node
from onnx import ModelProto, TensorProto, helper

from mlc.errors import InputError
from mlc.frontends.onnx import UnsupportedError, check_model, import_model


def relu() -> ModelProto:
    return graph([node("Relu", "x", "y")], {"x": [2, 3]}, ["y"])


def fails(model: ModelProto | bytes | Path, match: str) -> None:
    with pytest.raises(InputError, match=match) as caught:
        import_model(model)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "is empty"),
        (b"hello, this is text\n" * 20, "not an ONNX model"),
        (b"\x00" * 1000, "not an ONNX model"),
        (np.random.default_rng(3).bytes(4000), "not an ONNX model"),
    ],
)
def test_files_that_are_not_models(tmp_path: Path, content: bytes, match: str) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    fails(path, match)
    fails(content, match)


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    fails(tmp_path / "missing.onnx", "No such file")
    fails(tmp_path, "Is a directory")


def test_every_truncation_is_an_error_or_a_model(tmp_path: Path) -> None:
    weights = {"w": np.random.default_rng(1).standard_normal((3, 4)).astype(np.float32)}
    model = graph([node("MatMul", "x w", "y")], {"x": [2, 3]}, ["y"], weights).SerializeToString()
    path = tmp_path / "model.onnx"
    for length in range(len(model)):
        path.write_bytes(model[:length])
        with pytest.raises(InputError):
            import_model(path)


def test_versions() -> None:
    model = relu()
    model.opset_import[0].version = 999
    fails(model, "opset 999; the newest supported one is")
    for version in (-1, 0, 1 << 31, 1 << 62):
        model = relu()
        model.opset_import.append(helper.make_opsetid("com.example", version))
        fails(model, f"uses opset {version} of domain 'com.example'")
    model = relu()
    model.ir_version = 99
    fails(model, "IR version 99; the newest supported one is")
    model = relu()
    del model.opset_import[:]
    fails(model, "which opset")


def test_structure() -> None:
    x = {"x": [2, 3]}
    cycle = [node("Add", "x b", "a", name="first"), node("Relu", "a", "b")]
    fails(graph(cycle, x, ["b"]), "'b' is used before it is computed.*cycle.*node 'first'")
    fails(graph([node("Relu", "z", "y")], x, ["y"]), "'z' is used but nothing defines it.*'Relu_0'")
    fails(graph([node("Relu", "x", "y"), node("Abs", "x", "y")], x, ["y"]), "Two values are named 'y'")
    fails(graph([node("Relu", "x", "y")], x, ["nothing"]), "output 'nothing' is computed by no node")
    fails(graph([node("Relu", "x x", "y")], x, ["y"]), "2 inputs; the operator takes 1 to 1")
    fails(graph([node("Flatten", "x", "y", axis=1.5)], x, ["y"]), "'axis' is FLOAT")
    fails(graph([node("Concat", "x x", "y")], x, ["y"]), "'axis' is missing")


@pytest.mark.parametrize(
    ("nodes", "match"),
    [
        ([node("Add", "x i", "y", name="sum")], "mixes.*f32\\[2, 3\\], i64\\[3\\].*'sum'.*'Add'"),
        ([node("MatMul", "x x", "y")], "dimension 'k' is 3 and 2"),
        ([node("Transpose", "x", "y", perm=[0, 2])], "not a permutation"),
        ([node("Reshape", "x i", "y")], "other elements"),
    ],
)
def test_shapes_and_types_that_do_not_fit(nodes: list[onnx.NodeProto], match: str) -> None:
    fails(graph(nodes, {"x": [2, 3]}, ["y"], {"i": np.array([4, 2, 1])}), match)


@pytest.mark.parametrize("dims", [[-1, 4], [1 << 40, 1 << 40], [(1 << 63) - 1]])
def test_absurd_dimensions(dims: list[int]) -> None:
    model = relu()
    model.graph.initializer.append(TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=b"1234"))
    fails(model, "dimension|more elements")
    if min(dims) >= 0:  # of an input -1 says that a dimension is open
        fails(graph([node("Relu", "x", "y")], {"x": dims}, ["y"]), "dimension|more elements")


def test_data_of_the_wrong_length(tmp_path: Path) -> None:
    for count in (100, 100_000):
        model = relu()
        data = np.zeros(count, np.float32).tobytes()
        model.graph.initializer.append(TensorProto(name="w", data_type=1, dims=[count + 1], raw_data=data))
        fails(model, "'w'.*wrong length|'w'.*bytes")
        path = tmp_path / f"{count}.onnx"
        path.write_bytes(model.SerializeToString())
        fails(path, "'w'.*wrong length|'w'.*bytes")


def test_functions_of_floats_on_whole_numbers() -> None:
    model = graph([node("IsNaN", "x", "y")], {"x": [2, 3]}, ["y"], types={"x": TensorProto.BOOL})
    fails(model, "isnan of i1; cast the operand to a float")
    model = graph([node("IsInf", "x", "y")], {"x": [2, 3]}, ["y"], types={"x": TensorProto.INT8}, opset=20)
    fails(model, "eq of i8 and inf; cast the operand to a float")
    model = graph([node("HardSigmoid", "x", "y")], {"x": [2, 3]}, ["y"], types={"x": TensorProto.INT32})
    fails(model, "add of i32 and 0.5")


def test_more_pieces_than_can_be_made() -> None:
    nodes = [node("SplitToSequence", "x", "s"), node("SequenceErase", "s", "t"), node("SequenceLength", "t", "y")]
    fails(graph(nodes, {"x": [1 << 20, 3]}, ["y"]), "1048576 pieces; at most")
    nodes = [node("SplitToSequence", "x two", "s"), node("SequenceLength", "s", "y")]
    fails(graph(nodes, {"x": [1 << 20, 3]}, ["y"], {"two": np.array(2)}), "524288 pieces; at most")


@pytest.mark.parametrize("axes", [[0, 0], [1, -4, 3]])
def test_new_dimensions_that_are_named_twice(axes: list[int]) -> None:
    model = graph([node("Unsqueeze", "x a", "y")], {"x": [3, 2]}, ["y"], {"a": np.array(axes)})
    fails(model, "axes .* name a dimension twice")


@pytest.mark.parametrize("count", [0, 1, 3, 1 << 40])
def test_another_number_of_parts_than_outputs(count: int) -> None:
    model = graph([node("Split", "x", "y z", num_outputs=count)], {"x": [4, 3]}, ["y", "z"])
    fails(model, f"num_outputs is {count}, but the node has 2 outputs")


@pytest.mark.parametrize("name", ["b", "s", "n", "o", "l"])
def test_boxes_scores_and_limits_of_other_types(name: str) -> None:
    shapes = {"b": [1, 5, 4], "s": [1, 2, 5], "n": [1], "o": [1], "l": [1]}
    kinds = {"n": TensorProto.INT64, name: TensorProto.FLOAT16}
    model = graph([node("NonMaxSuppression", "b s n o l", "y")], shapes, ["y"], types=kinds)
    fails(model, "boxes, scores and limits of .*f16.*; cast them to f32, f32, i64, f32, f32")


def test_groups_of_filters_whose_number_is_open() -> None:
    model = graph([node("Conv", "x w", "y", group=2)], {"x": [2, 4, 8], "w": ["filters", 2, 3]}, ["y"])
    fails(model, "filters filters in 2 groups; fix their number")


def test_paddings_that_leave_less_than_nothing() -> None:
    shapes = {"x": [1, 1, 3, 1], "w": [1, 2, 3, 3]}
    model = graph([node("ConvTranspose", "x w", "y", strides=[3, 2], pads=[1, 2, 1, 2])], shapes, ["y"])
    fails(model, "-1 elements of a dimension of extent 4")


WINDOWS = {
    "MaxPool": {"kernel_shape": [3, 3]}, "AveragePool": {"kernel_shape": [3, 3]}, "LpPool": {"kernel_shape": [3, 3]},
    "MaxUnpool": {"kernel_shape": [2, 2], "strides": [2, 2]}, "Conv": {"strides": [1, 1]},
    "ConvTranspose": {"dilations": [1, 1]},
}  # fmt: skip


@pytest.mark.parametrize("op", WINDOWS)
@pytest.mark.parametrize("number", [0, -1, -(1 << 63)])
def test_windows_of_nothing(op: str, number: int) -> None:
    inputs = "x p" if op == "MaxUnpool" else "x w" if "Conv" in op else "x"
    positions = {"p": np.arange(32, dtype="i8").reshape(1, 2, 4, 4)}
    weights = {n: a for n, a in {**positions, "w": np.ones((2, 2, 3, 3), "f4")}.items() if n in inputs}
    attributes = WINDOWS[op] | {name: [number, *rest] for name, (_, *rest) in list(WINDOWS[op].items())[:1]}
    model = graph([node(op, inputs, "y", **attributes)], {"x": [1, 2, 4, 4]}, ["y"], weights)
    fails(model, f"{next(iter(WINDOWS[op]))} of {number}, [123]: its elements must be positive")


def test_blocks_of_less_than_nothing() -> None:
    model = graph([node("SpaceToDepth", "x", "y", blocksize=-2)], {"x": [1, 2, 4, 6]}, ["y"])
    fails(model, "sizes below 0 in graph.reshape to f32")


@pytest.mark.parametrize("cap", [-2.0, float("-inf"), float("nan")])
def test_softcaps_that_are_none(cap: float) -> None:
    shapes = {name: [1, 2, 3, 4] for name in "qkv"}
    model = graph([node("Attention", "q k v", "y", softcap=cap)], shapes, ["y"])
    model.opset_import[0].version = 23
    fails(model, "softcap .*; it is positive, or 0")


def external(folder: Path, location: str, **entries: int) -> Path:
    model = relu()
    tensor = TensorProto(name="w", data_type=1, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=str(value))
    model.graph.initializer.append(tensor)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder / "model.onnx"


def test_external_data_stays_inside_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(16))
    (folder / "w").write_bytes(bytes(16))
    os.symlink(tmp_path / "secret", folder / "link")
    import_model(external(folder, "w"))
    fails(external(folder, "../secret"), "not a path inside")
    fails(external(folder, str(tmp_path / "secret")), "not a path inside")
    fails(external(folder, "link"), "link out of the model's folder")
    fails(external(folder, "gone"), "not there")
    fails(external(folder, "a\0b"), "cannot be the name of a file")
    fails(external(folder, "a" * 300), "cannot be the name of a file")
    fails(external(folder, "w", offset=8), "bytes 8 to 24")
    fails(external(folder, "w", offset=-8), "bytes -8")
    fails(external(folder, "w", length=8), "8 bytes of data where")
    fails(external(folder, "w").read_bytes(), "external file")


TRAINING = "ai.onnx.preview.training"


def test_everything_unsupported_is_listed_at_once() -> None:
    nodes = [
        helper.make_node("Gradient", ["x"], ["a"], domain=TRAINING, name="slope", xs=["x"], y="z"),
        node("Relu", "a", "b"),
        helper.make_node("Magic", ["x"], ["c"], domain="com.example", name="magic"),
        node("Add", "b c", "y"),
    ]
    model = graph(nodes, {"x": [2, 3]}, ["y"])
    model.opset_import.extend([helper.make_opsetid("com.example", 1), helper.make_opsetid(TRAINING, 1)])
    found = check_model(model)
    assert [(u.op, u.domain, u.opset, u.node) for u in found] == [
        ("Gradient", TRAINING, 1, "slope"),
        ("Magic", "com.example", 1, "magic"),
    ]
    with pytest.raises(UnsupportedError, match="2 unsupported") as caught:
        import_model(model)
    assert caught.value.found == tuple(found)
    assert check_model(relu()) == []


@pytest.mark.parametrize("name", [b"grph", b"relu_node", b"dimn", b"x_in", b"y_out"])
def test_names_that_are_no_text(name: bytes) -> None:
    model = graph([node("Relu", "x_in", "y_out", name="relu_node")], {"x_in": ["dimn", 3]}, ["y_out"])
    model.graph.name = "grph"
    fails(model.SerializeToString().replace(name, b"\x80" + name[1:]), "is not valid text")


def test_functions_with_names_that_are_no_text() -> None:
    model = relu()
    inner = helper.make_node("Relu", ["a_in"], ["b_out"])
    function = helper.make_function("own", "twice_f", ["a_in"], ["b_out"], [inner], [helper.make_opsetid("", 17)])
    model.functions.append(function)
    data = model.SerializeToString()
    import_model(data)
    for name in (b"own", b"twice_f", b"a_in", b"b_out"):
        fails(data.replace(name, b"\x80" + name[1:]), "is not valid text")
