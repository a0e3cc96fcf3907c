"""Methods as jitted functions: ``self`` is an argument of the program."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mlc.frontends.array import trees
from mlc.frontends.array.dataclass_trees import Fixed
from mlc.frontends.array.dtypes import is_array_like


class Owner:
    """The object or class whose method is called, where it is no tree itself. The arrays among its attributes are
    arguments; the other attributes are part of the program, which is traced again where one changes.
    """

    def __init__(self, instance: Any) -> None:
        self.instance = instance


class Bound:
    """A jitted function as a method of an object."""

    def __init__(self, jitted: Callable[..., Any], instance: Any) -> None:
        self.jitted, self.instance = jitted, instance
        self.__doc__, self.__name__ = jitted.__doc__, getattr(jitted, "__name__", "")
        whole = inspect.signature(jitted)
        self.__signature__ = whole.replace(parameters=list(whole.parameters.values())[1:])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.jitted(owner(self.instance), *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """``lower``, ``ir`` and ``save`` of the method, and what else a jitted function has."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.jitted, name)
        if name not in ("lower", "ir", "save"):
            return found
        first = 1 if name != "lower" else 0  # the stage or the path comes first
        return lambda *args, **kwargs: found(*args[:first], owner(self.instance), *args[first:], **kwargs)


def owner(instance: Any) -> Any:
    """The owner of a method: a tree itself, or an ``Owner`` for any other object."""
    return instance if trees.children(instance) is not None else Owner(instance)


def plain(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments in the form in which the user's function takes them."""
    return tuple(x.instance if isinstance(x, Owner) else x for x in args)


def _parts(found: Owner) -> tuple[list[Any], Any, tuple[str, ...]]:
    instance = found.instance
    attributes = {} if isinstance(instance, type) else getattr(instance, "__dict__", {})
    names = tuple(name for name, value in attributes.items() if any(map(is_array_like, trees.leaves(value))))
    rest = tuple((name, Fixed(value)) for name, value in attributes.items() if name not in names)
    whole = Fixed(instance) if isinstance(instance, type) or not attributes else Fixed(type(instance))
    return [attributes[name] for name in names], (whole, names, rest), names


def _object(data: Any, children: Any) -> Any:
    """A copy of the object with other arrays, so that a trace changes nothing of the user's."""
    whole, names, rest = data
    if not names and not rest:
        return whole.value
    made = object.__new__(whole.value)
    made.__dict__.update({name: fixed.value for name, fixed in rest} | dict(zip(names, children, strict=True)))
    return made


trees.register(Owner, _parts, _object)
