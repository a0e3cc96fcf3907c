"""Simulation: a function on any number of ranks in this process, in the reference interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlc.dialects.comm.world import simulated
from mlc.dialects.semantics.prepared import interpreted
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array
from mlc.frontends.array.collectives.functions import traced_for
from mlc.runtime import TensorSpec
from mlc.tracing.jit import elements, jit


def simulate(f: Callable[..., Any], ranks: int, limit: float = 60.0) -> Callable[..., Any]:
    """``f`` on ``ranks`` ranks at once: ``simulate(f, 64)(x)`` gives ``f`` of rank n the array ``x[n]``.

    Each array among arguments and results has the ranks as its first axis. What is simulated, in NumPy, is the program
    that ``mlc.jit`` compiles. ``limit``: seconds that a rank waits for the others.

    Raises:
        InputError: when called: an array without that axis.
        RunError: the ranks come to different collectives.
    """

    def run(*args: Any) -> Any:
        leaves, tree = trees.flatten(args)
        values = [elements(x) for x in leaves]
        for x in values:
            if not x.ndim or len(x) != ranks:
                raise InputError(
                    f"simulate: an array of shape {x.shape} is not one for each rank",
                    hint=f"Give one for each of {ranks} ranks",
                )
        specs = trees.unflatten(tree, [TensorSpec(x.dtype, x.shape[1:]) for x in values])
        with traced_for(ranks):
            traced = jit(f).lower(*specs)
            imported = traced.imported()
        results: list[Any] = [None] * ranks

        def one(rank: int) -> None:
            program = interpreted(imported.module, imported.weights)
            results[rank] = list(program([x[rank] for x in values]))

        simulated(ranks, one, limit)
        stacked = [Array.of(np.stack(each)) for each in zip(*results, strict=True)]
        return trees.unflatten(traced.tree, stacked)

    return run
