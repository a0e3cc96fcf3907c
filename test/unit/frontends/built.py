"""Modules that the Builder makes without any model file, interpreted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.ir import Block

from mlc.dialects.semantics.interpreter import interpret
from mlc.dialects.types import element_of_dtype
from mlc.dialects.weights import WeightStore
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.module import argument, graph_module, returned
from mlc.frontends.build.tensors import Tensor

Array = np.ndarray[Any, Any]


def built(make: Callable[..., Any], inputs: Mapping[str, Array]) -> list[Array]:
    """The results of ``make(build, *tensors)``, a tensor or several, on these inputs."""
    weights = WeightStore()
    build = Builder(Block(), weights)
    tensors = [argument(build, name, element_of_dtype(a.dtype), a.shape) for name, a in inputs.items()]
    results = make(build, *tensors)
    results = [results] if isinstance(results, Tensor) else list(results)
    module = graph_module(build, list(inputs), {f"y{n}": returned(build, y) for n, y in enumerate(results)})
    found = interpret(module, weights, dict(inputs))
    return [found[f"y{n}"] for n in range(len(results))]
