"""Random inputs for a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from mlc.runtime import Model
from mlc.runtime.exprs import evaluate


def random_inputs(model: Model, seed: int, dims: dict[str, int]) -> dict[str, np.ndarray[Any, Any]]:
    """Normal floats, 0 or 1 for integers (valid as indices and masks), digits as strings.

    Open dimensions not in ``dims`` are 1.
    """
    random = np.random.default_rng(seed)
    sizes = dict.fromkeys(model.signature["dims"], 1) | dims

    def draw(spec: Any) -> np.ndarray[Any, Any]:
        shape = tuple(evaluate(size, sizes) for size in spec.shape)
        if np.issubdtype(spec.dtype, np.integer) or spec.dtype == bool:
            return random.integers(0, 2, shape).astype(spec.dtype)
        if spec.dtype == object:
            return random.integers(0, 10, shape).astype(str)
        return random.standard_normal(shape).astype(spec.dtype)

    return {name: draw(spec) for name, spec in model.inputs.items()}
