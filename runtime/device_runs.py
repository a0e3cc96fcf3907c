"""Runs of a model on tensors in a GPU's memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from mlc.errors import RunError
from mlc.runtime.cuda_contexts import stream_address
from mlc.runtime.device_arrays import DeviceArray, device_array
from mlc.runtime.library import Library
from mlc.runtime.signature import TensorSpec, check_guards, solve_dims

_MOST = 256  # layouts that are kept
_LEGACY = 1  # the same stream as 0

Layouts = tuple[tuple[Any, ...], ...]


class DeviceRuns:
    """``Model.run_device``. Arrays whose layouts have run before are not checked again, which would take 20 us."""

    def __init__(
        self, library: Library, specs: Mapping[str, TensorSpec], results: Mapping[str, TensorSpec], dims: Sequence[str]
    ) -> None:
        self._library, self._specs, self._results, self._dims = library, specs, results, dims
        self._inputs, self._outputs = tuple(specs), tuple(results)
        self._checked: dict[Layouts, Any] = {}  # the values of symbolic dimensions, for C

    def __call__(self, inputs: Mapping[str, Any], out: Mapping[str, Any] | None, stream: Any) -> dict[str, Any]:
        out = {} if out is None else out
        layouts: Layouts | None
        try:
            given = [inputs[name].__cuda_array_interface__ for name in self._inputs]
            made = [out[name].__cuda_array_interface__ for name in self._outputs]
            layouts = tuple([_layout(x) for x in given + made])
            values = self._checked.get(layouts) if len(inputs) == len(given) and len(out) == len(made) else None
            said = {x.get("stream") for x in given + made} - {None}
            bad = 0 in said
            where = said.pop() if stream is None and len(said) == 1 else stream_address(stream)
            if bad or said - {where or _LEGACY} or (stream is None and self._unordered(inputs, given)):
                values = None
        except Exception:  # arrays with DLPack alone, or what is none; outputs that are to be made
            layouts = values = None
        if values is None:
            return self._checked_run(layouts, inputs, out, stream)
        read, written = ([x["data"][0] or 0 for x in each] for each in (given, made))
        self._library.call_on_device(values, read, written, where)
        return dict(out)

    def _checked_run(
        self, layouts: Layouts | None, inputs: Mapping[str, Any], out: Mapping[str, Any], stream: Any
    ) -> dict[str, Any]:
        """Runs on arrays of any kind. Raises RunError if they do not fit; otherwise caches ``layouts``."""
        self._check_model()
        where = stream_address(stream) if stream is not None else _stream_of([*inputs.values(), *out.values()])
        read = _arrays("Input", self._specs, inputs, where, stream is not None)
        dims = solve_dims(self._specs, [array.shape for array in read], self._dims)
        check_guards(self._library.signature.get("guards", ()), dims)
        results = self._with_outputs(out, dims, read, where)
        written = _arrays("Output", self._results, results, where, stream is not None)
        self._check_shapes(written, dims)
        values = self._library.device_values(list(dims.values()))
        if layouts is not None:
            self._checked = {} if len(self._checked) >= _MOST else self._checked
            self._checked[layouts] = values
        given, made = ([array.address for array in arrays] for arrays in (read, written))
        with _ordered([*read, *written], where):
            self._library.call_on_device(values, given, made, where)
        return results

    def _unordered(self, inputs: Mapping[str, Any], given: Sequence[Mapping[str, Any]]) -> bool:
        """Returns whether some arrays name no stream in their interface but have DLPack, which orders them."""
        pairs = zip(self._inputs, given, strict=True)
        return any("stream" not in about and hasattr(inputs[name], "__dlpack__") for name, about in pairs)

    def _check_model(self) -> None:
        signature = self._library.signature
        if not signature["target"].startswith("cuda"):
            message = f"Model '{signature['name']}' is compiled for {signature['target']}, not for a GPU"
            raise RunError(message, hint="Compile it with target='cuda'")
        if signature.get("sizes"):
            raise RunError(f"Model '{signature['name']}' has outputs with run-time dimensions", hint="Use run")

    def _with_outputs(
        self, out: Mapping[str, Any], dims: Mapping[str, int], read: Sequence[DeviceArray], stream: int
    ) -> dict[str, Any]:
        """Returns ``out``, and new tensors for the other outputs, in the memory that holds the inputs."""
        if not out.keys() <= self._results.keys():
            raise RunError(f"There must be arrays for {', '.join(self._results)}, not for {', '.join(out)}")
        missing = [name for name in self._results if name not in out]
        if not missing:
            return dict(out)
        from mlc.runtime.device_tensors import DeviceTensor

        context = _context_of(read, stream)
        new = {
            name: DeviceTensor(self._results[name].of(dims), self._results[name].dtype, context, stream)
            for name in missing
        }
        return {name: new[name] if name in new else out[name] for name in self._results}

    def _check_shapes(self, written: Sequence[DeviceArray], dims: Mapping[str, int]) -> None:
        for (name, spec), array in zip(self._results.items(), written, strict=True):
            shape = spec.of(dims)
            if array.shape != shape:
                raise RunError(f"Output '{name}' must be {spec}, that is {shape}, but has the shape {array.shape}")


def _layout(about: Mapping[str, Any]) -> tuple[Any, ...]:
    """Returns the checked properties of an array; of its address, only the alignment."""
    address, read_only = about["data"]
    mask = about.get("mask") is not None
    return about["shape"], about["typestr"], about.get("strides"), read_only, (address or 0) & 15, mask


def _arrays(
    kind: str, specs: Mapping[str, TensorSpec], given: Mapping[str, Any], stream: int, ordered: bool
) -> list[DeviceArray]:
    if given.keys() != specs.keys():
        raise RunError(f"There must be arrays for {', '.join(specs)}, not for {', '.join(given) or 'none'}")
    return [device_array(kind, name, spec, given[name], stream, ordered) for name, spec in specs.items()]


def _stream_of(arrays: Sequence[Any]) -> int:
    """Returns the stream that the arrays name, if all name the same; else the legacy default stream."""
    said = set()
    for array in arrays:
        try:
            said.add(array.__cuda_array_interface__.get("stream"))
        except Exception:  # it has none
            continue
    said.discard(None)
    return stream_address(said.pop()) if len(said) == 1 else 0


@contextmanager
def _ordered(arrays: Sequence[DeviceArray], stream: int) -> Iterator[None]:
    """Makes the run wait for the arrays' own streams, and these for the run."""
    others = sorted({array.stream for array in arrays} - {None, stream or _LEGACY})  # type: ignore[type-var]
    if not others:
        yield
        return
    from mlc.runtime import cuda_driver

    with cuda_driver.pushed(_context_of(arrays, stream)):
        for other in others:
            cuda_driver.order(other, stream)  # type: ignore[arg-type]
        yield
        for other in others:
            cuda_driver.order(stream, other)  # type: ignore[arg-type]


def _context_of(arrays: Sequence[DeviceArray], stream: int) -> int:
    """Returns the context of the arrays; else of the stream; else the thread's current one, or the device's primary
    one."""
    from mlc.runtime import cuda_driver

    current, device = cuda_driver.current(), 0
    with cuda_driver.some_context(current):
        for array in arrays:
            if array.address and 0 not in array.shape:
                context, device = cuda_driver.context_of_memory(array.address)
                if context:
                    return context
        if stream > 2:
            return cuda_driver.context_of_stream(stream)
    if current and cuda_driver.device_of(current) == device:
        return current
    with cuda_driver.primary(device) as context:
        return context
