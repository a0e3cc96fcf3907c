"""What attributions explain: the score of a class of each example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.derivatives.gradients import grad

Network = Callable[[Any], Any]


def scores(y: Any, target: Any) -> Array:
    """[n]: the score of each example from results [n, classes] by the indices ``target`` [n], or one for all; results
    [n] as they are.

    Raises:
        InputError: results of another rank, or no target for results of several classes.
    """
    found = as_array(y)
    if found.ndim == 1:
        return found
    if found.ndim != 2 or target is None:
        what = f"Results of shape {list(found.shape)} with target {target} are no score of each example"
        raise InputError(what, hint="Let the function return [n, classes], and give target, an index or [n] indices")
    at = mnp.broadcast_to(as_array(target), (found.shape[0],)).astype(mnp.int64)
    return mnp.take_along_axis(found, at[:, None], axis=1)[:, 0]


def chosen(f: Network, x: Any, target: Any) -> Any:
    """``target``, or by default the class of the largest score of each example."""
    if target is not None:
        return target
    y = as_array(f(x))
    return None if y.ndim == 1 else mnp.argmax(y, axis=1)


def slope(f: Network, x: Any, target: Any) -> Array:
    """The gradient of each example's score by the example: examples do not depend on each other."""
    found: Array = grad(lambda x: mnp.sum(scores(f(x), target)))(x)
    return found
