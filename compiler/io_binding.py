"""onnxruntime's ``IOBinding`` and ``OrtValue`` on the CPU: runs write into arrays or memory of the caller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlc.errors import RunError
from mlc.runtime import Model
from mlc.runtime.signature import STRINGS


class OrtValue:
    """An array as a result or a bound buffer."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array: np.ndarray[Any, Any], device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """A value that shares the array's memory."""
        _check_device(device_type)
        return OrtValue(array)

    def numpy(self) -> np.ndarray[Any, Any]:
        """The array itself."""
        return self._array

    def shape(self) -> list[int]:
        """The extents of the value."""
        return list(self._array.shape)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self._array.ctypes.data)

    def device_name(self) -> str:
        """Where it is."""
        return "cpu"


class IOBinding:
    """What the next ``run_with_iobinding`` reads and writes. ``outputs`` in the order of binding; None: a new array."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.inputs: dict[str, Any] = {}
        self.outputs: dict[str, OrtValue | None] = {}
        self.results: list[OrtValue] = []

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        """The run reads this array, as it is then."""
        self._check(name, self._model.inputs, "input")
        self.inputs[name] = arr_on_cpu

    def bind_ortvalue_input(self, name: str, ortvalue: Any) -> None:
        """The run reads this value, onnxruntime's or ours."""
        self.bind_cpu_input(name, ortvalue.numpy())

    def bind_input(
        self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int
    ) -> None:
        """The run reads the memory at ``buffer_ptr``, which must stay valid."""
        _check_device(device_type)
        self.bind_cpu_input(name, _memory(buffer_ptr, element_type, shape))

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """The run writes to the memory at ``buffer_ptr``, or to a new array where that is None."""
        _check_device(device_type)
        self._check(name, self._model.outputs, "output")
        given = None if buffer_ptr is None else OrtValue(_memory(buffer_ptr, element_type, shape or ()))
        self.outputs[name] = given

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """The run writes to this value."""
        self._check(name, self._model.outputs, "output")
        self.outputs[name] = ortvalue

    def get_outputs(self) -> list[OrtValue]:
        """The results of the last run."""
        return self.results

    def copy_outputs_to_cpu(self) -> list[np.ndarray[Any, Any]]:
        """The arrays of the last run; copies of those that the caller bound, which the next run overwrites."""
        bound = self.outputs.values()
        return [
            value.numpy().copy() if given else value.numpy() for value, given in zip(self.results, bound, strict=True)
        ]

    def clear_binding_inputs(self) -> None:
        """Forget all inputs."""
        self.inputs = {}

    def clear_binding_outputs(self) -> None:
        """Forget all outputs and results."""
        self.outputs, self.results = {}, []

    def synchronize_inputs(self) -> None:
        """A run on the CPU has nothing to wait for."""

    def synchronize_outputs(self) -> None:
        """A run on the CPU has ended when it returns."""

    def _check(self, name: str, known: Any, kind: str) -> None:
        if name not in known:
            raise RunError(f"Model '{self._model.name}' has the {kind}s {list(known)}, not '{name}'")


class _Memory:
    """Bytes at an address, for numpy.asarray."""

    def __init__(self, address: int, size: int) -> None:
        self.__array_interface__ = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}


def _memory(address: int, element_type: Any, shape: Sequence[int]) -> np.ndarray[Any, Any]:
    dtype = _dtype(element_type)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    block: Any = _Memory(address, size)
    return np.asarray(block).view(dtype).reshape(tuple(shape))


def _dtype(element_type: Any) -> np.dtype[Any]:
    """The dtype that NumPy's or ONNX's ``element_type`` names."""
    if isinstance(element_type, int):
        from onnx.helper import tensor_dtype_to_np_dtype

        element_type = tensor_dtype_to_np_dtype(element_type)
    dtype = np.dtype(element_type)
    if dtype == STRINGS or dtype.kind in "US":
        raise RunError("Strings have no buffer", hint="Bind the array by bind_cpu_input")
    return dtype


def _check_device(device_type: str) -> None:
    if device_type != "cpu":
        raise RunError(f"Memory on the device '{device_type}' cannot be bound", hint="mlc runs on the CPU: give 'cpu'")
