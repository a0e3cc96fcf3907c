"""The driver's source of a trace, and its compilation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mlc.api import open_built
from mlc.driver.cache.digest import of_bytes
from mlc.driver.compile import compile_source
from mlc.errors import InputError
from mlc.frontends.imported import Imported
from mlc.options import Options
from mlc.runtime import Model
from mlc.runtime.files import copy_artifact
from mlc.tracing.background import cancellation, watchers


@dataclass(frozen=True)
class TraceSource:
    """A traced function: ``text`` says all that its graph module depends on."""

    name: str
    text: str
    make: Callable[[], Imported]
    kind: str = "trace"

    @property
    def digest(self) -> str:
        return of_bytes(self.text.encode())

    @property
    def folder(self) -> Path:
        return Path()

    def external_files(self) -> tuple[str, ...]:
        return ()

    def code(self) -> Mapping[str, str]:
        return {}

    def imported(self, dims: Mapping[str, int]) -> Imported:
        """InputError for ``dims``: the shapes of a trace are those of its arguments."""
        if dims:
            raise InputError(
                "A traced function has no dimensions to fix", hint="Trace it for arguments of these shapes"
            )
        return self.make()


def compiled(source: TraceSource, options: Options) -> Model:
    """The compiled program, loaded; for the background."""
    return open_built(compile_source(source, options, [cancellation, *watchers]), options.threads or None)


def save_compiled(source: TraceSource, options: Options, path: Path) -> None:
    """Compile, and write the files of the artifact without loading it."""
    artifact = compile_source(source, options, [cancellation]).artifact
    copy_artifact(artifact.library, artifact.files.get(".weights"), path)
