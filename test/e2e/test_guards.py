"""Dimensions that a model cannot serve are refused, by the C ABI and in Python: nothing is read outside of a table."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper

import mlc
from mlc.dialects.semantics.dims import condition, parse_dim
from mlc.errors import RunError

ROWS = 9
node = helper.make_node


@pytest.fixture(scope="module")
def net() -> mlc.Model:
    """x[batch, seq, 4] + table[:seq] with a table of 9 rows."""
    nodes = [node("Shape", ["x"], ["n"], start=1, end=2), node("Slice", ["table", "zero", "n"], ["rows"])]
    table = np.arange(ROWS * 4, dtype=np.float32).reshape(ROWS, 4)
    weights = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([0]), "zero")]
    x, y = (helper.make_tensor_value_info(n, 1, ["batch", "seq", 4]) for n in "xy")
    graph = helper.make_graph([*nodes, node("Add", ["x", "rows"], ["y"])], "guarded", [x], [y], weights)
    return mlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))


@pytest.mark.parametrize(
    ("guard", "text"),
    [("-seq+9", "seq <= 9"), ("seq-3", "seq >= 3"), ("2*a-b", "b <= 2*a"), ("-a*b-c+7", "a*b+c <= 7"),
     ("-min(k-1, -k+1)-1", "k != 1"), ("min(n-4, m-2)", "n >= 4 and m >= 2"),
     ("max(-min(k-1, -k+1)-1, n-4)", "k != 1 or n >= 4"), ("-max(n-4, m-2)-1", "n <= 3 and m <= 1")],
)
def test_conditions_read_as_comparisons(guard: str, text: str) -> None:
    assert condition(parse_dim(guard)) == text


def test_the_signature_names_the_condition(net: mlc.Model) -> None:
    named = {"expr": "-seq+9", "message": "seq <= 9", "node": "Slice at node 'Slice_1'"}
    assert net.signature["guards"] == [named]


@pytest.mark.parametrize("seq", [0, 1, ROWS])
def test_dimensions_inside(net: mlc.Model, seq: int) -> None:
    x = np.random.default_rng().normal(size=(2, seq, 4)).astype(np.float32)
    np.testing.assert_array_equal(net(x), x + np.arange(seq * 4, dtype=np.float32).reshape(seq, 4))


def test_dimensions_outside(net: mlc.Model) -> None:
    x = np.ones((2, ROWS + 1, 4), np.float32)
    for call in (net, net.profile):
        with pytest.raises(RunError, match=r"accepts only seq <= 9, but seq is 10"):
            call(x)


def test_an_image_smaller_than_a_window_is_refused() -> None:
    x, y = (helper.make_tensor_value_info(n, 1, shape) for n, shape in (("x", [1, 2, "height", 7]), ("y", None)))
    graph = helper.make_graph([node("MaxPool", ["x"], ["y"], kernel_shape=[4, 3], pads=[1, 0, 0, 0])], "m", [x], [y])
    net = mlc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))
    assert net(np.ones((1, 2, 3, 7), np.float32)).shape == (1, 2, 1, 5)
    with pytest.raises(RunError, match="accepts only height >= 3, but height is 2"):
        net(np.ones((1, 2, 2, 7), np.float32))


def test_dimensions_outside_in_c(net: mlc.Model) -> None:
    library = ctypes.CDLL(str(Path(net.path)))
    error = library.guarded_error
    library.guarded_workspace_size.restype, error.restype = ctypes.c_int64, ctypes.c_char_p
    library.guarded_create.restype = ctypes.c_void_p
    inside, outside = (ctypes.c_int64 * 2)(2, ROWS), (ctypes.c_int64 * 2)(2, ROWS + 1)
    shape, none = (ctypes.c_int64 * 3)(), (ctypes.c_void_p * 1)()
    assert library.guarded_workspace_size(inside) >= 0
    assert library.guarded_output_shape(0, inside, shape) == 3
    model = ctypes.c_void_p(library.guarded_create(None, 1))
    try:
        assert library.guarded_workspace_size(outside) < 0
        assert library.guarded_output_shape(0, outside, shape) < 0
        assert library.guarded_run(model, none, none, outside, None) != 0
        assert b"dimensions outside of what model 'guarded' accepts (seq <= 9)" in error()
    finally:
        library.guarded_destroy(model)
