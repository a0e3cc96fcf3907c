"""State that a compiled program owns: arguments that live in the model from call to call, and are updated in place.

@mlc.jit(state=("params", "opt"))
def step(params, opt, x, y): ...; return params, opt, loss

training = step.create(params, opt)      training(x, y) is the loss
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlc.errors import InputError, MlcError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array
from mlc.frontends.array.located import located
from mlc.runtime import Model, TensorSpec
from mlc.runtime.memory import mapped
from mlc.tracing.traced import Traced

if TYPE_CHECKING:
    from mlc.tracing.jit import Jitted

Data = np.ndarray[Any, Any]
_GIVEN = np.empty(0)  # in the place of a value that a program has


class Stateful:
    """A jitted function whose first parameters, ``state``, live in its programs; made by ``jit(f, state=…)``.

    It returns their new values first, in the same order.
    """

    def __init__(self, jitted: Jitted, state: Sequence[str]) -> None:
        self.jitted, self.names = jitted, tuple(state)
        if tuple(jitted.signature.parameters)[: len(state)] != self.names:
            parameters = ", ".join(jitted.signature.parameters)
            raise InputError(f"jit: state is {', '.join(state)}, but the first parameters are {parameters}")

    def create(self, *state: Any) -> Instance:
        """An instance that begins with these values, one tree for each parameter in ``state``."""
        if len(state) != len(self.names):
            raise InputError(f"{self.jitted.where}: create takes {', '.join(self.names)}, not {len(state)} arguments")
        return Instance(self, state)

    def lower(self, *args: Any, first: bool = False) -> Traced:
        """The trace for all arguments, state and others, or ``TensorSpec``s; ``first``: with them as first values.

        Raises:
            InputError: the results do not begin with new values of the state, of the same structure and types.
        """
        traced = self.jitted.lower(*args)
        leaves, tree = trees.flatten(args)
        count = sum(each.num_leaves for each in tree.children()[: len(self.names)])
        with located(self.jitted.where):
            rest = self._check(traced, tree, count)
        values = {n: _elements(x) if first else None for n, x in enumerate(leaves[:count])}
        return replace(traced, tree=rest, wait=True, aliases=tuple((n, n) for n in range(count)), states=values)

    def _check(self, traced: Traced, tree: trees.Tree, count: int) -> trees.Tree:
        """The structure of the results after the state."""
        results = traced.tree.children() if traced.tree.type is tuple else []
        wanted = tree.children()[: len(self.names)]
        for name, want, found in zip(self.names, wanted, [*results, *[None] * len(wanted)], strict=False):
            if want != found:
                raise InputError(
                    f"jit: the new value of '{name}' has the structure {found}, not {want}",
                    hint="Return a state like the one before",
                )
        pairs = zip(list(traced.inputs.items())[:count], traced.outputs, strict=False)
        for (name, old), new in pairs:
            if (old.element, old.shape) != (new.element, new.shape):
                raise InputError(
                    f"jit: the new value of '{name}' is {new}, not {old}", hint="Return a state like the one before"
                )
        rest = results[len(wanted) :]
        return rest[0] if len(rest) == 1 else trees.tuple_of(rest)

    def ir(self, stage: str, *args: Any) -> str:
        """The text of the module after a stage, for arguments or ``TensorSpec``s."""
        return self.lower(*args).ir(stage)

    def save(self, path: str | Path, *args: Any) -> None:
        """Compile for all arguments and write ``path`` with header and weights, which have the state's first values. A
        C program runs it without Python.
        """
        self.lower(*args, first=True).save(path)


class Instance:
    """State and the programs that update it. Calls are one at a time."""

    def __init__(self, stateful: Stateful, state: tuple[Any, ...]) -> None:
        self._stateful = stateful
        leaves, self._tree = trees.flatten(state)
        self._first = [_own(x) for x in leaves]  # until there is a program
        self._types = [TensorSpec(x.dtype, x.shape) for x in self._first]
        self._specs = trees.unflatten(self._tree, self._types)
        self._programs: dict[Any, Traced] = {}
        self._current: Model | None = None

    def __call__(self, *args: Any) -> Any:
        """The results after the state, which this call updates."""
        leaves, tree = trees.flatten(args)
        values = [_elements(x) for x in leaves]
        key = tree, tuple((x.dtype, x.shape) for x in values)
        traced = self._programs.get(key)
        if traced is None:
            traced = self._programs[key] = self._stateful.lower(*self._specs, *args)
        if traced.model is not self._current:
            self._move(traced.model)
        found = traced.model(*values)
        return traced.results(found)

    @property
    def state(self) -> Any:
        """A copy of the state: a tree of NumPy arrays for each parameter. What is assigned is copied as well; where
        that fails on a device, the next call tries again."""
        found = map(np.array, self._first) if self._current is None else map(self._current.get_state, self._names())
        return trees.unflatten(self._tree, list(found))

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        leaves, tree = trees.flatten(state)
        types = [TensorSpec(x.dtype, x.shape) for x in map(_elements, leaves)]
        if (tree, types) != (self._tree, self._types):
            what = f"{self._stateful.jitted.where}: the state has another structure, or other types"
            raise InputError(what, hint="Give one like that of the first call")
        if self._current is None:
            self._first = [_own(x) for x in leaves]
            return
        try:
            for name, x in zip(self._names(), leaves, strict=True):
                self._current.set_state(name, _elements(x))
        except MlcError:
            self._first, self._current = [_own(x) for x in leaves], None
            raise

    def get_state(self, name: str) -> Data:
        """A copy of one array of the state: ``params.layers.0.w``, the path from the parameter."""
        if self._current is not None:
            return self._current.get_state(name)
        raise InputError(f"There is no program with state '{name}' yet", hint="Call the instance first, or use state")

    def set_state(self, name: str, value: Any) -> None:
        """Replace one array of the state, as ``get_state`` names it."""
        if self._current is None:
            raise InputError(f"There is no program with state '{name}' yet", hint="Call the instance first")
        self._current.set_state(name, value)

    def save(self, path: str | Path, *args: Any) -> None:
        """``Stateful.save`` with the present state, for these other arguments."""
        self._stateful.save(path, *self.state, *args)

    def _names(self) -> list[str]:
        assert self._current is not None
        return list(self._current.states)

    def _move(self, model: Model) -> None:
        """Make ``model`` the one that has the state."""
        if self._current is None:
            self._give(model)
        else:
            for name, old in zip(model.states, self._names(), strict=True):
                model.set_state(name, self._current.get_state(old))
        self._current = model

    def _give(self, model: Model) -> None:
        """Give up the first values one by one, so that there is one copy. They come back where that fails."""
        names, given = list(model.states), 0
        try:
            for given, name in enumerate(names):
                model.set_state(name, self._first[given])
                self._first[given] = _GIVEN
        except MlcError:
            self._first[:given] = map(model.get_state, names[:given])
            raise
        self._first = []


def _own(x: Any) -> Data:
    """The elements in memory that nobody else changes: a copy, unless ``x`` is an mlc array."""
    return _elements(x) if isinstance(x, Array) else mapped(_elements(x))


def _elements(x: Any) -> Data:
    from mlc.tracing.jit import elements  # which makes what is in this file

    return elements(x)
