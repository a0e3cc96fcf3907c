"""Runs on tensors in a GPU's memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlc.errors import RunError
from mlc.runtime.device_arrays import DeviceArray, device_array
from mlc.runtime.library import Library
from mlc.runtime.signature import TensorSpec, check_guards, solve_dims


def run_device(
    library: Library,
    specs: Mapping[str, TensorSpec],
    results: Mapping[str, TensorSpec],
    dims: Sequence[str],
    inputs: Mapping[str, Any],
    out: Mapping[str, Any],
    stream: int,
) -> None:
    """See ``Model.run_device``."""
    signature = library.signature
    if not signature["target"].startswith("cuda"):
        message = f"Model '{signature['name']}' is compiled for {signature['target']}, not for a GPU"
        raise RunError(message, hint="Compile it with target='cuda'")
    if signature.get("sizes"):
        raise RunError(f"Model '{signature['name']}' has outputs with run-time dimensions", hint="Use run")
    read, written = _arrays("Input", specs, inputs), _arrays("Output", results, out)
    values = solve_dims(specs, [array.shape for array in read], dims)
    check_guards(signature.get("guards", ()), values)
    for (name, spec), array in zip(results.items(), written, strict=True):
        shape = spec.of(values)
        if array.shape != shape:
            raise RunError(f"Output '{name}' must be {spec}, that is {shape}, but has the shape {array.shape}")
    given, made = ([array.address for array in arrays] for arrays in (read, written))
    library.call_on_device(list(values.values()), given, made, stream)


def _arrays(kind: str, specs: Mapping[str, TensorSpec], given: Mapping[str, Any]) -> list[DeviceArray]:
    if given.keys() != specs.keys():
        raise RunError(f"There must be arrays for {', '.join(specs)}, not for {', '.join(given) or 'none'}")
    return [device_array(kind, name, spec, given[name]) for name, spec in specs.items()]
