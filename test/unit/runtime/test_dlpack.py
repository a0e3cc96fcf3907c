"""Tensors of other frameworks as inputs and outputs, through DLPack: torch's are made up by capsules of their own."""

from __future__ import annotations

import ctypes
import gc
import weakref

import ml_dtypes
import numpy as np
import pytest
from toy_build import arguments, assert_right

from mlc.runtime import RunError, TensorSpec, arrays, dlpack, load

new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
NARROW = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}


class Tensor:
    """An exporter of DLPack before version 1, as torch's tensors: any dtype, never read-only."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device
        rank, integers = array.ndim, ctypes.c_int64 * array.ndim
        self.keep = integers(*array.shape), integers(*(s // array.itemsize for s in array.strides))
        code = NARROW.get(array.dtype.name, CODES.get(array.dtype.kind))
        shape, strides = (ctypes.cast(each, ctypes.POINTER(ctypes.c_int64)) for each in self.keep)
        self.tensor = dlpack.Tensor(array.ctypes.data, device, 0, rank, code, 8 * array.itemsize, 1, shape, strides, 0)

    def __dlpack__(self, stream=None):
        return new_capsule(ctypes.addressof(self.tensor), b"dltensor", None)

    def __dlpack_device__(self):
        return self.device, 0


class Versioned(Tensor):
    """An exporter of version 1, whose tensors may be read-only."""

    def __init__(self, array, flags=0):
        super().__init__(array)
        self.managed = dlpack.Versioned(1, 0, None, None, flags, self.tensor)

    def __dlpack__(self, stream=None, max_version=None, **_):
        return new_capsule(ctypes.addressof(self.managed), b"dltensor_versioned", None)


class OfNumpy:
    """An array of NumPy's by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("exporter", [Tensor, Versioned, OfNumpy])
def test_outputs_in_tensors(toy, exporter):
    net, (x, shift) = load(toy.library), arguments(5)
    y, total = np.zeros(5, np.float32), np.zeros((), np.float32)
    tensors = {"y": exporter(y), "total": exporter(total)}
    for _ in range(2):
        results = net.run({"x": x, "shift": shift}, out=tensors)
        assert results["y"] is tensors["y"] and results["total"] is tensors["total"] and list(results) == ["y", "total"]
        assert_right([y, total], x, shift)
        y[:], total[...] = 0, 0
    results = net.run({"x": x, "shift": shift}, out={"total": tensors["total"]})
    assert_right([results["y"], total], x, shift)


@pytest.mark.parametrize("make, message", [
    (lambda: Versioned(np.zeros(4, np.float32), 1), "writable"),
    (lambda: Tensor(np.zeros(8, np.float32)[::2]), "contiguous"),
    (lambda: Tensor(np.zeros(4)), "must be float32"),
    (lambda: Tensor(np.zeros(4, np.float32), device=2), "another device than the CPU"),
    (lambda: np.float32(1), "must be a NumPy array or a tensor with __dlpack__, not float32"),
    (lambda: [0.0] * 4, "must be a NumPy array or a tensor with __dlpack__, not list"),
])  # fmt: skip
def test_tensors_that_cannot_be_written(toy, make, message):
    x, shift = arguments(4)
    with pytest.raises(RunError, match=message):
        load(toy.library).run({"x": x, "shift": shift}, out={"y": make()})


def test_an_output_in_an_input(toy):
    x, shift = arguments(8)
    with pytest.raises(RunError, match="overlaps"):
        load(toy.library).run({"x": x, "shift": shift}, out={"y": Tensor(x[0])})


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
@pytest.mark.parametrize("exporter", [Tensor, Versioned])
def test_narrow_floats_both_ways(dtype, exporter):
    array = np.random.default_rng(3).standard_normal((4, 6)).astype(dtype)
    found = arrays.as_input("x", TensorSpec(np.dtype(dtype), (4, 6)), exporter(array))
    assert found.dtype == dtype and np.shares_memory(found, array)
    np.testing.assert_array_equal(found, array)
    (written,) = arrays.as_outputs({"y": exporter(array)}).values()
    written[...] = 2
    assert (array == 2).all()


def test_all_layouts():
    array = np.arange(24, dtype=np.int32).reshape(4, 6)
    for each in (array, array.T, array[::2, 1:3], array[::-1], array[1:, ::-2], array[:0], array[0, 0:1].reshape(())):
        np.testing.assert_array_equal(dlpack.view(Tensor(each)), each)


def test_packed_elements_are_refused():
    tensor = Tensor(np.zeros(4, np.int8))
    tensor.tensor.bits = 4
    with pytest.raises(BufferError, match="type 0, 4 bits"):
        dlpack.view(tensor)


def test_memory_lives_as_long_as_the_array():
    array = np.ones(1000, np.float32)
    found = dlpack.view(array)
    watched = weakref.ref(array)
    del array
    gc.collect()
    assert watched() is not None and (found == 1).all()
    del found
    gc.collect()
    assert watched() is None


def test_a_tensor_of_another_dtype(toy):
    x, shift = arguments(3)
    with pytest.raises(RunError, match="must be float32.*dtype bfloat16"):
        load(toy.library)(Tensor(x.astype(ml_dtypes.bfloat16)), shift)
