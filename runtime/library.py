"""The C interface of an artifact, bound through cffi (``c/core/mlc_model.h.in`` has the contracts)."""

from __future__ import annotations

import _ctypes
import ctypes
import json
import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, TypeAlias

import numpy as np
from _cffi_backend import FFI  # cffi's own FFI is this one and a parser of C, which takes 30 ms to load

from mlc.errors import ArtifactError, InputError, RunError
from mlc.runtime import exprs, memory
from mlc.runtime.loader import find_prefix, open_library
from mlc.runtime.signature import POINTERS, STRINGS, TensorSpec
from mlc.runtime.weights import check_weights, of_rank

Call: Any = None
_unpacked: Any = None
with suppress(ImportError):  # built where the installation has a C compiler
    from mlc.runtime._call import Call
    from mlc.runtime._call import unpacked as _unpacked

Array: TypeAlias = np.ndarray[Any, Any]
ABI_VERSION = 2
MOST_THREADS = 1024  # of a model, as in c/core/mlc_runtime.c
MAX_ARRAYS = 64  # that a Call takes and returns
_TYPES = {
    "abi_version": "int(*)(void)",
    "signature": "const char *(*)(void)",
    "create": "void *(*)(const char *, int)",
    "destroy": "void(*)(void *)",
    "workspace_size": "int64_t(*)(const int64_t *)",
    "output_shape": "int(*)(int, const int64_t *, int64_t *)",
    "run": "int(*)(void *, const void *const *, void *const *, const int64_t *, void *)",
    "profile": "int(*)(void *, const void *const *, void *const *, const int64_t *, void *, uint64_t *)",
    "seed": "void(*)(void *, int64_t)",
    "get_state": "int(*)(void *, const char *, void *)",
    "set_state": "int(*)(void *, const char *, const void *)",
    "error": "const char *(*)(void)",
}
_NO_WORKSPACE = ("cannot allocate the ", "more memory than can be addressed")  # of mlc_runtime.c
_TRACE = "int64_t(*)(void *, const void *const *, void *const *, const int64_t *, void *, int64_t (*)[4], int64_t)"
_RUN_DEVICE = "int(*)(void *, const uintptr_t *, const uintptr_t *, const int64_t *, void *)"

# ctypes would take 3 us more for a call, most of it for the addresses of the arrays.
_ffi = FFI()
_from_buffer, _new, _cast = _ffi.from_buffer, _ffi.new, _ffi.cast
_NULL = _ffi.NULL


def nothing(*_: Any) -> None:
    """The ``repeat`` and ``repeat_named`` of a plan without a ``Call``: returns None."""


class NeedsCapacity(Exception):
    """An error: a run-time dimension needs ``size``, more than the capacity ``symbol`` (``room0``, …) that the caller
    gave."""

    def __init__(self, symbol: str, size: int) -> None:
        super().__init__(symbol, size)
        self.symbol, self.size = symbol, size


class NoRoom(RunError):
    """An error: there is no memory for an output or the workspace, so the model has not run."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The results of checking the inputs' shapes: dimensions by name and for C; names, shapes and dtypes of outputs.

    ``empty`` allocates an output, as numpy.empty does.
    ``repeat(*arrays)`` runs on arrays of the same layouts, and returns None if a layout differs; ``repeat_named`` takes
    and returns arrays by name.
    """

    dims: dict[str, int]
    values: Any
    outputs: tuple[tuple[str, tuple[int, ...], np.dtype[Any]], ...]
    empty: Callable[[tuple[int, ...], np.dtype[Any]], Array] = np.empty
    repeat: Callable[..., Any] = nothing
    repeat_named: Callable[[Any], dict[str, Array] | None] = nothing


