"""Random inputs for a model."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.expressions import shown_names
from mlc.runtime import Model, TensorSpec
from mlc.runtime.exprs import evaluate
from mlc.runtime.signature import sizes_that_fit

DRAWN_BYTES = 8  # of an element, before it is cast to the input's type


def random_inputs(model: Model, seed: int, dims: dict[str, int]) -> dict[str, np.ndarray[Any, Any]]:
    """Normal floats, 0 or 1 for integers (valid as indices and masks), digits as strings.

    Open dimensions not in ``dims`` are 1, or the next size that the model's guards allow. InputError where this machine
    has no memory for an input.
    """
    random = np.random.default_rng(seed)
    sizes = sizes_that_fit(model.signature.get("guards", ()), dict.fromkeys(model.signature["dims"], 1) | dims, dims)
    return {name: _drawn(random, name, spec, sizes) for name, spec in model.inputs.items()}


def _drawn(random: np.random.Generator, name: str, spec: TensorSpec, sizes: dict[str, int]) -> np.ndarray[Any, Any]:
    shape = tuple(evaluate(size, sizes) for size in spec.shape)
    needed = math.prod(shape) * max(DRAWN_BYTES, spec.dtype.itemsize)
    if needed > memory_of_machine():
        raise _too_large(name, spec, shape, needed)
    try:
        if np.issubdtype(spec.dtype, np.integer) or spec.dtype == bool:
            return random.integers(0, 2, shape).astype(spec.dtype)
        if spec.dtype == object:
            return random.integers(0, 10, shape).astype(str)
        return random.standard_normal(shape).astype(spec.dtype)
    except MemoryError:
        raise _too_large(name, spec, shape, needed) from None


def memory_of_machine() -> int:
    """Bytes of physical memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _too_large(name: str, spec: TensorSpec, shape: tuple[int, ...], needed: int) -> InputError:
    opened = [shown_names(str(size)) for size in spec.shape if not isinstance(size, int)]
    has = f"this machine has {memory_of_machine() / 1e9:,.1f} GB of memory"
    message = f"Random values for input '{name}' of the shape {shape} need {needed / 1e9:,.1f} GB, and {has}"
    hint = f"Give a smaller {' or '.join(opened)} by --dim" if opened else "Compile the model for smaller inputs"
    return InputError(message, hint=hint)
