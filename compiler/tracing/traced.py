"""A function traced for arguments of some types: a program with its module, its library and its calls."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mlc.dialects.semantics.prepared import Interpreted, interpreted
from mlc.driver.cache.digest import of_bytes
from mlc.driver.compile import lower_source
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array
from mlc.frontends.array.evaluate import structure
from mlc.frontends.array.lowering import import_trace
from mlc.frontends.array.record import Record, ordered
from mlc.frontends.imported import Imported
from mlc.options import Options
from mlc.runtime import Model
from mlc.tracing import background
from mlc.tracing.donation import Aliases
from mlc.tracing.interpretable import is_interpretable
from mlc.tracing.source import TraceSource, compiled, save_compiled

Data = np.ndarray[Any, Any]
LAMBDA = "lambda"  # the name of all functions without one


@dataclass(frozen=True)
class Traced:
    """A function traced for arguments of some types: what ``Jitted.lower`` returns.

    ``aliases``: the results that take over the memory of an argument; ``states``: arguments that live in the compiled
    program, with first values or None for zeros. Its calls run in the reference interpreter until
    it is compiled, unless ``wait`` or ``is_interpretable`` says no.
    """

    name: str
    inputs: Mapping[str, Record]
    outputs: Sequence[Record]
    tree: trees.Tree
    options: Options
    wait: bool = False
    aliases: Aliases = ()
    states: Mapping[int, Data | None] = field(default_factory=dict)

    @functools.cached_property
    def source(self) -> TraceSource:
        order = ordered(self.outputs)
        data = [each.data.tobytes() for each in order if each.data is not None]
        text = repr((list(self.inputs), structure([*self.inputs.values(), *_others(order, self.inputs)], self.outputs)))
        first = {n: None if x is None else of_bytes(x.tobytes()) for n, x in self.states.items()}
        given = f"{[of_bytes(d) for d in data]}{self.aliases or ''}{first or ''}"
        return TraceSource(self.name, f"{text}{given}", self.imported)

    def imported(self) -> Imported:
        """A new graph module of the trace: a copy of the interpreter's module, if there is one, takes a sixth of the
        time. The module that the interpreter cannot run is handed out itself, once.

        Raises:
            InputError: an operator cannot be translated; names the user's file and line.
        """
        kept: Imported | None = self.__dict__.get("_interpretable")
        return kept.copy() if kept else self.__dict__.pop("_not_interpretable", None) or self._import()

    def _import(self) -> Imported:
        first = sum(argument in self.states for _, argument in self.aliases)  # results that are states come first
        outputs = {f"y{n}" if n >= 0 else f"state{n}": each for n, each in enumerate(self.outputs, -first)}
        return import_trace(self.inputs, outputs, self.name, self.aliases, self.states)

    @functools.cached_property
    def model(self) -> Model:
        """The compiled program, loaded; waits for the compiler. After an error the next use tries again: the device
        may have memory then, or the machine a compiler."""
        try:
            return self._compiling.result()
        except BaseException:
            self.__dict__.pop("_compiling", None)
            self.__dict__["_interpreted"] = None  # the next call says whether that works
            raise

    @functools.cached_property
    def _compiling(self) -> Future[Model]:
        return background.submit(lambda: compiled(self.source, self.options))

    @functools.cached_property
    def _interpretable(self) -> Imported | None:
        """The graph module that the interpreter runs; None if calls wait for the compiler."""
        if self.wait or "model" in self.__dict__:
            return None
        found = self._import()
        if is_interpretable(found.module):
            return found
        self.__dict__["_not_interpretable"] = found
        return None

    @functools.cached_property
    def _interpreted(self) -> Interpreted | None:
        """The program for the interpreter; None if calls wait for the compiler."""
        found = self._interpretable
        return interpreted(found.module, found.weights) if found else None

    def ir(self, stage: str = "graph") -> str:
        """The text of the module after a stage, such as ``graph``, ``fuse``, ``kernel``, ``loops`` or ``plan``."""
        return str(lower_source(self.source, self.options, until=stage).module)

    def save(self, path: str | Path) -> None:
        """Write ``path`` (``f.so``) with its header and weights, as ``Model.save`` does; a program for a GPU also on a
        machine without one. The C symbols of a lambda begin with the name of the file."""
        if self.name == LAMBDA and self.options.name is None:
            save_compiled(self.source, replace(self.options, name=Path(path).stem), Path(path))
        elif "_compiling" in self.__dict__:
            self.model.save(path)
        else:
            save_compiled(self.source, self.options, Path(path))

    @property
    def is_compiled(self) -> bool:
        """Whether calls run compiled code. Raises the error of the compiler, if it failed."""
        done = "_compiling" in self.__dict__ and self._compiling.done()
        return "model" in self.__dict__ or (done and self.model is not None)

    def __call__(self, values: Sequence[Data]) -> Any:
        given = self._interpreted
        if given is None or self.is_compiled:
            return self.results(self.model(*values))
        if "_has_run" in self.__dict__:  # what runs once is not worth a compilation
            self._compiling.done()  # starts it
        self.__dict__["_has_run"] = True
        return self.results(tuple(_own(each, values) for each in given(values)))

    def update(self, values: Sequence[Data]) -> Any:
        """The results, those with an alias in the memory of ``values``, which the call overwrites."""
        return self.results(self.model.update(*values))

    def results(self, found: Data | tuple[Data, ...]) -> Any:
        """The results of the function, from what the compiled model returns."""
        arrays = [Array.of(each) for each in found] if isinstance(found, tuple) else [Array.of(found)]
        return trees.unflatten(self.tree, arrays)


def _own(result: Data, values: Sequence[Data]) -> Data:
    """The interpreter's result in its own memory."""
    return result.copy() if any(np.may_share_memory(result, x) for x in values) else result


def _others(order: Sequence[Record], inputs: Mapping[str, Record]) -> list[Record]:
    arguments = set(inputs.values())
    return [each for each in order if each not in arguments]
