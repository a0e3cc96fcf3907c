"""Indices that a model computes never lead outside of a tensor; those that are wrong for sure are refused."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest
from graphs import graph, node
from onnx import TensorProto, helper
from single import single
from xdsl.ir import Block

import mlc
from mlc.dialects.semantics.dims import Dim, condition
from mlc.dialects.semantics.expr import parse
from mlc.dialects.types import tensor
from mlc.dialects.weights import WeightStore
from mlc.errors import InputError, RunError
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.folding.clamp_indices import clamp_indices, range_of, static_ranges
from mlc.frontends.build.folding.comparisons import larger, smaller
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx import import_model

N = Dim.symbol("n_")
DATA, INDICES = Tensor("f32", (5, 3)), Tensor("i32", (4,))
TABLE = Tensor.from_known(np.array([4, 0, 2]))
EXTENTS = {"i0": 4, "i1": 3}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x0[i0, i1]", "x0[i0, i1]"),
        ("x0[x1[i0], i1]", "x0[min(max(x1[i0], 0), 4), i1]"),
        ("x0[max(x1[i0], 0), i1]", "x0[min(max(x1[i0], 0), 4), i1]"),
        ("x0[x2[i1], i1]", "x0[x2[i1], i1]"),
        ("x0[x2[i1] * 2 // 2, i1]", "x0[((x2[i1] * 2) // 2), i1]"),
        ("x0[i64(x1[i0] > 2), i1]", "x0[i64((x1[i0] > 2)), i1]"),
        ("x0[x2[min(max(x1[i0], 0), 2)], i1]", "x0[x2[min(max(x1[i0], 0), 2)], i1]"),
        ("x0[x1[i0] % 5, i1 - 0]", "x0[x1[i0] % 5, i1 - 0]"),
    ],
)
def test_an_index_is_clamped_where_it_could_leave_its_tensor(text: str, kept: str) -> None:
    once = clamp_indices(parse(text), [DATA, INDICES, TABLE], EXTENTS)
    assert once == parse(kept)
    assert clamp_indices(once, [DATA, INDICES, TABLE], EXTENTS) == once


@pytest.mark.parametrize(("element", "rows"), [("i8", 5), ("i16", 5), ("i32", 1 << 31)])
def test_an_index_is_clamped_in_a_type_that_holds_the_extent(element: str, rows: int) -> None:
    given = [Tensor("f32", (rows, 3)), Tensor(element, (4,))]
    clamped = clamp_indices(parse("x0[x1[i0], i1]"), given, EXTENTS)
    assert clamped == parse(f"x0[min(max(i64(x1[i0]), 0), {rows - 1}), i1]")


def test_symbolic_extents() -> None:
    rows = Tensor("f32", (N,))
    clamped = clamp_indices(parse("x0[x1[i0]]"), [rows, INDICES], {"i0": 4})
    assert clamped == parse("x0[min(max(i64(x1[i0]), 0), n_ - 1)]")
    ((_, span, extent),) = static_ranges(parse("x0[n_ - 1 - i0]"), [rows], {"i0": N})
    assert (span, extent) == ((0, N - 1), N)


@pytest.mark.parametrize(
    ("text", "span"),
    [("i0 * 4 + i1", (0, 3)), ("4 * (i0 // 2) + i1", (0, 3)), ("i0 * 0", (0, 0)), ("i1 * i1", (None, None))],
)
def test_the_range_of_a_product_whose_other_factor_is_constant_too(text: str, span: tuple[int | None, ...]) -> None:
    assert range_of(parse(text), [], {"i0": 1, "i1": 4}) == span


@pytest.mark.parametrize("names", [("size0", "size2"), ("size8", "size10")])
def test_the_range_of_an_index_does_not_depend_on_how_an_extent_is_written(names: tuple[str, str]) -> None:
    """By the order of names, an extent is (a-b)//2+1 or -((b-a+1)//2)+1."""
    a, b = map(Dim.symbol, names)
    last = (a - b) // 2
    assert range_of(parse(f"min(max(i0 - 1, 0), {last})"), [], {"i0": a})[1] == smaller(larger(a - 2, 0), last)
    assert range_of(parse(f"neg(i0) + {last}"), [], {"i0": a}) == (last - a + 1, last)


def test_the_model_decides_how_many_offsets_and_masks_a_deformed_window_has() -> None:
    head = '<ir_version: 10, opset_import: ["" : 22]>'
    inputs = "float[1,2,5,5] x, float[3,2,2,2] w, float[1,o,4,4] offset, float[1,m,4,4] mask"
    text = f'{head} g ({inputs}) => (float[1,3,4,4] y) {{ y = DeformConv(x, w, offset, "", mask) }}'
    found = mlc.compile(onnx.parser.parse_model(text)).inputs
    assert (found["offset"].shape, found["mask"].shape) == ((1, 8, 4, 4), (1, 4, 4, 4))


@pytest.mark.parametrize("text", ["x0[i0 + 2, i1]", "x0[i0, i1 - 1]", "x0[0 - i0, i1]", "x0[i0, 3]"])
def test_an_index_that_leaves_its_tensor_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="which goes from"):
        Builder(Block(), WeightStore()).compute(text, [DATA], EXTENTS.values())


