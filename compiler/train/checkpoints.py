"""Checkpoints: the whole state of a run in one file of safetensors, written at once. Source: Orbax."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from mlc.errors import InputError, OutputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import as_array
from mlc.nn.files import load_file, metadata_of, save_file

NAME = re.compile(r"step-(\d+)\.safetensors")


class Checkpoints:
    """The files ``step-….safetensors`` of a folder, of which the last ``keep`` stay; one is written ``every`` steps.

    A file is complete from the moment that it has its name: the process may be killed at any time. One process a
    folder.
    """

    def __init__(self, folder: str | Path, every: int = 100, keep: int = 3) -> None:
        for name, value in (("every", every), ("keep", keep)):
            if value < 1:
                raise InputError(f"{name}={value} of checkpoints is below 1", hint=f"Give {name} as 1 or more")
        self.folder, self.every, self.keep = Path(folder), every, keep
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for unfinished in self.folder.glob(".step-*"):
                unfinished.unlink(missing_ok=True)
        except OSError as error:
            what = f"Cannot make the folder '{folder}' of checkpoints: {error.strerror}"
            raise OutputError(what, hint="Choose a folder that can be written to") from error

    def steps(self) -> list[int]:
        """The steps that there are checkpoints of, in order."""
        found = (NAME.fullmatch(path.name) for path in self.folder.iterdir())
        return sorted(int(match[1]) for match in found if match)

    def path(self, step: int) -> Path:
        return self.folder / f"step-{step:09}.safetensors"

    def save(self, step: int, state: Any) -> Path:
        """Write the checkpoint of a step, and remove those that are too many.

        Raises:
            OutputError: the disk is full, or the folder cannot be written to.
        """
        arrays = _arrays(state)
        save_file(arrays, self.path(step), {"format": "mlc.train 1", "step": str(step), "sha256": _digest(arrays)})
        for old in self.steps()[: -self.keep]:
            with suppress(OSError):  # a later call removes it
                self.path(old).unlink(missing_ok=True)
        return self.path(step)

    def load(self, like: Any, step: int | None = None) -> Any:
        """The state of a step, by default the last one that is whole, in the structure of ``like``.

        A damaged file is passed over with a warning, unless it is that of ``step``.

        Raises:
            InputError: there is no such checkpoint, it is damaged, or it is of another model or optimizer.
        """
        steps = self.steps()
        if not steps or step not in (None, *steps):
            which = "no checkpoint" if step is None else f"no checkpoint of step {step}"
            raise InputError(f"There is {which} in '{self.folder}'", hint=f"Its steps are {steps or 'none'}")
        for each in reversed(steps) if step is None else [step]:
            try:
                found = _whole(self.path(each))
            except InputError as error:
                if step is not None or each == steps[0]:
                    raise
                warnings.warn(f"{error.message}. The checkpoint before it is taken", stacklevel=2)
            else:
                return _restored(found, like, self.path(each))
        raise AssertionError  # the first step returns or raises


def _whole(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a checkpoint. InputError where it is not as it was written."""
    found, wanted = load_file(path), metadata_of(path).get("sha256")
    if wanted is not None and _digest(found) != wanted:
        hint = "Delete it; training goes on from the checkpoint before it"
        raise InputError(f"The checkpoint '{path}' is damaged: its bytes are not those that were written", hint=hint)
    return found


def _digest(arrays: Mapping[str, np.ndarray[Any, Any]]) -> str:
    """The SHA-256 of names, types, shapes and elements."""
    digest = hashlib.sha256()
    for name, x in sorted(arrays.items()):
        digest.update(f"{name} {x.dtype.str} {x.shape}\n".encode())
        digest.update(np.ascontiguousarray(x).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


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
        raise InputError(
            f"'{path}' is of another model or optimizer: {', '.join(names[:5])}",
            hint="Give the model and optimizer that wrote it, or another folder",
        )
    return trees.unflatten(trees.flatten(like)[1], [as_array(found[name]) for name in _names(like)])
