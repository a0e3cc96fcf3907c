"""A compiled model, loaded from its artifact."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mlc.runtime import arrays, exprs
from mlc.runtime.errors import ArtifactError, InputError, RunError
from mlc.runtime.files import copy_artifact
from mlc.runtime.library import Library
from mlc.runtime.signature import check_guards, check_solvable, read_specs, solve_dims

Array: TypeAlias = np.ndarray[Any, Any]
_MAX_PLANS = 256


@dataclass(frozen=True)
class _Plan:
    """What follows from the shapes of the inputs alone."""

    dims: dict[str, int]
    values: ctypes.Array[Any]
    output_shapes: tuple[tuple[int, ...], ...]


class Model:
    """A compiled model. Calls may come from several threads at once; they share the model's threads and weights.

    ``inputs`` and ``outputs`` map names to ``TensorSpec`` (dtype and shape) in the order of the signature;
    ``signature`` is the artifact's own description, ``path`` its file. Made by :func:`load`.
    """

    def __init__(self, path: str | PathLike[str], threads: int | None = None) -> None:
        """See :func:`load`."""
        if threads is not None and threads < 1:
            raise InputError(f"A model cannot run on {threads} threads", hint="Give 1 or more, or None")
        library = Library(_existing(path), threads)
        self.path = library.path
        self.signature = library.signature
        self.name: str = self.signature["name"]
        self.dims: tuple[str, ...] = tuple(self.signature["dims"])
        self.inputs = read_specs(self.signature["inputs"])
        self.outputs = read_specs(self.signature["outputs"])
        check_solvable(self.inputs, self.dims)
        self._library: Library | None = library
        self._plans: dict[tuple[tuple[int, ...], ...], _Plan] = {}

    def __call__(self, *values: Any, **named: Any) -> Array | tuple[Array, ...]:
        """Runs on arrays given in signature order or by name; the output array, or a tuple of several.

        Arrays are NumPy's or anything with ``__dlpack__``; they are not copied where contiguous. Raises RunError
        where names, dtypes or shapes do not fit: nothing is cast.
        """
        results = self._execute(self._bind(values, named), {})
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, inputs: Mapping[str, Any], out: Mapping[str, Array] | None = None) -> dict[str, Array]:
        """Runs on arrays by name; all outputs by name, those in ``out`` written into the caller's arrays.

        An array in ``out`` must have the output's dtype and shape, be contiguous and writable, and overlap no other.
        """
        results = self._execute(self._bind((), inputs), out or {})
        return dict(zip(self.outputs, results, strict=True))

    def profile(self, *values: Any, **named: Any) -> list[tuple[dict[str, Any], int]]:
        """Runs once and gives the nanoseconds of every kernel launch, in order.

        Each comes with its entry of ``signature["kernels"]``; there ``flops`` and ``bytes`` are the integers for these
        shapes.
        """
        library = self._open_library()
        inputs = self._bind(values, named)
        plan, outputs = self._prepare(library, inputs, {})
        times = library.call_profiled(_addresses(inputs), _addresses(outputs), plan.values)
        kernels = [_with_numbers(kernel, plan.dims) for kernel in self.signature["kernels"]]
        return list(zip(kernels, times, strict=True))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the artifact to ``path``, its header and weights beside it under the same stem; all or nothing a file.

        Raises ArtifactError where the files cannot be read or written.
        """
        copy_artifact(self.path, self._open_library().weights_path(), Path(path))

    def close(self) -> None:
        """Stops the threads and frees the memory once the calls in flight have ended; later calls raise RunError."""
        self._library = None

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        inputs, outputs = (
            ", ".join(f"{name}: {spec}" for name, spec in specs.items()) for specs in (self.inputs, self.outputs)
        )
        return f"<mlc.Model {self.name}({inputs}) -> ({outputs})>"

    def _open_library(self) -> Library:
        library = self._library
        if library is None:
            raise RunError(f"Model '{self.name}' is closed", hint="Load it again")
        return library

    def _bind(self, values: Sequence[Any], named: Mapping[str, Any]) -> list[Array]:
        """The arguments in signature order, as arrays of the right dtypes."""
        if len(values) + len(named) != len(self.inputs):
            raise RunError(self._wrong_names(values, named))
        given = self._order(values, named) if named else values
        return [
            arrays.as_input(name, spec, value) for (name, spec), value in zip(self.inputs.items(), given, strict=True)
        ]

    def _order(self, values: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        rest = list(self.inputs)[len(values) :]
        if named.keys() != set(rest):
            raise RunError(self._wrong_names(values, named))
        return [*values, *(named[name] for name in rest)]

    def _wrong_names(self, values: Sequence[Any], named: Mapping[str, Any]) -> str:
        expected = ", ".join(f"'{name}'" for name in self.inputs) or "none"
        given = ", ".join([f"{len(values)} by position"] * bool(values) + [f"'{name}'" for name in named]) or "none"
        return f"Model '{self.name}' takes {len(self.inputs)} inputs: {expected}; given: {given}"

    def _execute(self, inputs: list[Array], out: Mapping[str, Array]) -> list[Array]:
        library = self._open_library()
        plan, outputs = self._prepare(library, inputs, out)
        library.call(_addresses(inputs), _addresses(outputs), plan.values)
        return outputs

    def _prepare(self, library: Library, inputs: list[Array], out: Mapping[str, Array]) -> tuple[_Plan, list[Array]]:
        shapes = tuple(array.shape for array in inputs)
        plan = self._plans.get(shapes) or self._plan(library, shapes)
        return plan, self._place_outputs(plan, inputs, out)

    def _place_outputs(self, plan: _Plan, inputs: list[Array], out: Mapping[str, Array]) -> list[Array]:
        """The caller's arrays, and new ones for the rest."""
        if not out.keys() <= self.outputs.keys():
            raise RunError(f"Model '{self.name}' has the outputs {list(self.outputs)}, not {list(out)}")
        outputs: list[Array] = []
        for (name, spec), shape in zip(self.outputs.items(), plan.output_shapes, strict=True):
            if name in out:
                arrays.check_output(name, spec, shape, out[name])
                arrays.check_disjoint(inputs + outputs, name, out[name])
            outputs.append(out[name] if name in out else arrays.allocate(name, spec, shape))
        return outputs

    def _plan(self, library: Library, shapes: tuple[tuple[int, ...], ...]) -> _Plan:
        dims = solve_dims(self.inputs, shapes, self.dims)
        check_guards(self.signature.get("guards", ()), dims)
        values = (ctypes.c_int64 * len(dims))(*dims.values())
        ranks = (len(spec.shape) for spec in self.outputs.values())
        plan = _Plan(dims, values, tuple(library.shape_of_output(i, rank, values) for i, rank in enumerate(ranks)))
        if len(self._plans) >= _MAX_PLANS:
            self._plans = {}
        self._plans[shapes] = plan
        return plan


def load(path: str | PathLike[str], threads: int | None = None) -> Model:
    """Loads the artifact (.so) that ``mlc compile`` or :meth:`Model.save` wrote.

    ``threads`` is the number of threads a call runs on, the caller's included; None: one per CPU this process may use.
    Raises ArtifactError where it is missing, damaged, of another version, or for another CPU, and where its weights are
    missing, truncated or another model's. MLC_VERIFY_WEIGHTS=1 in the environment also checks the weights' contents.
    """
    return Model(path, threads)


def _existing(path: str | PathLike[str]) -> Path:
    try:
        resolved = Path(path).resolve()
        if resolved.is_file():
            return resolved
        problem = "is not a file" if resolved.exists() else "does not exist"
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        problem = f"cannot be read: {error}"
    raise ArtifactError(f"{path} {problem}", hint="Give the .so file that 'mlc compile' wrote")


def _addresses(tensors: Sequence[Array]) -> list[int]:
    return [tensor.ctypes.data for tensor in tensors]


def _with_numbers(kernel: Mapping[str, Any], dims: Mapping[str, int]) -> dict[str, Any]:
    counts = {key: exprs.evaluate(kernel[key], dims) for key in ("flops", "bytes") if key in kernel}
    return {**kernel, **counts}
