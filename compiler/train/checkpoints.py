"""Checkpoints: the whole state of a run in one file of safetensors, written at once. Source: Orbax."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from mlc.errors import InputError, OutputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import as_array
from mlc.nn.files import load_file, save_file

NAME = re.compile(r"step-(\d+)\.safetensors")


class Checkpoints:
    """The files ``step-….safetensors`` of a folder, of which the last ``keep`` stay; one is written ``every`` steps.

    A file is complete from the moment that it has its name: the process may be killed at any time. One process a
    folder.
    """

    def __init__(self, folder: str | Path, every: int = 100, keep: int = 3) -> None:
        if every < 1 or keep < 1:
            raise InputError(f"Checkpoints every {every} steps, of which {keep} stay")
        self.folder, self.every, self.keep = Path(folder), every, keep
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"Cannot make the folder '{folder}' of checkpoints: {error.strerror}") from error
        for unfinished in self.folder.glob(".step-*"):
            unfinished.unlink(missing_ok=True)

    def steps(self) -> list[int]:
        """The steps that there are checkpoints of, in order."""
        found = (NAME.fullmatch(path.name) for path in self.folder.iterdir())
        return sorted(int(match[1]) for match in found if match)

    def path(self, step: int) -> Path:
        return self.folder / f"step-{step:09}.safetensors"

    def save(self, step: int, state: Any) -> Path:
        """Write the checkpoint of a step, and remove those that are too many."""
        save_file(_arrays(state), self.path(step), {"format": "mlc.train 1", "step": str(step)})
        for old in self.steps()[: -self.keep]:
            self.path(old).unlink(missing_ok=True)
        return self.path(step)

    def load(self, like: Any, step: int | None = None) -> Any:
        """The state of a step, by default the last one, in the structure of ``like``.

        Raises:
            InputError: there is no such checkpoint, or it is of another model or optimizer.
        """
        steps = self.steps()
        if not steps or step not in (None, *steps):
            raise InputError(f"There is no checkpoint {step or ''} in '{self.folder}'", hint=f"Those are {steps}")
        path = self.path(steps[-1] if step is None else step)
        return _restored(load_file(path), like, path)


def _names(tree: Any) -> list[str]:
    """``parameters.layers.0.weight``: fields of named tuples by their names."""
    accessors = trees.flatten(tree)[1].accessors()
    return [".".join(str(getattr(entry, "field", entry.entry)) for entry in path) for path in accessors]


def _arrays(tree: Any) -> dict[str, np.ndarray[Any, Any]]:
    leaves = (as_array(leaf).numpy() for leaf in trees.leaves(tree))
    return dict(zip(_names(tree), leaves, strict=True))


def _restored(found: dict[str, np.ndarray[Any, Any]], like: Any, path: Path) -> Any:
    wanted = {name: (x.dtype, x.shape) for name, x in _arrays(like).items()}
    given = {name: (x.dtype, x.shape) for name, x in found.items()}
    if wanted != given:
        names = sorted(name for name in wanted.keys() | given.keys() if wanted.get(name) != given.get(name))
        raise InputError(f"'{path}' is of another model or optimizer: {', '.join(names[:5])}")
    return trees.unflatten(trees.flatten(like)[1], [as_array(found[name]) for name in _names(like)])
