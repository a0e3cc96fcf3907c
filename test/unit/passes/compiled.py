"""Compiles graph modules to libraries and compares them with the reference interpreter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from graph_checks import GraphBuilder
from xdsl.dialects.builtin import ModuleOp

import mlc
from mlc import target
from mlc.dialects.semantics.interpreter import interpret
from mlc.driver.artifact.write_artifact import write
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.lower import lower
from mlc.driver.toolchain.c_compiler import find
from mlc.options import Options

Array = np.ndarray[Any, Any]
TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-13}  # of the largest value
NUDGE = 1e-5  # of inputs, to see how much a result depends on their last bits


def build(builder: GraphBuilder, module: ModuleOp, folder: Path, cache: Path, **options: Any) -> mlc.Model:
    """Lower and compile a module, and load it; objects of the runtime come from ``cache``."""
    chosen = Options(**options)
    lowered = lower(module, builder.weights, chosen)
    made = write(lowered, folder, chosen, find(None, chosen.target), Cache(cache))
    return mlc.load(made.library, 2)


def references(builder: GraphBuilder, module: ModuleOp, sizes: Sequence[Mapping[str, int]]) -> list[Any]:
    """(inputs, outputs of the interpreter, their sensitivity) at each size of symbolic dimensions; before the module
    is lowered."""
    found = []
    for feed in [builder.inputs(size) for size in sizes]:
        outputs, other = (interpret(module, builder.weights, f) for f in (feed, _nudged(builder, feed)))
        found.append((feed, outputs, {name: _largest(other[name], value) / NUDGE for name, value in outputs.items()}))
    return found


def _nudged(builder: GraphBuilder, feed: Mapping[str, Array]) -> dict[str, Array]:
    noise = {name: 1 + NUDGE * builder.random.standard_normal(value.shape) for name, value in feed.items()}
    return {k: (v * noise[k]).astype(v.dtype) if v.dtype in (np.float32, np.float64) else v for k, v in feed.items()}


def _largest(value: Array, other: Any = 0.0) -> float:
    """The largest finite difference."""
    with np.errstate(all="ignore"):
        difference = np.abs(np.subtract(value, other, dtype=np.float64))
    return float(difference[np.isfinite(difference)].max(initial=1e-30))


def compare(model: mlc.Model, expected: Sequence[Any], about: str) -> None:
    """The library gives what the interpreter gave; integers exactly, floats within the tolerance of the type. That is
    relative to the largest value, or to what a result is the small difference of."""
    for feed, wanted, sensitivity in expected:
        actual = model.run(feed)
        for name, value in wanted.items():
            where = f"{name} of {about} for { ({k: v.shape for k, v in feed.items()}) }"
            assert actual[name].dtype == value.dtype and actual[name].shape == value.shape, where
            tolerance = TOLERANCE.get(value.dtype.name, 0)
            if tolerance and value.size:
                scale = max(_largest(value), sensitivity[name])
                np.testing.assert_allclose(actual[name], value, rtol=0, atol=tolerance * scale, err_msg=where)
            else:
                np.testing.assert_array_equal(actual[name], value, err_msg=where)


def usable(name: str) -> bool:
    """Whether this machine can run code of a target."""
    return set(target.get(name).features) <= set(target.get("cpu").features)
