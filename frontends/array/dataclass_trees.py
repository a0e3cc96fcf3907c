"""Instances of a user's dataclasses as trees: fields of arrays, numbers and trees of them are children."""

from __future__ import annotations

import dataclasses
from typing import Any

import optree

NAMESPACE = "mlc"
"""optree's namespace of classes that only mlc takes for trees, beside those that are registered for all."""
STATIC = (str, bytes, type)


class Fixed:
    """A value that is part of a tree's structure. It equals an equal value of its type; without a hash, only itself."""

    def __init__(self, value: Any) -> None:
        self.value = value
        try:
            self._key: Any = (type(value), value, hash(value))
        except TypeError:
            self._key = (type(value), id(value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and bool(self._key == other._key)

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return repr(self.value)


def is_unknown(leaf: Any) -> bool:
    """Whether a leaf is an instance of a dataclass of the user that is not registered yet."""
    cls = type(leaf)
    return hasattr(cls, "__dataclass_fields__") and not cls.__module__.startswith("mlc.")


def register(cls: type) -> None:
    """Make instances of a dataclass trees. Strings, functions, and fields whose metadata say ``static`` are part of the
    structure; ``__init__`` does not run again where a tree is made of others.
    """
    fields = dataclasses.fields(cls)

    def flatten(instance: Any) -> tuple[list[Any], Any, tuple[str, ...]]:
        given = {each.name: getattr(instance, each.name) for each in fields if hasattr(instance, each.name)}
        fixed = {f.name for f in fields if f.name in given and _is_static(f, given[f.name])}
        names = tuple(name for name in given if name not in fixed)
        rest = tuple((name, Fixed(given[name])) for name in given if name in fixed)
        return [given[name] for name in names], (names, rest), names

    def unflatten(data: Any, children: Any) -> Any:
        names, rest = data
        made: Any = object.__new__(cls)
        for name, value in [*zip(names, children, strict=True), *((name, fixed.value) for name, fixed in rest)]:
            object.__setattr__(made, name, value)
        return made

    optree.register_pytree_node(cls, flatten, unflatten, path_entry_type=optree.GetAttrEntry, namespace=NAMESPACE)


def _is_static(field: dataclasses.Field[Any], value: Any) -> bool:
    is_function = callable(value) and not dataclasses.is_dataclass(value)
    return bool(field.metadata.get("static")) or isinstance(value, STATIC) or (is_function and _is_leaf(value))


def _is_leaf(value: Any) -> bool:
    return optree.tree_is_leaf(value, namespace=NAMESPACE)
