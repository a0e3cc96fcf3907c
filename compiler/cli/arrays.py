"""Arrays on the command line: read from files, made at random, checked against the dimensions given, and written."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlc.errors import InputError
from mlc.expressions import shown_names

if TYPE_CHECKING:
    import numpy as np

    from mlc.runtime import Model

    Array = np.ndarray[Any, Any]


def gather_inputs(model: Model, pairs: list[str], seed: int | None, dims: dict[str, int]) -> dict[str, Array]:
    """Arrays from ``NAME=file.npy`` and ``file.npz`` options and, with a seed, random ones for the rest.

    InputError where a name, a file or a dimension is wrong, or where sizes given twice disagree.
    """
    sizes = known_dims(model, dims)
    arrays = given_arrays(model, pairs)
    for name, array in arrays.items():
        sizes = _agreeing(model, name, array, sizes)
    if seed is not None:
        from mlc.tools.random_inputs import random_inputs

        arrays |= {k: v for k, v in random_inputs(model, seed, sizes).items() if k not in arrays}
    missing = [name for name in model.inputs if name not in arrays]
    if missing:
        raise InputError(
            f"There is no value for input {', '.join(missing)}", hint="Give -i NAME=FILE.npy, or --random SEED"
        )
    return arrays


def known_dims(model: Model, dims: Mapping[str, int]) -> dict[str, int]:
    """Sizes by the model's names of its symbolic dimensions; InputError for one that it does not have."""
    names = {shown_names(dim): dim for dim in model.dims} | {dim: dim for dim in model.dims}
    for name, spec in model.inputs.items():  # x:2 is axis 2 of x
        names |= {f"{name}:{axis}": str(dim) for axis, dim in enumerate(spec.shape) if dim in model.dims}
    for name in dims.keys() - names.keys():
        near = get_close_matches(name, names, 1)
        listed = shown_names(", ".join(model.dims))
        has = f"Its symbolic dimensions: {listed}" if model.dims else "It has no symbolic dimensions"
        hint = f"Did you mean '{near[0]}'? {has}" if near else has
        raise InputError(f"Model '{model.name}' has no symbolic dimension '{name}'", hint=hint)
    return {names[name]: size for name, size in dims.items()}


def _agreeing(model: Model, name: str, array: Array, sizes: dict[str, int]) -> dict[str, int]:
    """``sizes`` together with the sizes that an input's shape gives. Raises InputError where they disagree."""
    found = dict(sizes)
    for dim, size in zip(model.inputs[name].shape, array.shape, strict=False):  # a wrong rank is the run's error
        if dim in model.dims and found.setdefault(str(dim), size) != size:
            what = f"Dimension '{shown_names(str(dim))}'"
            both = f"{what} is {found[str(dim)]}, but {size} in the array of input '{name}'"
            raise InputError(both, hint="Leave out --dim, or give an array of that size")
    return found


def given_arrays(model: Model, pairs: list[str]) -> dict[str, Array]:
    """The arrays of all ``-i`` options; InputError where a name is unknown or given twice."""
    arrays: dict[str, Array] = {}
    for pair in pairs:
        for name, array in _read_option(model, pair).items():
            if name in arrays:
                raise InputError(f"Input '{name}' is given twice", hint="Give each input once")
            arrays[name] = array
    return arrays


def _read_option(model: Model, pair: str) -> dict[str, Array]:
    """The arrays of one option: ``NAME=FILE.npy``, ``FILE.npy`` for a model of one input, or ``FILE.npz``."""
    name, _, file = pair.rpartition("=")
    if not name and file.endswith(".npz"):
        arrays = read_archive(Path(file))
        for found in arrays:
            _check_name(model, found, f"-i {pair}: '{found}'")
        return arrays
    name = name or next(iter(model.inputs), "")
    _check_name(model, name, f"'-i {pair}'")
    if len(model.inputs) > 1 and "=" not in pair:
        hint = f"Write -i NAME=FILE.npy; inputs: {', '.join(model.inputs)}"
        raise InputError(f"'-i {pair}' names no input", hint=hint)
    return {name: read_array(Path(file))}


def _check_name(model: Model, name: str, what: str) -> None:
    if name not in model.inputs:
        near = get_close_matches(name, model.inputs, 1)
        hint = f"Did you mean '{near[0]}'? " if near else ""
        raise InputError(f"{what} names no input", hint=f"{hint}Inputs: {', '.join(model.inputs) or 'none'}")


def read_array(path: Path) -> Array:
    """An array from a .npy file; object arrays (pickles) are refused."""
    from mlc.frontends.array.further.files import read_arrays

    array = read_arrays(path)
    if isinstance(array, dict):
        raise InputError(f"{path} holds several arrays", hint="Give it without a name, -i FILE.npz, or a .npy file")
    return array


def read_archive(path: Path) -> dict[str, Array]:
    """The arrays of an .npz file by name."""
    from mlc.frontends.array.further.files import read_arrays

    arrays = read_arrays(path)
    return arrays if isinstance(arrays, dict) else {"": arrays}


def check_form(path: Path, count: int) -> None:
    """InputError unless ``count`` arrays can be written as this kind of file: .npz, or .npy for one."""
    forms = (".npz", ".npy") if count == 1 else (".npz",)
    if path.suffix not in forms:
        hint = f"Give a file that ends in {' or '.join(forms)}"
        raise InputError(f"Outputs cannot be written as '{path}'", hint=hint)


def write_arrays(path: Path, arrays: dict[str, Array]) -> None:
    """Write an .npz file, or one array as .npy; whole or not at all."""
    from mlc.driver.artifact.output_files import write_bytes

    check_form(path, len(arrays))
    buffer = io.BytesIO()
    if path.suffix == ".npy":
        _write(buffer, *arrays.values())
    else:
        with zipfile.ZipFile(buffer, "w") as archive:  # ``np.savez`` has no room for an array named ``file``
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    _write(member, array)
    write_bytes(path, buffer.getvalue())


def _write(stream: Any, array: Array) -> None:
    from numpy.lib import format

    plain = array.astype(str) if array.dtype == object else array  # strings; objects would be a pickle
    format.write_array(stream, plain, allow_pickle=False)
