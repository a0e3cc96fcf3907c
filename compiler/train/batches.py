"""A batch as the arguments of a loss: tuples, dictionaries and named tuples, of torch's loaders too."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array import trees

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def arguments_of(loss: Callable[..., Any], batch: Any) -> tuple[Any, ...]:
    """What ``loss`` takes after the model. A tuple or list is its arguments, a dictionary their names and values; of a
    loss of one argument a dictionary, named tuple or longer tuple is that one.

    Strings, and what else is no array, are left out: None is in their place.

    Raises:
        InputError: a dictionary does not have a name that the loss takes.
    """
    given = {name: _numbers(x) for name, x in batch.items()} if isinstance(batch, Mapping) else batch
    names = _parameters(loss)
    if names is not None and isinstance(given, dict) and len(names) != 1:
        given = _named(names, given)
    elif isinstance(given, dict) or not isinstance(given, tuple | list) or _is_one(names, given):
        given = (given,)
    return tuple(trees.tree_map(_array, tuple(given)))


def inputs_of(loss: Callable[..., Any], predict: Callable[..., Any] | None, batch: Any) -> tuple[Any, ...]:
    """What ``predict`` takes after the model, or the model itself where it is None, of a batch that may lack targets:
    its first elements, or those of a dictionary by name. The model takes one, the first that the loss takes.

    Raises:
        InputError: a dictionary does not have a name that is taken.
    """
    names = [*(_parameters(loss) or [])[:1]] if predict is None else _parameters(predict)
    if isinstance(batch, Mapping):
        given = {name: _numbers(x) for name, x in batch.items()}
        is_whole = predict is None and len(_parameters(loss) or []) < 2 or names is None
        found: tuple[Any, ...] = (given,) if is_whole else _named(names or [], given)
    elif isinstance(batch, tuple | list):
        found = tuple(batch[:1] if predict is None else batch if names is None else batch[: len(names)])
    else:
        found = (batch,)
    return tuple(trees.tree_map(_array, found))


def _parameters(loss: Callable[..., Any]) -> list[str] | None:
    """The arguments that the loss needs after the model; None where any number may be given."""
    try:
        found = list(inspect.signature(loss).parameters.values())
    except (TypeError, ValueError):
        return None
    if any(each.kind == inspect.Parameter.VAR_POSITIONAL for each in found):
        return None
    return [each.name for each in found if each.kind in POSITIONAL and each.default is each.empty][1:]


def _is_one(names: list[str] | None, batch: Sequence[Any]) -> bool:
    """Whether a loss of one argument takes the sequence whole."""
    return names is not None and len(names) == 1 and (len(batch) != 1 or hasattr(batch, "_fields"))


def _named(names: list[str], batch: Mapping[str, Any]) -> tuple[Any, ...]:
    if missing := [name for name in names if name not in batch]:
        what = f"The loss takes '{missing[0]}', and the batch has {', '.join(map(repr, batch)) or 'nothing'}"
        raise InputError(what, hint="Name the loss's arguments as the batch does, or take the batch as one argument")
    return tuple(batch[name] for name in names)


def _numbers(x: Any) -> Any:
    """A column of Python's numbers, as Hugging Face's data sets give it, as one array; anything else as it is."""
    first = x
    while isinstance(first, list) and first:
        first = first[0]
    return np.asarray(x) if isinstance(x, list) and isinstance(first, bool | int | float) else x


def _array(x: Any) -> Any:
    """A leaf that a compiled step can take, else None; of a tensor its elements."""
    if hasattr(x, "detach"):
        return x.detach()
    is_text = isinstance(x, str | bytes) or isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "OUS"
    return None if is_text else x
