"""NULL in the C interface: an error, and no crash; a tensor without elements needs no memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx.parser
import pytest

import mlc

SUM = """<ir_version: 10, opset_import: ["" : 20]>
sums (float[n,4] x, float[4] shift) => (float[n,4] y, float total) {
  y = Add (x, shift)
  total = ReduceSum <keepdims = 0> (y)
}"""
WORDS = """<ir_version: 10, opset_import: ["" : 20]>
words (string[3] lines) => (string[3] loud) {
  mark = Constant <value_string = "!">()
  loud = StringConcat (lines, mark)
}"""
CONSTANT = """<ir_version: 10, opset_import: ["" : 20]>
constant () => (float[3] y) {
  y = Constant <value_floats = [1.0, 2.0, 3.0]>()
}"""

Functions = SimpleNamespace
Load = Callable[[str], Functions]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """The functions of a compiled model by their names without its prefix, and ``model``."""

    def loaded(text: str) -> Functions:
        net = mlc.compile(onnx.parser.parse_model(text), threads=2)
        path = tmp_path / "m.so"
        net.save(path)
        library, found = ctypes.CDLL(str(path)), SimpleNamespace()
        for name in ("create", "run", "profile", "error", "output_shape", "workspace_size", "destroy"):
            setattr(found, name, getattr(library, f"{net.signature['name']}_{name}"))
        found.create.restype, found.error.restype = ctypes.c_void_p, ctypes.c_char_p
        found.workspace_size.restype = ctypes.c_int64
        found.model = ctypes.c_void_p(found.create(None, 2))
        assert found.model.value
        return found

    return loaded


def pointers(*arrays: Any) -> Any:
    return (ctypes.c_void_p * max(len(arrays), 1))(*(None if a is None else a.ctypes.data for a in arrays))


def test_null_arrays_and_null_in_arrays(load: Load) -> None:
    c = load(SUM)
    x, shift, y, total = (np.ones(shape, np.float32) for shape in ((3, 4), 4, (3, 4), ()))
    dims = (ctypes.c_int64 * 1)(3)
    for inputs, outputs, says in [
        (None, pointers(y, total), "no inputs"), (pointers(x, shift), None, "no outputs"),
        (pointers(None, shift), pointers(y, total), "input 0"), (pointers(x, None), pointers(y, total), "input 1"),
        (pointers(x, shift), pointers(None, total), "output 0"), (pointers(x, shift), pointers(y, None), "output 1"),
    ]:  # fmt: skip
        assert c.run(c.model, inputs, outputs, dims, None) == 1
        assert says in c.error().decode() and "NULL" in c.error().decode()
        times = (ctypes.c_uint64 * 9)()
        assert c.profile(c.model, inputs, outputs, dims, None, times) == 1
    assert c.run(c.model, pointers(x, shift), pointers(y, total), None, None) == 1 and b"dimensions" in c.error()
    assert c.profile(c.model, pointers(x, shift), pointers(y, total), dims, None, None) == 1 and b"NULL" in c.error()
    assert c.workspace_size(None) == -1 and c.output_shape(0, None, None) == -1
    assert c.output_shape(0, dims, None) == -1 and b"NULL" in c.error()
    assert c.output_shape(1, dims, None) == 0
    assert c.run(None, pointers(x, shift), pointers(y, total), dims, None) == 1
    assert c.run(c.model, pointers(x, shift), pointers(y, total), dims, None) == 0 and total == 24


def test_tensors_without_elements_may_be_null(load: Load) -> None:
    c = load(SUM)
    shift, total, dims = np.ones(4, np.float32), np.ones((), np.float32), (ctypes.c_int64 * 1)(0)
    assert c.run(c.model, pointers(None, shift), pointers(None, total), dims, None) == 0 and total == 0
    assert c.run(c.model, pointers(None, None), pointers(None, total), dims, None) == 1 and b"input 1" in c.error()


def test_a_null_string(load: Load) -> None:
    c = load(WORDS)
    given, found = (ctypes.c_char_p * 3)(b"a", None, b"c"), (ctypes.c_char_p * 3)()
    inputs, outputs = (ctypes.c_void_p * 1)(ctypes.addressof(given)), (ctypes.c_void_p * 1)(ctypes.addressof(found))
    assert c.run(c.model, inputs, outputs, None, None) == 1 and b"NULL" in c.error()
    given[1] = b"b"
    assert c.run(c.model, inputs, outputs, None, None) == 0 and list(found) == [b"a!", b"b!", b"c!"]


def test_a_model_without_inputs_needs_no_array_of_them(load: Load) -> None:
    c, y = load(CONSTANT), np.zeros(3, np.float32)
    assert c.run(c.model, None, pointers(y), None, None) == 0 and y.tolist() == [1, 2, 3]
    assert c.run(c.model, None, None, None, None) == 1


def test_a_shape_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    """Extents of 64 bits: twice 2^62 is none."""
    text = """<ir_version: 10, opset_import: ["" : 20]>
    twice (float[n,3] x) => (float[m,3] y) { y = Concat <axis = 0> (x, x) }"""
    mlc.compile(onnx.parser.parse_model(text)).save(tmp_path / "twice.so")
    library = ctypes.CDLL(str(tmp_path / "twice.so"))
    library.twice_error.restype = ctypes.c_char_p
    shape = (ctypes.c_int64 * 2)()
    assert library.twice_output_shape(0, (ctypes.c_int64 * 1)(5), shape) == 2 and list(shape) == [10, 3]
    for size in (1 << 62, (1 << 63) - 1):
        assert library.twice_output_shape(0, (ctypes.c_int64 * 1)(size), shape) == -1
        assert b"larger than any memory" in library.twice_error()
