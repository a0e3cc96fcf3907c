"""A compiled model, loaded from its artifact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mlc.errors import InputError, RunError
from mlc.runtime import arrays, describe, exprs
from mlc.runtime.calls import Queue
from mlc.runtime.files import copy_artifact, existing
from mlc.runtime.library import MOST_THREADS, Library, NeedsCapacity, NoRoom, Plan, nothing, strings
from mlc.runtime.signature import (
    LARGEST_DIMENSION,
    STRINGS,
    TensorSpec,
    check_guards,
    check_solvable,
    read_aliases,
    read_specs,
    solve_dims,
)

if TYPE_CHECKING:
    from concurrent.futures import Future

Array: TypeAlias = np.ndarray[Any, Any]
_MAX_PLANS = 256
INITIAL_CAPACITY = 16  # of run-time dimensions that nothing bounds, before a run needs more


class Model:
    """A compiled model. Calls may come from several threads at once; they share the model's threads and weights.

    ``inputs`` and ``outputs`` map names to ``TensorSpec`` (dtype and shape) in the order of the signature, read-only;
    ``states`` maps the names of tensors that live in the model from run to run (``get_state``) to ``TensorSpec``;
    ``aliases`` maps an output to the input whose memory the output may overwrite.
    ``signature`` is the artifact's own description, ``path`` its file. Made by :func:`load`; pickled as path and
    ``threads``, so another process loads the same file.
    """

    def __init__(
        self, path: str | PathLike[str], threads: int | None = None, verify: bool = False, context: Any = None
    ) -> None:
        """See :func:`load`."""
        if threads is not None and not (isinstance(threads, Integral) and 1 <= threads <= MOST_THREADS):
            raise InputError(f"A model cannot run on {threads!r} threads", hint=f"Give 1 to {MOST_THREADS}, or None")
        library = Library(existing(path), threads, verify, context)
        self._context = context  # which lives as long
        self.path, self.threads = library.path, threads
        self.signature = library.signature
        self.name: str = self.signature["name"]
        self.inputs: Mapping[str, TensorSpec] = MappingProxyType(read_specs(self.signature["inputs"]))
        sizes = self.signature.get("sizes", ())
        self._capacity = {entry["bound"]: INITIAL_CAPACITY for entry in sizes if entry.get("grows")}
        self.dims: tuple[str, ...] = tuple(dim for dim in self.signature["dims"] if dim not in self._capacity)
        self._all_outputs = read_specs(self.signature["outputs"])
        names = list(self._all_outputs)
        self._runtime_dims = {entry["name"]: names[entry["output"]] for entry in sizes}
        self.states: Mapping[str, TensorSpec] = MappingProxyType(read_specs(self.signature.get("states", ())))
        self.aliases = MappingProxyType(read_aliases(self.signature))
        dims = self._runtime_dims.values()  # outputs with the values of run-time dimensions
        outputs = {name: spec for name, spec in self._all_outputs.items() if name not in dims}
        self.outputs: Mapping[str, TensorSpec] = MappingProxyType(outputs)
        check_solvable(self.inputs, self.dims)
        self._strings = [name for name, spec in self.outputs.items() if spec.dtype == STRINGS]
        self._has_no_strings = STRINGS not in [spec.dtype for spec in (*self.inputs.values(), *self.outputs.values())]
        self._library: Library | None = library
        self._names = tuple(self.inputs)
        self._plans: dict[tuple[Any, ...], Plan] = {}
        self._repeat: Callable[..., Any] = nothing  # see ``repeat``
        self._repeat_named: Callable[..., Any] = nothing  # the same by name
        self._device_runs: Callable[..., dict[str, Any]] | None = None  # see ``run_device``
        self._queue = Queue()

    def __call__(self, *values: Any, **named: Any) -> Array | tuple[Array, ...]:
        """Runs on arrays given in signature order or by name; returns the output array, or a tuple of several.

        Arrays are NumPy's or anything with ``__dlpack__``; contiguous arrays are not copied. Raises RunError if names,
        dtypes or shapes do not fit: nothing is cast.
        """
        if not named and (result := self._repeat(*values)) is not None:
            return result
        results = self._execute(self._in_order(values, named) if named else values, {})
        return results.popitem()[1] if len(results) == 1 else tuple(results.values())

    def repeat(self, *values: Any) -> Array | tuple[Array, ...] | None:
        """Runs on NumPy arrays of the layouts of the previous call; returns None if a layout differs."""
        return self._repeat(*values)

    def update(self, *values: Any) -> Array | tuple[Array, ...]:
        """Runs and overwrites each input with an alias (``alias`` of an output in the signature): the output is the
        given array, if this is a contiguous NumPy array.
        """
        library = self._library or self._open_library()
        plan, given = self._fit(library, values)
        names = [entry["name"] for entry in self.signature["inputs"]]
        arrays_of = dict(zip(names, given, strict=True))
        results = library.call(plan, given, {name: arrays_of[old] for name, old in self.aliases.items()})
        return results.popitem()[1] if len(results) == 1 else tuple(results.values())

    def run(self, inputs: Mapping[str, Any], out: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Runs on arrays by name; returns all outputs by name, those in ``out`` written into the caller's arrays.

        The arrays in ``out`` are NumPy's or have ``__dlpack__``. They have the output's dtype and shape, are contiguous
        and writable, and overlap no other array. The array of an output with an alias may be that of the input, which
        is then updated in place.
        """
        if not out and (results := self._repeat_named(inputs)) is not None:
            return results
        given = self._in_order((), inputs)
        return {**self._execute(given, arrays.as_outputs(out)), **out} if out else self._execute(given, {})

    def run_device(
        self, inputs: Mapping[str, Any], out: Mapping[str, Any] | None = None, stream: Any = None
    ) -> dict[str, Any]:
        """Runs as ``run`` does, on arrays in the GPU's memory of a model compiled for GPUs; ordered in ``stream``,
        without waiting.

        Arrays have ``__cuda_array_interface__`` or ``__dlpack__`` (PyTorch, CuPy, pycuda, JAX, Numba), are contiguous
        and in one CUDA context; the model is loaded in that context too if it is not there yet. Outputs that ``out``
        does not have are ``DeviceTensor``; all are returned by name. ``stream`` is a stream of one of these libraries
        or its address (0: the legacy default stream); arrays that name no stream must be ready in it. For an array that
        names its own stream, the run waits for that stream, which then waits for the run. None: the stream that the
        arrays name, else the default one. The arrays must live until the run has ended. Raises RunError if a name,
        dtype, shape, context or stream does not fit, arrays overlap, or the model is for a CPU or has run-time
        dimensions.
        """
        if (runs := self._device_runs) is None:
            from mlc.runtime.device_runs import DeviceRuns

            runs = self._device_runs = DeviceRuns(self._open_library(), self.inputs, self.outputs, self.dims)
        return runs(inputs, out, stream)

    def run_async(self, inputs: Mapping[str, Any], out: Mapping[str, Any] | None = None) -> Future[dict[str, Any]]:
        """Runs as ``run`` does, on another thread; returns the future of its result. Calls run one after another, in
        order.

        The arrays must not change before the future is done. ``await asyncio.wrap_future(future)`` awaits it.
        """
        return self._queue.submit(self.run, dict(inputs), out)

    def seed(self, number: int) -> None:
        """Sets the run counter: the number of the next run. A loaded model begins at 0. -2^63 <= ``number`` < 2^63.

        Random operators depend on the run counter and nothing else, so equal counters give equal results.
        """
        if not -(1 << 63) <= number < 1 << 63:
            raise RunError(f"{number} does not fit the run counter", hint="Give an integer of 64 bits")
        self._open_library().seed(number)

    def get_state(self, name: str) -> Array:
        """Returns a copy of the state ``name``, of ``states``.

        Raises RunError if there is none, or another thread runs the model.
        """
        spec = self._state_spec(name)
        value = np.empty(tuple(map(int, spec.shape)), spec.dtype)
        self._open_library().get_state(name, value)
        return value

    def set_state(self, name: str, value: Any) -> None:
        """Sets the state ``name`` to an array of its dtype and shape.

        Raises RunError if there is none, the array differs, or another thread runs the model.
        """
        spec = self._state_spec(name)
        array = arrays.as_input(name, spec, value)
        if array.shape != spec.shape:
            raise RunError(f"State '{name}' must be {spec}, but has the shape {array.shape}")
        self._open_library().set_state(name, array)

    def _state_spec(self, name: str) -> TensorSpec:
        if name not in self.states:
            raise RunError(
                f"Model '{self.name}' has no state '{name}'", hint=f"It has {', '.join(self.states) or 'none'}"
            )
        return self.states[name]

    def profile(self, *values: Any, **named: Any) -> list[tuple[dict[str, Any], int]]:
        """Runs once and returns the nanoseconds of every kernel launch, in order.

        Each launch comes with its entry of ``signature["kernels"]``, in which ``flops`` and ``bytes`` are the integers
        for these shapes.
        """
        library = self._open_library()
        kernels, times = self._observed(library, library.profile, self._in_order(values, named))
        return list(zip(kernels, times, strict=True))

    def trace(self, *values: Any, **named: Any) -> list[tuple[dict[str, Any], int, int, int]]:
        """Runs once and returns what each thread did: for each part of a launch that a thread executed, in order of
        their begin, the launch's entry of ``signature["kernels"]``, the thread (0: the caller), and begin and end in
        nanoseconds after the run began.

        Raises RunError for a model on a GPU, whose launches ``profile`` times.
        """
        library = self._open_library()
        kernels, events = self._observed(library, library.trace, self._in_order(values, named))
        found = [(kernels[launch], thread, begin, end) for thread, launch, begin, end in events]
        return sorted(found, key=lambda event: event[2])

    def _observed(self, library: Library, run: Any, given: Sequence[Any]) -> tuple[list[dict[str, Any]], Any]:
        """Returns the launches of a run, with numbers for its shapes, and what ``run`` has observed."""
        plan, inputs = self._fit(library, given)
        plan, found = self._with_capacity(library, plan, inputs, run)
        return [exprs.with_numbers(kernel, plan.dims) for kernel in self.signature["kernels"]], found

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the artifact to ``path``, and its header and weights beside it with the same stem; each file whole or
        not at all.

        Raises ArtifactError if the files cannot be read or written.
        """
        ranks = (self.signature.get("weights") or {}).get("ranks", ())
        copy_artifact(self.path, self._open_library().weights_path(), Path(path), len(ranks))

    def close(self) -> None:
        """Stops the threads and frees the memory once the calls in flight have ended; later calls raise RunError."""
        self._library, self._plans, self._repeat, self._repeat_named = None, {}, nothing, nothing
        self._device_runs = None

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, ...]:
        self._open_library()
        return type(self), (str(self.path), self.threads, False, self._device())

    def _device(self) -> int | None:
        """Returns the device whose primary context the model uses, or None: another process has no other context of
        this one."""
        if self._context is None:
            return None
        from mlc.runtime.cuda_contexts import device_number

        return device_number(self._context)

    def __repr__(self) -> str:
        return describe.text(self.name, self.inputs, self.outputs)

    def _repr_html_(self) -> str:
        return describe.html(self.name, self.inputs, self.outputs)

    def _open_library(self) -> Library:
        library = self._library
        if library is None:
            raise RunError(f"Model '{self.name}' is closed", hint="Load it again")
        return library

    def _in_order(self, values: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """Returns the arguments in signature order. Raises RunError if ``named`` has other names, or is no
        dictionary."""
        if not isinstance(named, Mapping):
            message = f"Model '{self.name}' takes arrays by name, not a {type(named).__name__}"
            raise RunError(message, hint='Write {"x": x}, or call the model itself')
        rest = self._names[len(values) :]
        if named.keys() != set(rest):
            raise RunError(self._wrong_names(values, named), hint=self._about_fixed(named))
        return [*values, *(named[name] for name in rest)]

    def _wrong_names(self, values: Sequence[Any], named: Mapping[str, Any]) -> str:
        expected = ", ".join(f"'{name}'" for name in self.inputs) or "none"
        given = ", ".join([f"{len(values)} by position"] * bool(values) + [f"'{name}'" for name in named]) or "none"
        return f"Model '{self.name}' takes {len(self.inputs)} inputs: {expected}; given: {given}"

    def _about_fixed(self, named: Mapping[str, Any]) -> str | None:
        """Returns a hint for a caller that gives a value of an initializer which is compiled in; None if there is
        none."""
        fixed = ", ".join(f"'{name}'" for name in self.signature.get("fixed", ()) if name in named)
        way = "delete the initializer from the model before it is compiled, or run it by mlc.onnxruntime"
        return f"The values of {fixed} are compiled in: {way}" if fixed else None

    def _execute(self, given: Sequence[Any], out: Mapping[str, Array]) -> dict[str, Array]:
        """Runs; the plan of an earlier call with arrays of the same layouts needs no checks."""
        library = self._library or self._open_library()
        try:
            plan = self._plans.get(arrays.layouts(given)) if self._has_no_strings else None
        except Exception:  # whatever an object that is no NumPy array raises
            plan = None
        if plan is None:
            plan, given = self._fit(library, given)
        self._repeat, self._repeat_named = plan.repeat, plan.repeat_named
        if self._library is None:  # closed meanwhile
            self._repeat = self._repeat_named = nothing
        if out:
            self._check_outputs(plan, given, out)
        plan, results = self._with_capacity(library, plan, given, lambda plan, given: library.call(plan, given, out))
        results = self._trim(results, plan.dims) if self._runtime_dims else results
        return results | {name: strings(results[name]) for name in self._strings} if self._strings else results

    def _trim(self, results: dict[str, Array], dims: dict[str, int]) -> dict[str, Array]:
        """Returns outputs with the run-time dimensions of this run, from arrays allocated for their bounds."""
        known = dims | {size: int(results[name]) for size, name in self._runtime_dims.items()}
        shapes = {name: spec.of(known) for name, spec in self.outputs.items()}
        return {
            name: results[name] if results[name].shape == shape else arrays.leading_elements(results[name], shape)
            for name, shape in shapes.items()
        }

    def _fit(self, library: Library, given: Sequence[Any]) -> tuple[Plan, Sequence[Array]]:
        """Returns the plan of a call, and the arrays that the model reads."""
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
                if name in self._strings:
                    raise RunError(f"Output '{name}' has strings", hint="Take the array that the call returns")
                self._check_size(name)
                arrays.check_output(name, shape, dtype, out[name])
                own = self._names.index(self.aliases[name]) if name in self.aliases else None
                given = [x for n, x in enumerate(others) if n != own or not arrays.is_same(x, out[name])]
                arrays.check_disjoint(given, name, out[name])
                others.append(out[name])

    def _check_size(self, name: str) -> None:
        if any(exprs.names(d) & self._runtime_dims.keys() for d in self.outputs[name].shape):
            message = f"Output '{name}' has a run-time dimension, so it cannot be written to an array of the caller"
            raise RunError(message, hint="Take the array that the call returns")

    def _with_capacity(self, library: Library, plan: Plan, given: Sequence[Array], run: Any) -> tuple[Plan, Any]:
        """Returns the plan and the result of ``run``, repeated with more capacity if a run-time dimension needs it.
        Later calls keep the capacity, unless the run fails; if the capacities of several runs together are too much,
        this run begins with the least."""
        try:
            return self._grown(library, plan, given, run)
        except NoRoom:
            if not any(size > INITIAL_CAPACITY for size in self._capacity.values()):
                raise
            self._keep(dict.fromkeys(self._capacity, INITIAL_CAPACITY))
            return self._grown(library, self._plan(library, given), given, run)

    def _grown(self, library: Library, plan: Plan, given: Sequence[Array], run: Any) -> tuple[Plan, Any]:
        capacity = self._capacity
        while True:
            try:
                result = run(plan, given)
            except NeedsCapacity as need:
                capacity = {**capacity, need.symbol: self._enough(need, capacity)}
                plan = self._plan_with(capacity, library, given)
            else:
                if capacity is not self._capacity:
                    self._keep({symbol: max(size, self._capacity[symbol]) for symbol, size in capacity.items()})
                return plan, result

    def _keep(self, capacity: dict[str, int]) -> None:
        self._capacity, self._plans = capacity, {}

    def _enough(self, need: NeedsCapacity, capacity: Mapping[str, int]) -> int:
        if need.size > LARGEST_DIMENSION:
            message = f"Model '{self.name}' computes a dimension of {need.size} elements, too large for any memory"
            raise NoRoom(message, hint="Check the values of the inputs, which decide on that dimension")
        return max(capacity[need.symbol], need.size + need.size // 8)

    def _plan(self, library: Library, inputs: Sequence[Array]) -> Plan:
        if len(self._plans) >= _MAX_PLANS:
            self._plans = {}
        plan = self._plans[arrays.layouts(inputs)] = self._plan_with(self._capacity, library, inputs)
        return plan

    def _plan_with(self, capacity: Mapping[str, int], library: Library, inputs: Sequence[Array]) -> Plan:
        dims = solve_dims(self.inputs, [array.shape for array in inputs], self.dims)
        check_guards(self.signature.get("guards", ()), dims)
        return library.plan({**dims, **capacity}, inputs, self._all_outputs)


def load(path: str | PathLike[str], threads: int | None = None, verify: bool = False, context: Any = None) -> Model:
    """Loads the artifact (.so) that ``mlc compile`` or :meth:`Model.save` wrote.

    ``threads`` is the number of threads a call runs on, the caller's included; None: one per CPU this process may use.
    Results do not depend on it.
    ``context`` is for a model of a GPU: the CUDA context in which the model is loaded, as an object of pycuda, an
    address, or the number of a device for its primary context. None: the calling thread's current context, else the
    first device's.
    Raises ArtifactError if the artifact is missing, damaged, of another version, or for another CPU, or if its weights
    are missing, truncated or another model's. ``verify`` also reads all weights and compares their digest, as does
    MLC_VERIFY_WEIGHTS=1 in the environment. Loading runs the artifact's code: see docs/reference/trust.md.
    """
    return Model(path, threads, verify, context)
