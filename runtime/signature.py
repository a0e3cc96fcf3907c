"""The names, dtypes and shapes of a model's tensors, and the values of its symbolic dimensions."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.errors import ArtifactError, InputError, RunError
from mlc.expressions import shown_names
from mlc.runtime import exprs

LARGEST_DIMENSION = 1 << 48  # far beyond any address space; keeps the artifact's 64-bit arithmetic from overflowing
_SEARCHED = 1024  # sizes smaller and larger than the given one, among which an error names those that fit
_ROUNDS = 32  # dimensions that are raised, one after another, for sizes that fit

STRINGS = np.dtype(object)
"""The dtype of strings in Python; in C each string is a pointer."""
POINTERS = np.dtype(np.uintp)

Shape = tuple[int, ...]


@dataclass(frozen=True)
class TensorSpec:
    """An input or output: its ``dtype`` (object for strings), and its ``shape`` of integers, dimension names and
    expressions of these.

    An output has the axes ``optional`` only if their extents are not 1: Squeeze and conditions on sizes drop them.
    """

    dtype: np.dtype[Any]
    shape: tuple[int | str, ...]
    optional: tuple[int, ...] = ()

    def __str__(self) -> str:
        return shown_names(f"{self.dtype}[{sizes_text(self.shape, self.optional)}]")

    def of(self, values: Mapping[str, int]) -> tuple[int, ...]:
        """Returns the shape for these values of the dimensions."""
        sizes = enumerate(exprs.evaluate(size, values) for size in self.shape)
        return tuple(size for n, size in sizes if size != 1 or n not in self.optional)


def sizes_text(shape: Sequence[int | str], optional: Sequence[int] = ()) -> str:
    """Returns the sizes of a shape, separated by commas; ``n?`` is a size whose axis a tensor has only if it is not
    1."""
    return ", ".join(f"{size}?" if n in optional else str(size) for n, size in enumerate(shape))


def dtype_of(name: str) -> np.dtype[Any]:
    """Returns the dtype of a NumPy name, or of a name that the package ml_dtypes defines (bfloat16, int4, ...).

    Raises ArtifactError if the name is neither, or ml_dtypes is needed and not installed.
    """
    if name == "str":
        return STRINGS
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        return np.dtype(getattr(importlib.import_module("ml_dtypes"), name))
    except ImportError:
        raise ArtifactError(f"The model uses the dtype {name}", hint="Install the package ml_dtypes") from None
    except (AttributeError, TypeError):
        raise ArtifactError(f"The model uses the unknown dtype {name!r}") from None


def read_specs(entries: Sequence[Mapping[str, Any]]) -> dict[str, TensorSpec]:
    """Returns the ``inputs`` or ``outputs`` of a signature."""
    return {
        entry["name"]: TensorSpec(dtype_of(entry["dtype"]), tuple(entry["shape"]), tuple(entry.get("optional", ())))
        for entry in entries
    }


def read_aliases(signature: Mapping[str, Any]) -> dict[str, str]:
    """Returns the input whose memory an output may overwrite, for each output that has one."""
    inputs = signature["inputs"]
    return {each["name"]: inputs[each["alias"]]["name"] for each in signature["outputs"] if "alias" in each}


def check_solvable(inputs: Mapping[str, TensorSpec], dims: Sequence[str]) -> None:
    """Raises ArtifactError if no input has one of the dimensions, so that its value is unknown."""
    for dim in dims:
        if not any(dim in spec.shape for spec in inputs.values()):
            raise ArtifactError(f"The dimension '{dim}' is not a dimension of any input of the model")


def solve_dims(
    inputs: Mapping[str, TensorSpec], shapes: Sequence[tuple[int, ...]], dims: Sequence[str]
) -> dict[str, int]:
    """Returns the value of each dimension, in the order of ``dims``, from the shapes of the arrays.

    Raises RunError if a shape does not fit the signature; it names the input, the expected and the given shape.
    """
    values: dict[str, int] = {}
    for (name, spec), shape in zip(inputs.items(), shapes, strict=True):
        if len(shape) != len(spec.shape):
            raise RunError(f"Input '{name}' must be {spec}, {len(spec.shape)}-dimensional, but has the shape {shape}")
        for expected, size in zip(spec.shape, shape, strict=True):
            if isinstance(expected, str) and expected in dims:
                values.setdefault(expected, size)
    for name, shape in zip(inputs, shapes, strict=True):
        _check_shape(inputs, name, shape, values)
    return {dim: values[dim] for dim in dims}


class SizeError(RunError):
    """An error: the model was not compiled for these sizes of inputs."""


class GuardError(SizeError):
    """An error: the model was not compiled for this size of a symbolic dimension."""


def check_guards(guards: Sequence[Mapping[str, str]], dims: Mapping[str, int]) -> None:
    """Raises GuardError if an expression of ``guards`` is negative: the model was compiled under these conditions."""
    for guard in guards:
        if exprs.evaluate(guard["expr"], dims) < 0:
            names = sorted(exprs.names(guard["expr"]))
            used = ", ".join(f"{shown_names(dim)} is {dims[dim]}" for dim in names)
            condition = guard.get("message", f"{guard['expr']} >= 0")
            where = f"; {guard['node']} needs that" if "node" in guard else ""
            what = f"The model accepts only {condition}, but {used}{where}"
            raise GuardError(what, hint=_way_out(guards, dims, names, "== 1 or " in condition))


def sizes_that_fit(
    guards: Sequence[Mapping[str, str]], dims: Mapping[str, int], given: Collection[str] = ()
) -> dict[str, int]:
    """Returns sizes that all guards allow: those of ``dims``, or larger ones but for the ``given`` dimensions. Where it
    finds none, those of ``dims``."""
    sizes = dict(dims)
    for _ in range(_ROUNDS):
        broken = next((guard["expr"] for guard in guards if not _holds(guard["expr"], sizes)), None)
        if broken is None:
            return sizes
        free = [name for name in sorted(exprs.names(broken)) if name not in given]
        raised = ({**sizes, name: s} for s in range(1, _SEARCHED) for name in free if s > sizes[name])
        sizes = next((each for each in raised if _holds(broken, each)), {})
        if not sizes:
            break
    return dict(dims)


def _way_out(
    guards: Sequence[Mapping[str, str]], dims: Mapping[str, int], names: Sequence[str], broadcasts: bool
) -> str:
    """Returns a hint: sizes near the given ones that the guards allow, with one dimension changed. ``broadcasts``: the
    guard is that an extent is 1 or another one, where both could be the 1."""
    fits = [f"{shown_names(name)}={size}" for name in names for size in _nearest(guards, dims, name)]
    if not fits:
        return "Give inputs of other shapes"
    alone = f". 'mlc compile --dim {fits[0]}' makes a model of that size alone" if len(names) == 1 else ""
    ones = [shown_names(name) for name in names if dims[name] == 1 and len(names) > 1]
    decided = f". 'mlc compile --dim {ones[0]}=1' makes a model that broadcasts it" if ones and broadcasts else ""
    return f"Sizes that fit: {' or '.join(fits)}{alone}{decided}"


def _holds(expr: str, dims: Mapping[str, int]) -> bool:
    try:
        return exprs.evaluate(expr, dims) >= 0
    except InputError:  # it divides by 0
        return False


def _nearest(guards: Sequence[Mapping[str, str]], dims: Mapping[str, int], name: str) -> list[int]:
    """Returns the next smaller and the next larger size of a dimension that the guards allow; other dimensions stay."""
    about = [guard["expr"] for guard in guards if name in exprs.names(guard["expr"])]
    size = dims[name]
    found = []
    for sizes in (range(size - 1, max(size - _SEARCHED, 0), -1), range(size + 1, size + _SEARCHED)):
        fits = (s for s in sizes if all(_holds(expr, {**dims, name: s}) for expr in about))
        found += [s for s in [next(fits, None)] if s is not None]
    return found


def _axis_of_its_own(inputs: Mapping[str, TensorSpec], name: str, expected: Shape, shape: Shape) -> str | None:
    """Returns a hint how to compile the model with different sizes for axes of one name; None if no name is the
    cause. Of two sizes of which one is 1 it fixes that one, which the other one does not decide."""
    for axis, (dim, wanted, given) in enumerate(zip(inputs[name].shape, expected, shape, strict=False)):
        if isinstance(dim, str) and wanted != given:
            one, other = f"'{shown_names(dim)}' is one size in all inputs", _first_axis(inputs, dim)
            if wanted == 1 and other != (name, axis) and other is not None:
                return f"{one}. 'mlc compile --dim {other[0]}:{other[1]}=1' makes that axis another dimension"
            return f"{one}. 'mlc compile --dim {name}:{axis}={given}' makes this axis another dimension"
    return None


def _first_axis(inputs: Mapping[str, TensorSpec], dim: str) -> tuple[str, int] | None:
    """Returns the input and its axis that say the size of a dimension."""
    return next(((name, spec.shape.index(dim)) for name, spec in inputs.items() if dim in spec.shape), None)


def _check_shape(inputs: Mapping[str, TensorSpec], name: str, shape: Shape, values: Mapping[str, int]) -> None:
    spec = inputs[name]
    expected = spec.of(values)
    if expected != shape:
        known = ", ".join(f"{shown_names(dim)}={value}" for dim, value in values.items())
        where = f", that is {expected} for {known}" if known else ""
        what = f"Input '{name}' must be {spec}{where}, but has the shape {shape}"
        raise SizeError(what, hint=_axis_of_its_own(inputs, name, expected, shape))
    if max(shape, default=0) > LARGEST_DIMENSION:
        raise RunError(f"Input '{name}' has the shape {shape}, too large for any memory")
