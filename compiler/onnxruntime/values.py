"""onnxruntime's ``OrtValue`` and ``OrtDevice`` on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.onnxruntime.errors import InvalidArgument
from mlc.onnxruntime.metadata import NodeArg
from mlc.runtime import TensorSpec
from mlc.runtime.signature import STRINGS


@dataclass(frozen=True)
class OrtDevice:
    """The CPU, with onnxruntime's numbers."""

    kind: int = 0
    number: int = 0

    @staticmethod
    def make(ort_device_name: str, device_id: int = 0, vendor_id: int = -1) -> OrtDevice:
        """The device of that name. InvalidArgument for another one than ``cpu``."""
        check_device(ort_device_name)
        return OrtDevice(0, device_id)

    @staticmethod
    def cpu() -> int:
        """The number of CPUs among the kinds of devices."""
        return 0

    def device_type(self) -> int:
        """The number of its kind."""
        return self.kind

    def device_id(self) -> int:
        """Its number among devices of that kind."""
        return self.number


class OrtValue:
    """An array as a result or a bound buffer, or a sequence of arrays."""

    def __init__(self, array: Any) -> None:
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array: np.ndarray[Any, Any], device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """A value that shares the array's memory."""
        check_device(device_type)
        return OrtValue(array)

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data: np.ndarray[Any, Any], onnx_element_type: int) -> OrtValue:
        """A value whose elements are the array's bits, as an ONNX type such as BFLOAT16 of the same size."""
        return OrtValue(data.view(dtype_of_element(onnx_element_type)))

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0
    ) -> OrtValue:
        """A new value whose elements are not set."""
        check_device(device_type)
        return OrtValue(np.empty(tuple(shape), dtype_of_element(element_type)))

    def numpy(self) -> Any:
        """The array itself."""
        return self._array

    def shape(self) -> list[int]:
        """The extents of the value."""
        return list(self._array.shape)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self._array.ctypes.data)

    def data_type(self) -> str:
        """``tensor(float)``."""
        if self.is_tensor_sequence():
            return f"seq({OrtValue(self._array[0]).data_type()})" if self._array else "seq(tensor(float))"
        return NodeArg.of("", TensorSpec(self._array.dtype, ())).type

    def element_type(self) -> int:
        """The number of the type in ONNX's TensorProto.DataType."""
        from onnx.helper import np_dtype_to_tensor_dtype

        return int(np_dtype_to_tensor_dtype(self._array.dtype))

    def tensor_size_in_bytes(self) -> int:
        """Bytes of all elements."""
        return int(self._array.nbytes)

    def device_name(self) -> str:
        """The name of the device that holds the value."""
        return "cpu"

    def has_value(self) -> bool:
        """Whether there is a value: false for an absent optional."""
        return self._array is not None

    def is_tensor(self) -> bool:
        """Whether it is an array."""
        return isinstance(self._array, np.ndarray)

    def is_tensor_sequence(self) -> bool:
        """Whether it is a list of arrays."""
        return isinstance(self._array, list)

    def is_sparse_tensor(self) -> bool:
        """False: mlc has dense arrays."""
        return False

    def update_inplace(self, np_arr: np.ndarray[Any, Any]) -> None:
        """Copies an array of the same shape and dtype into the value."""
        if np_arr.shape != self._array.shape or np_arr.dtype != self._array.dtype:
            ours, theirs = (f"{array.dtype}{list(array.shape)}" for array in (self._array, np_arr))
            raise InvalidArgument(f"Input {theirs} does not fit the value, which is {ours}")
        self._array[...] = np_arr

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class _Memory:
    """Bytes at an address, for numpy.asarray."""

    def __init__(self, address: int, size: int) -> None:
        self.__array_interface__ = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}


def memory(address: int, element_type: Any, shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """The memory at ``address`` as an array of that dtype and shape."""
    dtype = dtype_of_element(element_type)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    block: Any = _Memory(address, size)
    return np.asarray(block).view(dtype).reshape(tuple(shape))


def dtype_of_element(element_type: Any) -> np.dtype[Any]:
    """The dtype that NumPy's or ONNX's ``element_type`` names."""
    if isinstance(element_type, int):
        from onnx.helper import tensor_dtype_to_np_dtype

        element_type = tensor_dtype_to_np_dtype(element_type)
    dtype = np.dtype(element_type)
    if dtype == STRINGS or dtype.kind in "US":
        raise InvalidArgument("Strings have no buffer", hint="Bind the array by bind_cpu_input")
    return dtype


def check_device(device_type: str) -> None:
    """InvalidArgument for another device than ``cpu``."""
    if device_type != "cpu":
        text = f"Memory on the device '{device_type}' cannot be bound"
        raise InvalidArgument(text, hint="mlc runs on the CPU: give 'cpu'")
