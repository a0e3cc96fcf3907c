"""Shapes that a model computes become symbols."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import assert_like_onnxruntime, graph, node, op_names, result_shapes
from onnx import TensorProto

from mlc.dialects.semantics.interpreter import main_of
from mlc.errors import InputError
from mlc.frontends.onnx import UnsupportedError, import_model


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def split_heads(batch: int | str, seq: int | str):  # type: ignore[no-untyped-def]
    """x [batch, seq, 12] -> [batch, 3, seq, 4], its shape computed as exporters do."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape zero", "b", axis=0),
        node("Gather", "shape one", "s", axis=0),
        node("Unsqueeze", "b axis", "b1"),
        node("Unsqueeze", "s axis", "s1"),
        node("Concat", "b1 s1 tail", "wanted", axis=0),
        node("Reshape", "x wanted", "split"),
        node("Transpose", "split", "y", perm=[0, 2, 1, 3]),
    ]
    weights = {"zero": np.array(0), "one": np.array(1), "axis": ints(0), "tail": ints(3, -1)}
    return graph(nodes, {"x": [batch, seq, 12]}, ["y"], weights)


def test_a_shape_computed_by_the_model_is_symbolic() -> None:
    imported = import_model(split_heads("batch", "seq"))
    assert result_shapes(imported) == ["batch,3,seq,4"]
    assert op_names(imported) == ["reshape", "transpose"]


def test_fixed_dimensions() -> None:
    assert result_shapes(import_model(split_heads("batch", "seq"), dims={"batch": 2})) == ["2,3,seq,4"]
    with pytest.raises(InputError, match="no symbolic dimension 'bach'.*batch, seq"):
        import_model(split_heads("batch", "seq"), dims={"bach": 2})


def test_values_are_those_of_onnxruntime() -> None:
    x = np.random.default_rng(1).standard_normal((2, 5, 12)).astype(np.float32)
    assert_like_onnxruntime(split_heads("batch", "seq"), {"x": x})


@pytest.mark.parametrize(
    ("wanted", "shape"), [((0, -1), "batch,7*seq"), ((-1, 7), "batch*seq,7"), ((0, 0, 7, 1), "batch,seq,7,1")]
)
def test_reshape_with_zero_and_minus_one(wanted: tuple[int, ...], shape: str) -> None:
    model = graph([node("Reshape", "x to", "y")], {"x": ["batch", "seq", 7]}, ["y"], {"to": ints(*wanted)})
    assert result_shapes(import_model(model)) == [shape]


def test_arithmetic_on_shapes() -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Slice", "s one three", "hw"),
        node("Mul", "hw two", "doubled"),
        node("Cast", "doubled", "as32", to=TensorProto.INT32),
        node("Cast", "as32", "as64", to=TensorProto.INT64),
        node("ReduceProd", "as64", "count", keepdims=1, axes=[0]),
        node("Concat", "minus count", "both", axis=0),
        node("Equal", "both minus", "free"),
        node("Where", "free one both", "shape"),
        node("ConstantOfShape", "shape", "y"),
    ]
    weights = {"one": ints(1), "three": ints(3), "two": ints(2), "minus": ints(-1)}
    model = graph(nodes, {"x": [3, "height", "width"]}, ["y"], weights)
    assert result_shapes(import_model(model)) == ["1,4*height*width"]


def test_dimensions_without_a_name_and_with_a_loop_name() -> None:
    model = graph([node("Relu", "x", "y")], {"x": [None, "n", "batch size", 4]}, ["y"])
    assert result_shapes(import_model(model)) == ["x_0,n_,batch_size,4"]
    assert result_shapes(import_model(model, dims={"n": 3, "batch size": 2, "x_0": 5})) == ["5,3,2,4"]


def test_dimensions_named_like_words_of_c() -> None:
    model = graph([node("Relu", "x", "y")], {"x": ["int", "for", "buf", "1st"]}, ["y"])
    assert result_shapes(import_model(model)) == ["int_,for_,buf_,d1st"]


def test_an_expression_of_another_dimension() -> None:
    model = graph([node("Concat", "a b", "y", axis=0)], {"a": ["past"], "b": ["past + 1"]}, ["y"])
    assert result_shapes(import_model(model)) == ["2*past+1"]


@pytest.mark.parametrize(
    ("start", "end", "step", "shape"),
    [
        (1, 1 << 62, 1, "seq-1"),
        (0, -1, 1, "seq-1"),
        (-1, -(1 << 62), -1, "seq"),
        (0, 1, 1, "1"),
        (0, 1 << 62, 2, "((seq+1)//(2))"),
    ],
)
def test_slices_of_a_symbolic_dimension(start: int, end: int, step: int, shape: str) -> None:
    weights = {"start": ints(start), "end": ints(end), "axis": ints(0), "step": ints(step)}
    model = graph([node("Slice", "x start end axis step", "y")], {"x": ["seq"]}, ["y"], weights)
    assert result_shapes(import_model(model)) == [shape]
    assert_like_onnxruntime(model, {"x": np.arange(7, dtype=np.float32)})


def test_a_symbolic_slice_of_a_table_leaves_a_guard() -> None:
    nodes = [node("Shape", "x", "n"), node("Slice", "table zero n", "rows"), node("Add", "x rows", "y")]
    model = graph(nodes, {"x": ["seq"]}, ["y"], {"table": np.arange(9, dtype=np.float32), "zero": ints(0)})
    imported = import_model(model)
    assert result_shapes(imported) == ["seq"]
    assert [g.data for g in main_of(imported.module).attributes["graph.guards"]] == ["-seq+9: Slice at node 'Slice_1'"]
    assert_like_onnxruntime(model, {"x": np.ones(4, np.float32)})


def test_a_symbol_as_data() -> None:
    nodes = [node("Shape", "x", "s"), node("Cast", "s", "f", to=TensorProto.FLOAT), node("Mul", "f half", "y")]
    model = graph(nodes, {"x": ["batch", "seq"]}, ["y"], {"half": np.float32([0.5, 0.25])})
    assert_like_onnxruntime(model, {"x": np.ones((3, 8), np.float32)})


def test_many_symbols_as_data() -> None:
    nodes = [node("Shape", "x", "s"), node("Tile", "s times", "row"), node("Cast", "row", "y", to=TensorProto.FLOAT)]
    model = graph(nodes, {"x": ["batch", "seq"]}, ["y"], {"times": ints(40)})
    assert_like_onnxruntime(model, {"x": np.ones((3, 8), np.float32)})


def test_range_expand_and_tile() -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Squeeze", "s", "n"),
        node("Range", "zero n one", "positions"),
        node("Unsqueeze", "positions axis", "row"),
        node("Concat", "two s", "grid", axis=0),
        node("Expand", "row grid", "grid_"),
        node("Tile", "grid_ repeats", "y"),
    ]
    weights = {"zero": np.array(0), "one": np.array(1), "two": ints(2), "axis": ints(0), "repeats": ints(3, 2)}
    model = graph(nodes, {"x": ["seq"]}, ["y"], weights)
    assert result_shapes(import_model(model)) == ["6,2*seq"]
    assert_like_onnxruntime(model, {"x": np.ones(5, np.float32)})


def test_a_shape_of_unknown_rank_is_refused() -> None:
    nodes = [node("Cast", "x", "n", to=TensorProto.INT64), node("Reshape", "x n", "y", name="to_n")]
    with pytest.raises(UnsupportedError, match="Reshape .*'to_n'.*i64.seq. is computed at run time; at most 64"):
        import_model(graph(nodes, {"x": ["seq"]}, ["y"]))
