"""Reproducers for bugs in mlc: the traceback, the options, and the IR before the pass that failed."""

from __future__ import annotations

import json
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlc.driver.instrument import Instrument
from mlc.errors import InternalError
from mlc.options import Options

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


class LastIR(Instrument):
    """An instrument that keeps the text of the module before the current pass."""

    def __init__(self) -> None:
        self.name = "import"
        self.text: str | None = None

    def before(self, name: str, module: ModuleOp | None, weights: Any) -> None:
        self.name = name
        self.text = None if module is None else str(module)


def internal_error(
    error: Exception, options: Options, again: Callable[[Sequence[Instrument]], object]
) -> InternalError:
    """The error to show for an unexpected ``error``; ``again`` repeats the failed work with instruments."""
    last = LastIR()
    try:
        again([last])
    except Exception as repeated:
        error = repeated
    stage, _, name = last.name.partition(".")
    kept = _keep(error, options, last)
    hint = f"This is a bug in mlc: please report it with the files in {kept}" if kept else "This is a bug in mlc"
    where = f" in the pass {name}" if name else ""
    return InternalError(f"mlc failed{where}: {type(error).__name__}: {_first_line(error)}", stage=stage, hint=hint)


def _keep(error: Exception, options: Options, last: LastIR) -> Path | None:
    """Write the reproducer; returns its folder, or None if it cannot be written."""
    name = last.name.rpartition(".")[2]
    try:
        folder = Path(tempfile.mkdtemp(prefix="mlc-reproducer-"))
        (folder / "traceback.txt").write_text("".join(traceback.format_exception(error)))
        (folder / "options.json").write_text(json.dumps(options.key(), indent=1))
        if last.text is not None:
            (folder / f"before-{name}.mlir").write_text(last.text + "\n")
            (folder / "command.txt").write_text(f"mlc-opt before-{name}.mlir -p {name}\n")
    except OSError:
        return None
    return folder


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:200]
