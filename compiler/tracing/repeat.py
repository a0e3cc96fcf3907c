"""A call like the one before: the same program on arrays of the same layouts, without a look at their types.

The runtime compares layouts (``runtime/_call.c``); here each argument only becomes its elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlc.dialects.types import numpy_dtype
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array
from mlc.tracing.traced import Traced

Repeat = Callable[[tuple[Any, ...]], Any]
SCALARS = {kind: numpy_dtype(dtypes.element(kind)) for kind in (bool, int, float)}


def never(args: tuple[Any, ...]) -> Any:
    """Return None: no call has been compiled yet."""


def repeated(traced: Traced, tree: trees.Tree, spread: bool = False) -> Repeat:
    """A function of the arguments: the results of ``traced``, or None where it is not known to be for them. ``spread``:
    the last subtree of ``tree`` is a tuple of further arguments, of a parameter ``*xs``."""
    run, results = traced.model.repeat, traced.results
    children = tree.children()
    named = len(children) - spread
    count = named + len(children[-1].children()) if spread and children else named
    is_flat = tree.num_leaves == count
    is_one = trees.is_leaf(traced.tree)
    flatten, of = trees.flatten, Array.of

    def again(args: tuple[Any, ...]) -> Any:
        if not is_flat:
            leaves, found = flatten((*args[:named], args[named:]) if spread else args)
            if found != tree:
                return None
        values = []
        for x in args if is_flat else leaves:  # in every call: functions would cost more than what they do
            kind = x.__class__
            if kind is Array:
                if x.value is None or x.is_varied():
                    return None
                x = x.value
            elif kind in SCALARS:
                x = np.array(x, SCALARS[kind])
            values.append(x)
        made: Any = run(*values)
        if made is None:
            return None
        return of(made) if is_one else results(made)

    return again
