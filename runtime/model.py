"""A compiled model, loaded from its artifact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from mlc.runtime import arrays, exprs
from mlc.runtime.errors import ArtifactError, InputError, RunError
from mlc.runtime.files import copy_artifact
from mlc.runtime.library import Library, NeedsRoom, Plan, nothing, texts
from mlc.runtime.signature import TEXTS, check_guards, check_solvable, read_specs, solve_dims

Array: TypeAlias = np.ndarray[Any, Any]
_MAX_PLANS = 256
ROOM = 16  # for sizes that nothing bounds, before a run needs more


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
        self.inputs = read_specs(self.signature["inputs"])
        self._room = {entry["bound"]: ROOM for entry in self.signature.get("sizes", ()) if entry.get("grows")}
        self.dims: tuple[str, ...] = tuple(dim for dim in self.signature["dims"] if dim not in self._room)
        self._written = read_specs(self.signature["outputs"])
        self._sizes = {entry["name"]: list(self._written)[entry["output"]] for entry in self.signature.get("sizes", ())}
        self.outputs = {name: spec for name, spec in self._written.items() if name not in self._sizes.values()}
        check_solvable(self.inputs, self.dims)
        self._texts = [name for name, spec in self.outputs.items() if spec.dtype == TEXTS]
        self._plain = TEXTS not in [spec.dtype for spec in (*self.inputs.values(), *self.outputs.values())]
        self._library: Library | None = library
        self._names = tuple(self.inputs)
        self._plans: dict[tuple[Any, ...], Plan] = {}
        self._again: Callable[..., Any] = nothing  # runs on arrays like those of the call before
        self._named: Callable[..., Any] = nothing  # the same by name

    def __call__(self, *values: Any, **named: Any) -> Array | tuple[Array, ...]:
        """Runs on arrays given in signature order or by name; the output array, or a tuple of several.

        Arrays are NumPy's or anything with ``__dlpack__``; they are not copied where contiguous. Raises RunError
        where names, dtypes or shapes do not fit: nothing is cast.
        """
        if not named and (result := self._again(*values)) is not None:
            return result
        results = self._execute(self._order(values, named) if named else values, {})
        return results.popitem()[1] if len(results) == 1 else tuple(results.values())

    def run(self, inputs: Mapping[str, Any], out: Mapping[str, Array] | None = None) -> dict[str, Array]:
        """Runs on arrays by name; all outputs by name, those in ``out`` written into the caller's arrays.

        An array in ``out`` must have the output's dtype and shape, be contiguous and writable, and overlap no other.
        """
        if not out and (results := self._named(inputs)) is not None:
            return results
        return self._execute(self._order((), inputs), out or {})

    def seed(self, number: int) -> None:
        """Numbers the next run, and counts on from there; a loaded model begins at 0. -2^63 <= ``number`` < 2^63.

        Random operators draw what the number of the run says, so the same numbers give the same results.
        """
        if not -(1 << 63) <= number < 1 << 63:
            raise RunError(f"{number} is no number of a run", hint="Give one of 64 bits")
        self._open_library().seed(number)

    def profile(self, *values: Any, **named: Any) -> list[tuple[dict[str, Any], int]]:
        """Runs once and gives the nanoseconds of every kernel launch, in order.

        Each comes with its entry of ``signature["kernels"]``; there ``flops`` and ``bytes`` are the integers for these
        shapes.
        """
        library = self._open_library()
        plan, inputs = self._fit(library, self._order(values, named))
        plan, times = self._with_room(library, plan, inputs, library.profile)
        kernels = [_with_numbers(kernel, plan.dims) for kernel in self.signature["kernels"]]
        return list(zip(kernels, times, strict=True))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the artifact to ``path``, its header and weights beside it under the same stem; all or nothing a file.

        Raises ArtifactError where the files cannot be read or written.
        """
        copy_artifact(self.path, self._open_library().weights_path(), Path(path))

    def close(self) -> None:
        """Stops the threads and frees the memory once the calls in flight have ended; later calls raise RunError."""
        self._library, self._plans, self._again, self._named = None, {}, nothing, nothing

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

    def _order(self, values: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The arguments in signature order."""
        rest = self._names[len(values) :]
        if named.keys() != set(rest):
            raise RunError(self._wrong_names(values, named))
        return [*values, *(named[name] for name in rest)]

    def _wrong_names(self, values: Sequence[Any], named: Mapping[str, Any]) -> str:
        expected = ", ".join(f"'{name}'" for name in self.inputs) or "none"
        given = ", ".join([f"{len(values)} by position"] * bool(values) + [f"'{name}'" for name in named]) or "none"
        return f"Model '{self.name}' takes {len(self.inputs)} inputs: {expected}; given: {given}"

    def _execute(self, given: Sequence[Any], out: Mapping[str, Array]) -> dict[str, Array]:
        """Where a call like this one came before, one look-up tells that all fits."""
        library = self._library or self._open_library()
        try:
            plan = self._plans.get(arrays.layouts(given)) if self._plain else None
        except Exception:  # whatever an object that is no NumPy array raises
            plan = None
        if plan is None:
            plan, given = self._fit(library, given)
        self._again, self._named = plan.again, plan.named
        if self._library is None:  # closed meanwhile
            self._again = self._named = nothing
        if out:
            self._check_outputs(plan, given, out)
        plan, results = self._with_room(library, plan, given, lambda plan, given: library.call(plan, given, out))
        results = self._cut(results, plan.dims) if self._sizes else results
        return results | {name: texts(results[name]) for name in self._texts} if self._texts else results

    def _cut(self, results: dict[str, Array], dims: dict[str, int]) -> dict[str, Array]:
        """Arrays of the sizes that this run has found out, of those that have room for the most there can be."""
        known = dims | {size: int(results[name]) for size, name in self._sizes.items()}
        shapes = {name: tuple(exprs.evaluate(d, known) for d in spec.shape) for name, spec in self.outputs.items()}
        return {
            name: results[name] if results[name].shape == shape else arrays.beginning(results[name], shape)
            for name, shape in shapes.items()
        }

    def _fit(self, library: Library, given: Sequence[Any]) -> tuple[Plan, Sequence[Array]]:
        """The plan of a call, and the arrays that the model reads."""
        inputs = self._as_inputs(given)
        return self._plans.get(arrays.layouts(inputs)) or self._plan(library, inputs), inputs

    def _as_inputs(self, given: Sequence[Any]) -> list[Array]:
        if len(given) != len(self.inputs):
            raise RunError(self._wrong_names(given, {}))
        specs = self.inputs.items()
        return [arrays.as_input(name, spec, value) for (name, spec), value in zip(specs, given, strict=True)]

    def _check_outputs(self, plan: Plan, inputs: Sequence[Array], out: Mapping[str, Array]) -> None:
        if not out.keys() <= self.outputs.keys():
            raise RunError(f"Model '{self.name}' has the outputs {list(self.outputs)}, not {list(out)}")
        others = list(inputs)
        for name, shape, dtype in plan.outputs:
            if name in out:
                if name in self._texts:
                    raise RunError(f"Output '{name}' has texts", hint="Take the array that the call returns")
                self._check_size(name)
                arrays.check_output(name, shape, dtype, out[name])
                arrays.check_disjoint(others, name, out[name])
                others.append(out[name])

    def _check_size(self, name: str) -> None:
        if any(exprs.names(d) & self._sizes.keys() for d in self.outputs[name].shape):
            message = f"The size of output '{name}' depends on data: no array of the caller's can have it"
            raise RunError(message, hint="Take the array that the call returns")

    def _with_room(self, library: Library, plan: Plan, given: Sequence[Array], run: Any) -> tuple[Plan, Any]:
        """What ``run`` gives, again with more room where a size needs it. The room stays for later calls."""
        while True:
            try:
                return plan, run(plan, given)
            except NeedsRoom as need:
                self._room[need.room] = max(self._room[need.room], need.size + need.size // 8)
                self._plans = {}
                plan = self._plan(library, given)

    def _plan(self, library: Library, inputs: Sequence[Array]) -> Plan:
        dims = solve_dims(self.inputs, [array.shape for array in inputs], self.dims)
        check_guards(self.signature.get("guards", ()), dims)
        dims |= self._room
        if len(self._plans) >= _MAX_PLANS:
            self._plans = {}
        plan = self._plans[arrays.layouts(inputs)] = library.plan(dims, inputs, self._written)
        if self._sizes or not self._plain:
            plan = self._plans[arrays.layouts(inputs)] = replace(plan, again=nothing, named=nothing)
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


def _with_numbers(kernel: Mapping[str, Any], dims: Mapping[str, int]) -> dict[str, Any]:
    counts = {key: exprs.evaluate(kernel[key], dims) for key in ("flops", "bytes") if key in kernel}
    return {**kernel, **counts}
