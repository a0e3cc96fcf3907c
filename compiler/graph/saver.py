"""``Saver``: the variables of a session in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from mlc.errors import InputError, OutputError
from mlc.frontends.array.array import as_array
from mlc.graph.ends import Variable
from mlc.graph.graphs import get_default_graph
from mlc.graph.session import Session


class Saver:
    """Writes and reads variables by name, in NumPy's format ``.npz``.

    ``var_list``: the variables, or their names in the file; by default all of the default graph when it is used.
    """

    def __init__(self, var_list: Sequence[Variable] | Mapping[str, Variable] | None = None) -> None:
        self.var_list = var_list
        self.graph = get_default_graph()

    def _variables(self) -> dict[str, Variable]:
        given = self.graph.variables if self.var_list is None else self.var_list
        if isinstance(given, Mapping):
            return dict(given)
        return {each.name: each for each in given if isinstance(each, Variable)}

    def save(self, session: Session, path: str | Path, global_step: Any = None) -> str:
        """Write the variables; the file, ``path-7`` for a step 7. It is whole or not there.

        Raises:
            OutputError: it cannot be written.
        """
        step = session.run(global_step) if isinstance(global_step, Variable) else global_step
        file = Path(path if step is None else f"{path}-{int(step)}")
        found = {name: session.values.get(v, v.initial).numpy() for name, v in self._variables().items()}
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            with beside.open("wb") as stream:
                np.savez(stream, **found)  # type: ignore[arg-type]
            beside.replace(file)
        except OSError as error:
            with suppress(OSError):  # the path may lie below a file
                beside.unlink()
            raise OutputError(f"The variables cannot be written to '{file}': {error.strerror}") from None
        return str(file)

    def restore(self, session: Session, path: str | Path) -> None:
        """Give the session the values in a file.

        Raises:
            InputError: it is not there or no such file, or lacks a variable, or has another shape or type for one.
        """
        wanted = self._variables()
        try:
            with np.load(path) as file:
                found = {name: file[name] for name in file.files if name in wanted}
        except (OSError, ValueError) as error:
            raise InputError(f"'{path}' has no variables to restore: {error}") from None
        for name, variable in wanted.items():
            _check(name, variable, found.get(name), path)
        for name, variable in wanted.items():
            session.values[variable] = as_array(found[name].view(variable.dtype))


def _check(name: str, variable: Variable, value: np.ndarray[Any, Any] | None, path: str | Path) -> None:
    if value is None:
        hint = "Give Saver the variables that it has: Saver([w, b])"
        raise InputError(f"'{path}' has no variable '{name}'", hint=hint)
    alike = value.dtype == variable.dtype or (value.dtype.kind == "V" and value.itemsize == variable.dtype.itemsize)
    if value.shape != variable.shape or not alike:
        shown = [f"{x.dtype}{list(x.shape)}" for x in (value, variable)]
        raise InputError(f"'{path}' has '{name}' as {shown[0]}, where the graph has {shown[1]}")
