"""onnxruntime's ``InferenceSession`` over a compiled model: existing code changes one import.

import mlc as ort
session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
y, = session.run(None, {"x": x})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from mlc import api
from mlc.errors import RunError
from mlc.io_binding import IOBinding, OrtValue
from mlc.runtime import Model, TensorSpec, load

_ONNX_NAMES = {"float32": "float", "float64": "double", "object": "string"}


@dataclass(frozen=True)
class NodeArg:
    """An input or output: ``shape`` has integers, and symbolic dimensions by name; ``type`` is ``tensor(float)``."""

    name: str
    shape: list[int | str]
    type: str

    @classmethod
    def of(cls, name: str, spec: TensorSpec) -> NodeArg:
        dtype = _ONNX_NAMES.get(spec.dtype.name, spec.dtype.name.replace("_", ""))
        return cls(name, list(spec.shape), f"tensor({dtype})")


class InferenceSession:
    """Compiles ``path_or_bytes`` on creation, or loads it where it is an artifact (``.so``).

    ``sess_options.intra_op_num_threads`` is the number of threads, where it is not 0; keywords such as ``dims`` go to
    ``mlc.compile``. ``providers`` and other options choose among onnxruntime's implementations, and have no effect.
    ``model`` is the :class:`mlc.Model`. Raises mlc's errors, not onnxruntime's.
    """

    def __init__(
        self,
        path_or_bytes: str | PathLike[str] | bytes,
        sess_options: Any = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Any] | None = None,
        **options: Any,
    ) -> None:
        threads = options.pop("threads", None) or getattr(sess_options, "intra_op_num_threads", 0) or None
        source = path_or_bytes if isinstance(path_or_bytes, bytes) else Path(fspath(path_or_bytes))
        if isinstance(source, Path) and source.suffix == ".so":
            self.model: Model = load(source, threads)
        else:
            self.model = api.compile(source, threads=threads, **options)

    def get_inputs(self) -> list[NodeArg]:
        """Inputs in the order of the signature."""
        return [NodeArg.of(name, spec) for name, spec in self.model.inputs.items()]

    def get_outputs(self) -> list[NodeArg]:
        """Outputs in the order of the signature."""
        return [NodeArg.of(name, spec) for name, spec in self.model.outputs.items()]

    def get_providers(self) -> list[str]:
        """The one implementation that there is."""
        return ["mlc"]

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None
    ) -> list[Any]:
        """The outputs of these names, in their order; None or none: all. A list is converted to the input's dtype."""
        names = self._outputs(output_names)
        results = self.model.run(self._arrays(input_feed))
        return [results[name] for name in names]

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        callback: Callable[[list[Any], Any, str], Any],
        user_data: Any,
        run_options: Any = None,
    ) -> None:
        """Returns at once; ``callback(results, user_data, error)`` runs on another thread; ``error`` is empty or says
        what went wrong."""
        names = self._outputs(output_names)
        future = self.model.run_async(self._arrays(input_feed))

        def done(_: object) -> None:
            error = future.exception()
            found = [] if error else [future.result()[name] for name in names]
            callback(found, user_data, str(error or ""))

        future.add_done_callback(done)

    def io_binding(self) -> IOBinding:
        """Inputs and outputs bound to arrays of the caller, for :meth:`run_with_iobinding`."""
        return IOBinding(self.model)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: Any = None) -> None:
        """Runs on the bound inputs, and writes into the bound outputs."""
        if not iobinding.outputs:
            raise RunError("No output is bound", hint="Call bind_output for each output that the run is for")
        given = {name: value.numpy() for name, value in iobinding.outputs.items() if value is not None}
        results = self.model.run(iobinding.inputs, given)
        iobinding.results = [OrtValue(results[name]) for name in iobinding.outputs]

    def _outputs(self, names: Sequence[str] | None) -> list[str]:
        if isinstance(names, str):
            raise RunError(f"The names of the outputs are the string '{names}'", hint=f"Give the list ['{names}']")
        unknown = [name for name in names or () if name not in self.model.outputs]
        if unknown:
            raise RunError(f"Model '{self.model.name}' has the outputs {list(self.model.outputs)}, not {unknown}")
        return list(names or self.model.outputs)

    def _arrays(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        specs = self.model.inputs
        return {
            name: np.asarray(value, specs[name].dtype) if isinstance(value, list) and name in specs else value
            for name, value in feed.items()
        }
