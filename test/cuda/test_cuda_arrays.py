"""Arrays of other libraries on the device: their protocols, and those that kernels cannot read."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from fake_gpu import Gpu, OnDevice, random
from test_host_program import TARGET, mlp

import mlc
from mlc.errors import RunError
from mlc.runtime import dlpack


class InDLPack:
    """A tensor of the fake device as DLPack has it."""

    def __init__(self, array: OnDevice, strides: tuple[int, ...] | None = None) -> None:
        data = array.array
        self.shape, self.strides = ((ctypes.c_int64 * data.ndim)(*each) for each in (data.shape, strides or ()))
        self.tensor = dlpack.Tensor(
            data=array.address, device_type=2, rank=data.ndim, code=2, bits=32, lanes=1, shape=self.shape,
            strides=self.strides if strides else None,
        )  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **_: Any) -> Any:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


def test_tensors_of_dlpack_on_the_device(gpu: Gpu) -> None:
    data = random(5, 8)
    with mlc.compile(mlp(), target=TARGET) as net:
        x, y = OnDevice(gpu, data), OnDevice(gpu, np.zeros((5, 4), np.float32))
        net.run_device({"x": InDLPack(x)}, {"y": InDLPack(y, (4, 1))})
        assert np.array_equal(y.numpy(), net(data))
        with pytest.raises(RunError, match="Output 'y' must be contiguous"):
            net.run_device({"x": InDLPack(x)}, {"y": InDLPack(y, (1, 5))})
        with pytest.raises(RunError, match="run_device"):
            net(x)
    x.free()
    y.free()


@pytest.mark.parametrize("change, why", [
    ({"typestr": ">f4"}, r"Input 'x' must be .*, but has the dtype >f4.*bytes are in the other order"),
    ({"typestr": "<f8"}, "but has the dtype float64"),
    ({"strides": (4, 20)}, r"must be contiguous, but has strides of \(4, 20\) bytes"),
    ({"mask": object()}, "has a mask, which a model does not read"),
    ({"moved": 2}, "no multiple of the size of its elements, 4 bytes"),
])  # fmt: skip
def test_arrays_that_kernels_cannot_read_are_refused(change: dict[str, Any], why: str, gpu: Gpu) -> None:
    """Also where the same layout has run before."""
    data = random(5, 8)
    with mlc.compile(mlp(), target=TARGET) as net:
        x, y = OnDevice(gpu, data), OnDevice(gpu, np.zeros((5, 4), np.float32))
        net.run_device({"x": x}, {"y": y})
        x.__cuda_array_interface__ |= {"data": (x.address + change.pop("moved", 0), False), **change}
        with pytest.raises(RunError, match=why):
            net.run_device({"x": x}, {"y": y})
        y.__cuda_array_interface__ |= {"data": (y.address, True)}
        x.__cuda_array_interface__ = {**y.__cuda_array_interface__, "shape": (5, 8), "data": (x.address, True)}
        with pytest.raises(RunError, match="Output 'y' is read-only"):
            net.run_device({"x": x}, {"y": y})
    x.free()
    y.free()


def test_empty_arrays_have_no_address(gpu: Gpu) -> None:
    with mlc.compile(mlp(), target=TARGET) as net:
        x, y = OnDevice(gpu, np.zeros((0, 8), np.float32)), OnDevice(gpu, np.zeros((0, 4), np.float32))
        for each in (x, y):
            each.__cuda_array_interface__["data"] = (None, False)
        net.run_device({"x": x}, {"y": y})
        found = net.run_device({"x": x})["y"]
        assert found.shape == (0, 4) and found.numpy().shape == (0, 4)
    x.free()
    y.free()


class Requiring:
    """A tensor of PyTorch that requires gradients: its interface and its export fail."""

    requires_grad = True

    @property
    def __cuda_array_interface__(self) -> Any:
        raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad.")


class Broken(Requiring):
    requires_grad = False


def test_tensors_that_require_gradients_or_fail_are_refused(gpu: Gpu) -> None:
    with mlc.compile(mlp(), target=TARGET) as net:
        with pytest.raises(RunError, match=r"Input 'x' requires gradients, .*\n?.*x.detach\(\)"):
            net.run_device({"x": Requiring()}, {})
        with pytest.raises(RunError, match="Input 'x' must be an array with __cuda_array_interface__ or __dlpack__"):
            net.run_device({"x": Broken()}, {})


class Exporting(InDLPack):
    """A tensor of PyTorch: its interface says no stream, and its export makes the reader's stream wait."""

    def __init__(self, array: OnDevice) -> None:
        super().__init__(array)
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "version": 2}
        self.given: list[int] = []

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None) -> Any:
        assert stream is not None
        self.given.append(stream)
        return super().__dlpack__()


def test_exporters_are_given_the_stream_of_the_run(gpu: Gpu) -> None:
    data = random(5, 8)
    with mlc.compile(mlp(), target=TARGET) as net:
        x, y = OnDevice(gpu, data), OnDevice(gpu, np.zeros((5, 4), np.float32))
        given, made = Exporting(x), Exporting(y)
        for _ in range(2):
            net.run_device({"x": given}, {"y": made})
        assert given.given == made.given == [1, 1]  # the legacy default stream
        net.run_device({"x": given}, {"y": made}, stream=2)  # where they are ready: no export
        net.run_device({"x": InDLPack(x)}, {"y": made}, stream=2)
        assert given.given == made.given == [1, 1]
        np.testing.assert_array_equal(y.numpy(), net(data))
    x.free()
    y.free()


def test_an_output_is_freed_once_by_whoever_reads_it_last(gpu: Gpu) -> None:
    """A consumer of DLPack calls the deleter; a capsule that nobody consumes calls it itself."""
    data = random(5, 8)
    with mlc.compile(mlp(), target=TARGET) as net:
        x = OnDevice(gpu, data)
        y = net.run_device({"x": x})["y"]
        capsule = y.__dlpack__(max_version=(1, 0))
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        managed = dlpack.Versioned.from_address(pointer(capsule, b"dltensor_versioned"))
        assert managed.tensor.data == y.address and tuple(managed.tensor.shape[:2]) == y.shape
        rename = ctypes.pythonapi.PyCapsule_SetName
        rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
        used = b"used_dltensor_versioned"
        rename(capsule, used)
        before = gpu.counts()
        del y, capsule
        assert "memory" not in gpu.since(before)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(ctypes.addressof(managed))
        assert gpu.since(before)["memory"] == -1
    x.free()
