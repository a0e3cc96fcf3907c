"""The protocol of a source: a model that can be compiled, in the format of any frontend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mlc.frontends.imported import Imported


class Source(Protocol):
    """The driver's interface to a model. Its name and digest are known before a frontend has read it: they are what an
    artifact in the cache is found by.
    """

    @property
    def kind(self) -> str:
        """The frontend and the form of the model: part of the cache key."""

    @property
    def name(self) -> str:
        """The stem of the artifact's files."""

    @property
    def digest(self) -> str:
        """A hash of the model, without its external files."""

    @property
    def folder(self) -> Path:
        """The folder to which the names of external files are relative."""

    def code(self) -> Mapping[str, str]:
        """Digests by name of the user's own code that takes part in the import: operators registered outside mlc."""

    def external_files(self) -> tuple[str, ...]:
        """The names of the model's external data files, sorted. Reads the model, but not these files."""

    def imported(self, dims: Mapping[str, int]) -> Imported:
        """The graph module and the weights, with symbolic dimensions fixed to ``dims``.

        Raises:
            InputError: the model is malformed or uses what mlc does not support.
        """


class ModelSource(Source, Protocol):
    """The source of a model that a user names, with what ``mlc check`` and ``mlc inspect`` ask of it."""

    def problems(self, dims: Mapping[str, int]) -> list[str]:
        """Every reason why the model cannot be compiled, one line each. InputError if it is malformed."""

    def operators(self) -> Counter[str]:
        """How often the model has each operator, as written."""
