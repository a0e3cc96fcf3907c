"""Plans of traced functions: the module of a function for a mesh, and the results that replace arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array
from mlc.planning.search import Search
from mlc.planning.settings import Auto
from mlc.runtime import TensorSpec

if TYPE_CHECKING:
    from mlc.comm.mesh import Mesh


def updates_of(types: Mapping[str, Any], results: Any, named: Sequence[str] = ()) -> dict[int, int]:
    """Return which result replaces which argument: a part of the results that is a tree of equal types as an argument,
    as new parameters are (``loss, parameters = step(parameters, batch)``).

    ``types``: the tree of types of each parameter; ``results``: the tree of the function's results. An array alone says
    too little, as it may only look like one: it counts for a parameter that is ``named``.

    Raises:
        InputError: no result has the type of a parameter that is named.
    """
    free = [(tree, at) for (name, tree), (_, at) in zip(types.items(), numbered(types), strict=True)
            if name in named or len(trees.leaves(tree)) > 1]  # fmt: skip
    found = _matched(free, results)
    missing = {name for (name, _), (_, at) in zip(types.items(), numbered(types), strict=True)
               if name in named and at not in found.values()} | (set(named) - set(types))  # fmt: skip
    if missing:
        raise InputError(f"No result has the type of {', '.join(sorted(missing))}",
                         hint="Name parameters whose new values the function returns")  # fmt: skip
    return found


def _matched(free: list[tuple[Any, int]], results: Any) -> dict[int, int]:
    alone = not isinstance(results, tuple | list) or any(_alike(results, tree) for tree, _ in free)
    parts = [results] if alone else list(results)
    found: dict[int, int] = {}
    first = 0
    for part in parts:
        count = len(trees.leaves(part))
        for n, (tree, at) in enumerate(free):
            if _alike(part, tree):
                found |= {first + k: at + k for k in range(count)}
                del free[n]
                break
        first += count
    return found


def _alike(a: Any, b: Any) -> bool:
    left, right = trees.leaves(a), trees.leaves(b)
    types = [(tuple(x.shape), str(x.dtype)) for x in left]
    return types == [(tuple(x.shape), str(x.dtype)) for x in right]


def numbered(types: Mapping[str, Any]) -> list[tuple[Any, int]]:
    """Return each parameter's tree with the number of its first array."""
    found, first = [], 0
    for tree in types.values():
        found.append((tree, first))
        first += len(trees.leaves(tree))
    return found


def searched(
    f: Callable[..., Any], mesh: Mesh, types: Mapping[str, Any], auto: Auto, fixed: Mapping[str, Any] | None = None
) -> Search:
    """Search a plan for a function of arrays of ``types``, whose results may replace some; ``fixed``: shardings."""
    from mlc.tracing.jit import jit

    how = replace(auto, fixed={**auto.fixed, **(fixed or {})})
    found: Search = jit(f, mesh=mesh, shardings=how, results="auto").search(**types)
    return found


def planned_step(f: Callable[..., Any], *types: Any) -> Any:
    """Return the types of what a function makes of arrays of ``types``, as a tree."""
    from mlc.tracing.jit import jit

    traced = jit(f).lower(*types)
    arrays = [Array(each) for each in traced.outputs]
    specs = [TensorSpec(np.dtype(x.dtype), tuple(x.shape)) for x in arrays]  # type: ignore[arg-type]
    return trees.unflatten(traced.tree, specs)
