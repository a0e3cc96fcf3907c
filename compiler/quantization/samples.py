"""Calibration data: arrays as batches that the model takes, with labels where they are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, ValueInfoProto, helper

from mlc.errors import InputError
from mlc.frontends.array.further.files import read_arrays
from mlc.quantization.network import Array, nearest

BATCH = 16  # samples of a run where the model leaves the number open
Shape = tuple[int | str, ...]


@dataclass(frozen=True)
class Samples:
    """What a model is run on, and what it should say: the labels of each batch."""

    batches: list[dict[str, Array]]
    labels: list[Array] | None = None

    def first(self, count: int) -> Samples:
        return Samples(self.batches[:count], self.labels[:count] if self.labels else None)


@dataclass(frozen=True)
class Input:
    """An input of a model: its element type, and its shape with names or "" for open extents; None: no shape."""

    dtype: np.dtype[Any]
    shape: Shape | None


def inputs_of(proto: ModelProto) -> dict[str, Input]:
    """The inputs that no initializer gives a value."""
    known = {tensor.name for tensor in proto.graph.initializer}
    return {info.name: _input(info) for info in proto.graph.input if info.name not in known}


def _input(info: ValueInfoProto) -> Input:
    type_ = info.type.tensor_type
    if not info.type.HasField("tensor_type"):
        raise InputError(f"Input '{info.name}' is no tensor, so it cannot be read from a file of arrays")
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(type_.elem_type))
    if not type_.HasField("shape"):
        return Input(dtype, None)
    return Input(dtype, tuple(d.dim_value if d.HasField("dim_value") else d.dim_param for d in type_.shape.dim))


def samples_of(proto: ModelProto, data: Any, labels: str = "labels", batch: int = 0) -> Samples:
    """Batches from a file, a dictionary of arrays, or a sequence of either.

    An array of the model's rank has samples along its first axis, where that is open or a multiple of the model's; an
    array with one axis more has one input after the other.

    Raises:
        InputError: names, element types or shapes are not those of the model; no samples; NaN or infinities.
    """
    inputs, found, given_labels = inputs_of(proto), list[dict[str, Array]](), list[Array]()
    for each in [data] if isinstance(data, str | Path | Mapping) else _listed(data):
        arrays = _arrays(each, inputs)
        given = arrays.pop(labels, None) if labels not in inputs else None
        _check_names(arrays, inputs)
        batches = _batches({name: arrays[name] for name in inputs}, inputs, batch)
        found += batches
        if given is not None:
            given_labels += _divided_labels(given, batches, inputs)
    if not found:
        raise InputError("The calibration data has no samples", hint="Give at least one sample of each input")
    if given_labels and len(given_labels) != len(found):
        raise InputError("Some of the files have labels, and others have none", hint="Give labels in all, or in none")
    return Samples(found, given_labels or None)


def _listed(data: Any) -> list[Any]:
    if not isinstance(data, Iterable) or isinstance(data, np.ndarray):
        return [data]
    return list(data)


def _arrays(data: Any, inputs: Mapping[str, Input]) -> dict[str, Array]:
    """The arrays of a file or a dictionary by name; a single one is that of the model's only input."""
    found = read_arrays(Path(data)) if isinstance(data, str | Path) else data
    if isinstance(found, Mapping):
        return {str(name): np.asarray(array) for name, array in found.items()}
    if len(inputs) != 1:
        hint = f"Give an .npz file with {', '.join(inputs)}"
        raise InputError(f"The data is one array, and the model has {len(inputs)} inputs", hint=hint)
    return {next(iter(inputs)): np.asarray(found)}


def _check_names(arrays: Mapping[str, Array], inputs: Mapping[str, Input]) -> None:
    for name in arrays.keys() - inputs.keys():
        near = nearest(name, inputs)
        hint = f"{f'Did you mean {near!r}? ' if near else ''}Inputs: {', '.join(inputs)}"
        raise InputError(f"'{name}' in the calibration data names no input of the model", hint=hint)
    missing = [name for name in inputs if name not in arrays]
    if missing:
        hint = f"Give an array of each input: {', '.join(inputs)}"
        raise InputError(f"The calibration data has no array of input {', '.join(missing)}", hint=hint)
    for name, array in arrays.items():
        _check_values(name, array, inputs[name])