class Library:
    """One model that a loaded library created. The last reference frees it, so a call in progress keeps it alive.

    ``signature`` is the parsed signature of the artifact, ``prefix`` its symbol prefix.
    """

    def __init__(self, path: Path, threads: int | None, verify: bool = False, context: Any = None) -> None:
        self.path = path
        self.prefix = find_prefix(path)
        self._dll = open_library(path)
        self._c = SimpleNamespace()
        self._bind()
        self.signature = self._read_signature()
        if verify:
            check_weights(path, self.weights_path(), self.signature)
        with self._in_context(context):
            self._model = self._c.create(_os_path(self.weights_path()), threads or 0)
        if not self._model:
            raise ArtifactError(f"Cannot load {path}: {self._error()}")
        self._joined = "collectives" not in self.signature
        # Not at interpreter exit: a daemon thread may still be inside a call.
        weakref.finalize(self, _release, self._c.destroy, self._model, self._dll._handle).atexit = False

    def join(self) -> None:
        """Meets the other ranks before the first run, if the model has collectives.

        Raises RunError if the other ranks do not come, or run another program.
        """
        if self._joined:
            return
        from mlc.runtime.communicators import current

        self._ranks = current().table  # which lives as long
        function = ctypes.cast(getattr(self._dll, f"{self.prefix}_join"), ctypes.c_void_p).value
        table = _NULL if self._ranks is None else _cast("void *", ctypes.addressof(self._ranks))
        if _cast("int(*)(void *, void *)", function)(self._model, table):
            needed, there = self.signature["collectives"]["ranks"], current().ranks
            start = f"Start {needed} ranks, as by 'mlc run --ranks {needed} {self.path.name}'"
            hint = start if needed not in (0, there) else None
            raise RunError(f"Model '{self.signature['name']}' cannot join its ranks: {self._error()}", hint=hint)
        self._joined = True

    def _in_context(self, context: Any) -> AbstractContextManager[None]:
        """Returns a manager that makes ``context`` current: a model gets the CUDA context that is current when it is
        created."""
        if context is None:
            return nullcontext()
        if not self.signature["target"].startswith("cuda"):
            message = f"Model '{self.signature['name']}' is compiled for {self.signature['target']}"
            raise InputError(f"{message}, which has no CUDA context", hint="Compile it with target='cuda'")
        from mlc.runtime.cuda_contexts import entered

        return entered(context)

    def _bind(self) -> None:
        for name, type_ in _TYPES.items():
            try:
                symbol = getattr(self._dll, f"{self.prefix}_{name}")
            except AttributeError:
                message = f"{self.path} is not an mlc artifact: it lacks the function {self.prefix}_{name}"
                raise ArtifactError(message) from None
            setattr(self._c, name, _ffi.cast(type_, ctypes.cast(symbol, ctypes.c_void_p).value))
            if name == "abi_version":
                self._check_version(self._c.abi_version())

    def _check_version(self, version: int) -> None:
        if version != ABI_VERSION:
            message = f"{self.path} has ABI version {version}, this mlc reads version {ABI_VERSION}"
            raise ArtifactError(message, hint="Compile the model again with this mlc")

    def _read_signature(self) -> dict[str, Any]:
        try:
            return json.loads(_ffi.string(self._c.signature()))
        except (ValueError, RuntimeError):  # RuntimeError: of NULL
            raise ArtifactError(f"{self.path} is damaged: its signature is not valid JSON") from None

    def weights_path(self) -> Path | None:
        """Returns the weights file, that of this rank where each has one: under the library's own name, else under the
        name at compile time; None if embedded."""
        about = self.signature.get("weights") or {}
        if not (name := about.get("file")):
            return None
        found = [self.path.with_suffix(".weights"), self.path.with_name(Path(name).name)]
        if ranks := about.get("ranks"):
            from mlc.runtime.communicators import current

            found = [of_rank(each, min(current().rank, len(ranks) - 1), len(ranks)) for each in found]
        return found[0] if found[0].exists() else found[1]

    def plan(self, dims: dict[str, int], inputs: Sequence[Array], outputs: Mapping[str, TensorSpec]) -> Plan:
        """Returns the plan for these values of the symbolic dimensions, and inputs of matching shapes."""
        self.join()
        values = _ffi.new("int64_t[]", list(dims.values()))
        shapes = [self._shape_of_output(i, spec, values) for i, spec in enumerate(outputs.values())]
        dtypes = [POINTERS if spec.dtype == STRINGS else spec.dtype for spec in outputs.values()]
        sizes = map(memory.size_of, shapes, dtypes)
        results = tuple(zip(outputs, shapes, dtypes, strict=True))
        plan = Plan(dims, values, results, memory.empty if memory.is_kept(sizes) else np.empty)
        repeat = self._repeat(plan, inputs, list(outputs.values()))
        return replace(plan, repeat=repeat, repeat_named=repeat.named) if repeat else plan

    def _repeat(self, plan: Plan, inputs: Sequence[Array], outputs: Sequence[TensorSpec]) -> Any:
        """Returns the ``Call`` for these arrays; None if they are too many, or not NumPy's, or only a run knows the
        sizes of an output of numbers."""
        too_many = len(inputs) + len(outputs) > MAX_ARRAYS
        if Call is None or too_many or any(type(a) is not np.ndarray for a in inputs):
            return None
        run, model, dims = (int(_ffi.cast("intptr_t", each)) for each in (self._c.run, self._model, plan.values))
        entries = zip(self.signature["inputs"], inputs, strict=True)
        given = tuple((e["name"], a.shape, STRINGS if e["dtype"] == "str" else a.dtype) for e, a in entries)
        made = self._made(plan, outputs)
        if made is None or (_unpacked is None and STRINGS in [entry[2] for entry in given + made]):
            return None
        return Call((self, plan.values), run, model, dims, plan.empty, np.ndarray, given, made)

    def _made(self, plan: Plan, specs: Sequence[TensorSpec]) -> tuple[tuple[Any, ...], ...] | None:
        """Returns the outputs of a ``Call``; None if it cannot make them: numbers whose size only a run knows."""
        sizes = {entry["name"]: entry["output"] for entry in self.signature.get("sizes", ())}
        plain = tuple((name, shape, spec.dtype) for (name, shape, _), spec in zip(plan.outputs, specs, strict=True))
        if not sizes:
            return plain
        made: list[tuple[Any, ...]] = []
        for index, spec in enumerate(specs):
            sized = {d for d in spec.shape if isinstance(d, str) and exprs.names(d) & sizes.keys()}
            if sized and (spec.dtype != STRINGS or spec.optional or not sized <= sizes.keys()):
                return None
            where = (tuple(sizes[d] if isinstance(d, str) and d in sized else -1 for d in spec.shape),)
            made.append((*plain[index], index in sizes.values(), *(where if sized else ())))
        return tuple(made)

    def _shape_of_output(self, index: int, spec: TensorSpec, values: Any) -> tuple[int, ...]:
        shape = _ffi.new("int64_t[]", len(spec.shape))
        rank = self._c.output_shape(index, values, shape)
        if not len(spec.shape) - len(spec.optional) <= rank <= len(spec.shape):
            raise RunError(f"Cannot compute the shape of output {index}: {self._error()}")
        return tuple(shape)[:rank]

    def call(
        self, plan: Plan, inputs: Iterable[Array], out: Mapping[str, Array], observed: Any = None
    ) -> dict[str, Array]:
        """Runs the model on contiguous arrays; returns the outputs by name: those of ``out``, and new ones for the
        rest.

        ``observed``: the run to make in place of a plain one, a function of the model, inputs, outputs, dimensions and
        workspace that returns 0, or what ``run`` returns on failure. Raises RunError if an output does not fit in
        memory.
        """
        read, written, outputs = [], [], {}
        for array in inputs:  # loops, because in every call a comprehension would cost more than what it does
            read.append(_from_buffer(array))
        try:
            for name, shape, dtype in plan.outputs:
                array = out[name] if name in out else plan.empty(shape, dtype)
                outputs[name] = array
                written.append(_from_buffer(array))
        except (ValueError, MemoryError):
            raise _too_large(name, shape, dtype) from None
        failed = (observed or self._c.run)(self._model, read, written, plan.values, _NULL)
        if failed > 1:
            size = self.signature["sizes"][failed - 2]
            raise NeedsCapacity(size["bound"], int(outputs[list(outputs)[size["output"]]]))
        if failed:
            self.raise_failure()
        return outputs

    def device_values(self, dims: Sequence[int]) -> Any:
        """Returns the values of the symbolic dimensions as ``call_on_device`` takes them."""
        return _ffi.new("int64_t[]", list(dims))

    def call_on_device(self, values: Any, inputs: Sequence[int], outputs: Sequence[int], stream: int) -> None:
        """Enqueues a run on tensors at these addresses of the device. Raises RunError if that fails."""
        read, written = _new("uintptr_t[]", inputs), _new("uintptr_t[]", outputs)
        if self._run_device(self._model, read, written, values, _cast("void *", stream)):
            self.raise_failure()

    @cached_property
    def _run_device(self) -> Any:
        function = ctypes.cast(getattr(self._dll, f"{self.prefix}_run_device"), ctypes.c_void_p).value
        return _cast(_RUN_DEVICE, function)

    def raise_failure(self) -> NoReturn:
        """Raises the RunError of this thread's last run."""
        error = self._error()
        kind = NoRoom if any(text in error for text in _NO_WORKSPACE) else RunError
        raise kind(f"Model '{self.signature['name']}' failed: {error}")

    def seed(self, number: int) -> None:
        """Sets the run counter."""
        self._c.seed(self._model, number)

    def get_state(self, name: str, value: Array) -> None:
        """Copies state to a contiguous array of its size."""
        if self._c.get_state(self._model, name.encode(), _from_buffer(value)):
            raise RunError(f"Cannot read the state of model '{self.signature['name']}': {self._error()}")

    def set_state(self, name: str, value: Array) -> None:
        """Copies a contiguous array of its size to state."""
        if self._c.set_state(self._model, name.encode(), _from_buffer(value)):
            raise RunError(f"Cannot set the state of model '{self.signature['name']}': {self._error()}")

    def profile(self, plan: Plan, inputs: Iterable[Array]) -> list[int]:
        """Runs the model; returns the nanoseconds of each launch."""
        times = _ffi.new("uint64_t[]", len(self.signature["kernels"]))
        self.call(plan, inputs, {}, lambda *given: self._c.profile(*given, times))
        return list(times)

    def trace(self, plan: Plan, inputs: Iterable[Array]) -> list[tuple[int, int, int, int]]:
        """Runs the model; returns what each thread did: thread, number of the launch, begin and end in nanoseconds.

        Raises RunError if the model runs on a device.
        """
        given, room, count = list(inputs), 1024, 0

        def run(*arguments: Any) -> int:
            nonlocal count
            count = self._trace(*arguments, events, room)
            return max(0, -count)

        while True:
            events = _new("int64_t[][4]", room)
            self.call(plan, given, {}, run)
            if count <= room:
                return [(each[0], each[1], each[2], each[3]) for each in _ffi.unpack(events, count)]
            room = 2 * count

    @cached_property
    def _trace(self) -> Any:
        symbol = getattr(self._dll, f"{self.prefix}_trace", None)
        if symbol is None:
            raise RunError(f"{self.path} is of an earlier mlc and has no traces", hint="Compile the model again")
        return _cast(_TRACE, ctypes.cast(symbol, ctypes.c_void_p).value)

    def _error(self) -> str:
        return _ffi.string(self._c.error()).decode(errors="replace")


def strings(array: Array) -> Array:
    """Returns the strings that an output points to, which live until this thread's next run of the model."""
    found = np.empty(array.shape, STRINGS)
    if _unpacked is not None:
        _unpacked(np.ascontiguousarray(array), found)
        return found
    read = (_ffi.string(_ffi.cast("const char *", int(pointer))).decode(errors="replace") for pointer in array.flat)
    found[...] = np.fromiter(read, STRINGS, array.size).reshape(array.shape)
    return found


def _release(destroy: Any, model: Any, handle: int) -> None:
    destroy(model)
    _ctypes.dlclose(handle)


def _too_large(name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> RunError:
    message = f"Cannot allocate output '{name}' of the shape {shape}, {memory.size_of(shape, dtype)} bytes"
    return NoRoom(message, hint="Give inputs that make a smaller output")


def _os_path(path: Path | None) -> Any:
    return _NULL if path is None else os.fsencode(path)
