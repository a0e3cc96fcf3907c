"""onnxruntime's ``IOBinding`` on the CPU: runs write into arrays or memory of the caller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mlc.onnxruntime.errors import InvalidArgument
from mlc.onnxruntime.values import OrtValue, check_device, memory
from mlc.runtime import Model


class IOBinding:
    """The arrays that the next ``run_with_iobinding`` reads and writes. ``outputs`` are in the order of binding; None
    stands for a new array.
    """

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
        check_device(device_type)
        self.bind_cpu_input(name, memory(buffer_ptr, element_type, shape))

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
        check_device(device_type)
        self._check(name, self._model.outputs, "output")
        given = None if buffer_ptr is None else OrtValue(memory(buffer_ptr, element_type, shape or ()))
        self.outputs[name] = given

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """The run writes to this value."""
        self._check(name, self._model.outputs, "output")
        self.outputs[name] = ortvalue

    def get_outputs(self) -> list[OrtValue]:
        """The results of the last run."""
        return self.results

    get_outputs_as_ortvaluevector = get_outputs

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
            raise InvalidArgument(f"Model '{self._model.name}' has the {kind}s {list(known)}, not '{name}'")
