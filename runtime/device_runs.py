"""Runs on tensors in a GPU's memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlc.errors import RunError
from mlc.runtime.device_arrays import DeviceArray, device_array
from mlc.runtime.library import Library
from mlc.runtime.signature import TensorSpec, check_guards, solve_dims

_MOST = 256  # layouts that are kept

Layouts = tuple[tuple[Any, ...], ...]


class DeviceRuns:
    """``Model.run_device``: arrays whose layouts have run once are not checked again, which takes 20 us."""

    def __init__(
        self, library: Library, specs: Mapping[str, TensorSpec], results: Mapping[str, TensorSpec], dims: Sequence[str]
    ) -> None:
        self._library, self._specs, self._results, self._dims = library, specs, results, dims
        self._inputs, self._outputs = tuple(specs), tuple(results)
        self._checked: dict[Layouts, Any] = {}  # the values of symbolic dimensions, for C

    def __call__(self, inputs: Mapping[str, Any], out: Mapping[str, Any], stream: int) -> None:
        try:
            given = [inputs[name].__cuda_array_interface__ for name in self._inputs]
            made = [out[name].__cuda_array_interface__ for name in self._outputs]
            layouts = tuple([(x["shape"], x["typestr"], x.get("strides"), x["data"][1]) for x in given + made])
            values = self._checked.get(layouts) if len(inputs) == len(given) and len(out) == len(made) else None
        except Exception:  # arrays with DLPack alone, or what is none
            layouts = values = None
        if values is None:
            self._checked_run(layouts, inputs, out, stream)
            return
        read, written = ([x["data"][0] or 0 for x in each] for each in (given, made))
        self._library.call_on_device(values, read, written, stream)

    def _checked_run(
        self, layouts: Layouts | None, inputs: Mapping[str, Any], out: Mapping[str, Any], stream: int
    ) -> None:
        """A run on arrays of any kind. Raises RunError where they do not fit; ``layouts`` is kept where they do."""
        self._check_model()
        read, written = _arrays("Input", self._specs, inputs), _arrays("Output", self._results, out)
        values = self._library.device_values(self._values(read, written))
        if layouts is not None:
            self._checked = {} if len(self._checked) >= _MOST else self._checked
            self._checked[layouts] = values
        given, made = ([array.address for array in arrays] for arrays in (read, written))
        self._library.call_on_device(values, given, made, stream)

    def _check_model(self) -> None:
        signature = self._library.signature
        if not signature["target"].startswith("cuda"):
            message = f"Model '{signature['name']}' is compiled for {signature['target']}, not for a GPU"
            raise RunError(message, hint="Compile it with target='cuda'")
        if signature.get("sizes"):
            raise RunError(f"Model '{signature['name']}' has outputs with run-time dimensions", hint="Use run")

    def _values(self, read: Sequence[DeviceArray], written: Sequence[DeviceArray]) -> list[int]:
        """The values of the dimensions, which the outputs have, too."""
        values = solve_dims(self._specs, [array.shape for array in read], self._dims)
        check_guards(self._library.signature.get("guards", ()), values)
        for (name, spec), array in zip(self._results.items(), written, strict=True):
            shape = spec.of(values)
            if array.shape != shape:
                raise RunError(f"Output '{name}' must be {spec}, that is {shape}, but has the shape {array.shape}")
        return list(values.values())


def _arrays(kind: str, specs: Mapping[str, TensorSpec], given: Mapping[str, Any]) -> list[DeviceArray]:
    if given.keys() != specs.keys():
        raise RunError(f"There must be arrays for {', '.join(specs)}, not for {', '.join(given) or 'none'}")
    return [device_array(kind, name, spec, given[name]) for name, spec in specs.items()]