def _check_values(name: str, array: Array, wanted: Input) -> None:
    if array.dtype != wanted.dtype and not _converts(array.dtype, wanted.dtype):
        message = f"The calibration data of input '{name}' is {array.dtype}, and the model takes {wanted.dtype}"
        raise InputError(message, hint="Convert the array")
    if np.issubdtype(array.dtype, np.floating) and not np.isfinite(array).all():
        first = int(np.argwhere(~np.isfinite(array))[0][0]) if array.ndim else 0
        message = f"The calibration data of input '{name}' has NaN or infinities, the first in sample {first}"
        raise InputError(message, hint="Remove these samples: no range follows from them")


def _converts(given: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Whether both are floats, or both integers."""
    return any(np.issubdtype(given, kind) and np.issubdtype(wanted, kind) for kind in (np.floating, np.integer))


def _batches(arrays: Mapping[str, Array], inputs: Mapping[str, Input], batch: int) -> list[dict[str, Array]]:
    """The arrays cut along their samples; what every sample shares is repeated."""
    if not arrays:
        return [{}]
    parts = {name: _parts(name, array, inputs, batch) for name, array in arrays.items()}
    counts = {len(each) for each in parts.values()}
    count = max(counts) if 0 not in counts else 0
    for name, each in parts.items():
        if len(each) not in (1, count):
            message = f"Input '{name}' has data for {len(each)} runs of the model, and another input for {count}"
            raise InputError(message, hint="Give as many samples of each input")
    return [
        {name: each[n if len(each) > 1 else 0].astype(inputs[name].dtype) for name, each in parts.items()}
        for n in range(count)
    ]


def _parts(name: str, array: Array, inputs: Mapping[str, Input], batch: int) -> Sequence[Array]:
    """The array of an input for each run."""
    shape = inputs[name].shape
    if shape is None:
        return [array] if array.size else []
    if array.ndim == len(shape) + 1:
        _check_shape(name, array.shape[1:], shape)
        return list(array)
    if array.ndim != len(shape):
        what = f"The calibration data of input '{name}' has the shape {array.shape}"
        raise InputError(f"{what}, and the model takes {_text(shape)}", hint="Give samples along the first axis")
    if not shape or not is_batched(shape[0], inputs):
        _check_shape(name, array.shape, shape)
        return [array]
    size = shape[0] or batch or BATCH if isinstance(shape[0], int) else batch or BATCH
    _check_shape(name, (size, *array.shape[1:]), shape)
    if isinstance(shape[0], int) and len(array) % size:
        what = f"The calibration data of input '{name}' has {len(array)} samples"
        raise InputError(f"{what}, and the model takes {size} at a time", hint=f"Give a multiple of {size} samples")
    return [array[n : n + size] for n in range(0, len(array), size)]


def is_batched(first: int | str, inputs: Mapping[str, Input]) -> bool:
    """Whether the first extent of an input counts samples: fixed, or open and of no other axis."""
    others = [dim for each in inputs.values() for dim in (each.shape or ())[1:]]
    return isinstance(first, int) or not first or first not in others


def _check_shape(name: str, given: Sequence[int], wanted: Shape) -> None:
    if any(isinstance(w, int) and w != g for g, w in zip(given, wanted, strict=True)):
        what = f"The calibration data of input '{name}' has samples of {tuple(given)}"
        hint = "Give arrays of the model's shape, with samples along the first axis"
        raise InputError(f"{what}, and the model takes {_text(wanted)}", hint=hint)


def _text(shape: Shape) -> str:
    return f"({', '.join(str(dim) or '?' for dim in shape)})"


def _divided_labels(labels: Array, batches: Sequence[Mapping[str, Array]], inputs: Mapping[str, Input]) -> list[Array]:
    """The labels of each batch: one for each sample, or an array for each run."""
    if len(labels) == len(batches):
        return [np.asarray(each) for each in labels]
    sizes = [max((len(a) for n, a in each.items() if a.ndim and _counts(n, inputs)), default=1) for each in batches]
    if len(labels) != sum(sizes):
        message = f"There are {len(labels)} labels for {sum(sizes)} samples"
        raise InputError(message, hint="Give one label for each sample")
    return np.split(labels, np.cumsum(sizes)[:-1])


def _counts(name: str, inputs: Mapping[str, Input]) -> bool:
    shape = inputs[name].shape
    return shape is not None and len(shape) > 0 and is_batched(shape[0], inputs)
