"""What a loss gives: a float, or a pair of it and further values by name, such as the parts that it is the sum of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.derivatives.gradients import as_loss

Loss = Callable[..., Any]
MORE = 'give other values by their names, (loss, {"kl": kl})'
TAKEN = ("loss", "gradient_norm")


def loss_and_more(found: Any) -> tuple[Array, dict[str, Array]]:
    """The loss in float32 or float64, and the values beside it, floats of rank 0.

    Raises:
        InputError: the loss is no float of rank 0; a value beside it is no number, or has a name that is taken.
    """
    pair = isinstance(found, tuple | list) and len(found) == 2 and isinstance(found[1], Mapping)
    value, more = found if pair else (found, {})
    value = as_loss(value if isinstance(value, tuple | list | dict) else as_array(value), MORE)
    return _wide(value), {name: _value(name, x) for name, x in more.items()}


def _value(name: str, x: Any) -> Array:
    if not isinstance(name, str) or name in TAKEN:
        raise InputError(f"The loss gives a value the name {name!r}", hint=f"Give a text other than {', '.join(TAKEN)}")
    given = as_array(x)
    if given.shape != ():
        what = f"The loss gives '{name}' as an array of the shape {list(given.shape)}"
        raise InputError(what, hint="Give a number, such as a mean")
    return _wide(given if dtypes.kind(given.element) == 2 else mnp.astype(given, mnp.float32))


def _wide(x: Array) -> Array:
    return mnp.astype(x, mnp.float32) if x.element in ("f16", "bf16") else x
