"""Tied parameters: one array at several positions of a model. Source: Press and Wolf, 2017; equinox.nn.Shared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import as_array
from mlc.nn.module import Module, inlined, static
from mlc.nn.naming import named, owner_of


class Tied(Module):
    """A model some of whose parameters are others, by PyTorch's names: they train as one.

        model = nn.Tied(Transformer(), {"head.weight": "characters.weight"})

    The gradient is the sum of those at all positions. The state has the array by each of its names, as PyTorch's.
    """

    model: Module = inlined()
    ties: tuple[tuple[str, str], ...] = static()

    def __init__(self, model: Module, ties: Mapping[str, str]) -> None:
        """``ties``: the parameter that is given up → the one in its place. The model that is given stays whole.

        Raises:
            InputError: there is no such parameter, or their shapes differ.
        """
        leaves, structure = trees.flatten(model)
        found = {name: leaf for name, leaf, _ in named(model)}
        self.model, self.ties = trees.unflatten(structure, leaves), tuple(ties.items())
        for name, other in self.ties:
            for each in (name, other):
                if each not in found or (each == other and other in ties):
                    raise InputError(f"{type(model).__name__} has no parameter '{each}' to tie", hint=_names(found))
            if as_array(found[name]).shape != as_array(found[other]).shape:
                shapes = f"{as_array(found[name]).shape} and {as_array(found[other]).shape}"
                raise InputError(
                    f"'{name}' and '{other}' have the shapes {shapes}: they cannot be one",
                    hint="Tie parameters of one shape",
                )
            self._set(name, None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = {name: leaf for name, leaf, _ in named(self.model)}
        for name, other in self.ties:
            self._set(name, values[other])
        try:
            return self.model(*args, **kwargs)  # type: ignore[operator]
        finally:
            for name, _ in self.ties:
                self._set(name, None)

    def state_dict(self) -> dict[str, Any]:
        found = super().state_dict()
        return found | {name: found[other] for name, other in self.ties}

    def load_state_dict(self, values: Mapping[str, Any], strict: bool = True) -> Tied:
        given = {name: value for name, value in values.items() if name not in dict(self.ties)}
        return super().load_state_dict(given, strict)

    def _set(self, name: str, value: Any) -> None:
        """Put an array, or None, at the place of this name."""
        owner, entry = owner_of(self.model, name)
        if isinstance(owner, Module):
            setattr(owner, entry, value)
        elif isinstance(owner, dict | list):
            owner[entry] = value
        else:
            what = f"'{name}' is in a {type(owner).__name__}, which does not change"
            raise InputError(what, hint="Hold it in a module, a list or a dict")


def _names(found: Mapping[str, Any]) -> str:
    return f"It has {', '.join(found)}"