def test_an_index_of_symbolic_range_is_a_guard() -> None:
    build = Builder(Block(), WeightStore())
    build.compute("x0[i0 + 1, i1]", [Tensor.of(build.block.insert_arg(tensor("f32", (5, 3)), 0))], (N, 3))
    assert [condition(guard) for guard in build.guards] == ["n <= 4"]


def test_the_images_of_one_grid_are_one() -> None:
    model = graph([node("GridSample", "x g", "y")], {"x": ["n", 1, 3, 4], "g": [1, 2, 2, 2]}, ["y"])
    net = mlc.compile(model)
    assert net(np.zeros((1, 1, 3, 4), np.float32), np.zeros((1, 2, 2, 2), np.float32)).shape == (1, 1, 2, 2)
    with pytest.raises(RunError, match=r"must be float32\[1, 1, 3, 4\]"):
        net(np.zeros((2, 1, 3, 4), np.float32), np.zeros((1, 2, 2, 2), np.float32))



def test_indices_out_of_range_read_the_nearest_element() -> None:
    """ONNX leaves them undefined; compiled code stays in the tensor."""
    x, far = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([-(1 << 62), -4, 5, 1 << 62])
    net = mlc.compile(single("Gather", {"x": x, "i": far}))
    np.testing.assert_array_equal(net(x, far), x[[0, 0, 2, 2]])


def test_updates_that_are_fewer_than_their_indices() -> None:
    inputs = {"x": np.zeros((1, 6), np.float32), "i": np.array([[1, 2]]), "u": np.zeros((0, 2), np.float32)}
    with pytest.raises(InputError, match="2 offsets of 1 elements for updates of 0 elements"):
        import_model(single("ScatterElements", inputs, axis=1, reduction="max"))


def test_windows_larger_than_what_they_slide_over() -> None:
    x = np.zeros((1, 1, 2), np.float32)
    with pytest.raises(InputError, match="a window of 4 elements in 2"):
        import_model(single("MaxPool", {"x": x}, kernel_shape=[4]))
    model = graph([node("MaxPool", "x", "y", kernel_shape=[4])], {"x": [1, 1, "width"]}, ["y"])
    with pytest.raises(RunError, match="only width >= 4, but width is 2"):
        mlc.compile(model)(x)


def test_flags_that_are_neither_0_nor_1() -> None:
    with pytest.raises(InputError, match="'keepdims' = 2 is neither 0 nor 1"):
        import_model(single("ArgMin", {"x": np.zeros((2, 3), np.float32)}, keepdims=2))


def test_tensors_of_attributes_stay_in_the_model(tmp_path, monkeypatch) -> None:
    """Neither a file beside the process nor one of the model's folder becomes an attribute unasked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w").write_bytes(bytes(4))
    value = TensorProto(data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    value.external_data.add(key="location", value="w")
    model = graph([node("ConstantOfShape", "s", "y", value=value)], {}, ["y"], {"s": np.array([2])})
    with pytest.raises(InputError, match="external file"):
        import_model(model)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    import_model(tmp_path / "model.onnx")


def test_large_tensors_of_attributes_are_read_from_the_file(tmp_path) -> None:
    keys, values = np.arange(20_000), np.arange(20_000, dtype=np.float32) / 2
    attributes = {
        "keys_tensor": helper.make_tensor("k", TensorProto.INT64, keys.shape, keys.tobytes(), raw=True),
        "values_tensor": helper.make_tensor("v", TensorProto.FLOAT, values.shape, values.tobytes(), raw=True),
        "default_tensor": helper.make_tensor("d", TensorProto.FLOAT, [1], [-1.0]),
    }
    x = np.array([19_999, 3, -7])
    model = single("LabelEncoder", {"x": x}, domain="ai.onnx.ml", version=4, **attributes)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    np.testing.assert_array_equal(mlc.compile(tmp_path / "model.onnx")(x), [9999.5, 1.5, -1])


def test_of_maxima_for_one_element_the_last_wins() -> None:
    x, at = np.array([[[1, 2, 3]]], np.float32), np.array([[[2, 2, 0]]])
    model = single("MaxUnpool", {"x": x, "i": at}, kernel_shape=[2], strides=[2])
    np.testing.assert_array_equal(mlc.compile(model)(x, at), [[[3, 0, 2, 0, 0, 0]]])


def test_a_fixed_part_of_an_open_dimension_is_a_condition() -> None:
    """A recurrence whose weights are open in a dimension takes as many rows as its gates have."""
    weights = {"w": np.ones((1, 3, 2), np.float32)}
    model = graph([node("GRU", "x w r", "y", hidden_size=1)], {"x": [1, 1, 2], "r": [1, "rows", 1]}, ["y"], weights)
    net = mlc.compile(model)
    x = np.ones((1, 1, 2), np.float32)
    assert net(x, np.ones((1, 3, 1), np.float32)).shape == (1, 1, 1, 1)
    with pytest.raises(RunError, match="only rows >= 3"):
        net(x, np.ones((1, 1, 1), np.float32))
