"""Compiles graph modules to libraries and compares them with the reference interpreter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from graph_checks import GraphBuilder
from xdsl.dialects.builtin import ModuleOp

import mlc
from mlc import artifact, target
from mlc.cache import Cache
from mlc.dialects.interpreter import interpret
from mlc.options import Options
from mlc.pipeline import lower
from mlc.toolchain import find

Array = np.ndarray[Any, Any]
TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-13}  # of the largest value


CANCELLED = 0.1  # a result below may be the difference of operands round 1, and has their error


def build(builder: GraphBuilder, module: ModuleOp, folder: Path, cache: Path, **options: Any) -> mlc.Model:
    """Lower and compile a module, and load it; objects of the runtime come from ``cache``."""
    chosen = Options(**options)
    lowered = lower(module, builder.weights, chosen)
    made = artifact.write(lowered, folder, chosen, find(None, chosen.target), Cache(cache))
    return mlc.load(made.library, 2)


def references(builder: GraphBuilder, module: ModuleOp, sizes: Sequence[Mapping[str, int]]) -> list[Any]:
    """(inputs, outputs of the interpreter) at each size of the symbolic dimensions; before the module is lowered."""
    feeds = [builder.inputs(size) for size in sizes]
    return [(feed, interpret(module, builder.weights, feed)) for feed in feeds]


def compare(model: mlc.Model, expected: Sequence[Any], about: str) -> None:
    """The library gives what the interpreter gave, within the tolerance of the type; integers exactly."""
    for feed, wanted in expected:
        actual = model.run(feed)
        for name, value in wanted.items():
            where = f"{name} of {about} for { ({k: v.shape for k, v in feed.items()}) }"
            assert actual[name].dtype == value.dtype and actual[name].shape == value.shape, where
            tolerance = TOLERANCE.get(value.dtype.name, 0)
            if tolerance and value.size:
                scale = float(np.abs(value[np.isfinite(value)]).max(initial=CANCELLED))
                np.testing.assert_allclose(actual[name], value, rtol=0, atol=tolerance * scale, err_msg=where)
            else:
                np.testing.assert_array_equal(actual[name], value, err_msg=where)


def usable(name: str) -> bool:
    """Whether this machine can run code of a target."""
    return set(target.get(name).isa) <= set(target.get("cpu").isa)
