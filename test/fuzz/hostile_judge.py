"""What mlc makes of a hostile file: it ends with an error of its own, or with a result, and leaves nothing over."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

import mlc
from mlc.cli import main
from mlc.errors import InternalError, MlcError, ToolchainError

LONGEST = 20_000  # characters of an error
FAULTS = ("internal error", "Traceback", "mlc: out of memory", "mlc failed in")
"""What the command line prints where mlc is at fault."""
Write = Callable[[Random, Path], Path]
Call = Callable[[Path], Any]


class Judge:
    """Says what is wrong with a case: the file that ``write`` makes, given to one of ``calls`` by name."""

    def __init__(self, write: Write, calls: dict[str, Call], folder: Path) -> None:
        self.write, self.calls, self.folder = write, calls, folder

    def __call__(self, case: int) -> str:
        home = self.folder / f"{os.getpid()}-{case}"
        (home / "tmp").mkdir(parents=True)
        tempfile.tempdir = str(home / "tmp")
        path = self.write(Random(case), home)
        os.chdir(home)
        name = sorted(self.calls)[case % len(self.calls)]
        before, files = _handles(), _files(home)
        problem = _problem(self.calls[name], path)
        os.chdir(self.folder)
        left = _files(home) - files - {Path("out.so"), Path("out.h"), Path("out.weights")}
        if not problem and left:
            problem = f"left over: {sorted(map(str, left))[:5]}"
        if not problem and (opened := _handles() - before):
            problem = f"files left open: {sorted(opened)[:5]}"
        shutil.rmtree(home, ignore_errors=True)
        return f"{name}: {problem}" if problem else ""


def _handles() -> set[str]:
    found = set()
    for entry in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{entry}"))
        except OSError:  # that of the listing itself
            continue
    return {each for each in found if each.startswith("/") and not each.startswith("/dev")}


def _files(home: Path) -> set[Path]:
    return {path.relative_to(home) for path in home.rglob("*")}


def _problem(call: Call, path: Path) -> str:
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore", UserWarning)
            call(path)
    except (InternalError, ToolchainError) as error:
        return f"{type(error).__name__}: {str(error)[:400]}"
    except MlcError as error:
        return unclear(str(error))
    except BaseException as error:
        where = error.__traceback__
        while where and where.tb_next:
            where = where.tb_next
        at = f"{where.tb_frame.f_code.co_filename}:{where.tb_lineno}" if where else ""
        return f"{type(error).__name__}: {str(error)[:300]} ({at})"
    return ""


def unclear(text: str) -> str:
    """What is wrong with the text of an error."""
    if len(text) > LONGEST or not text.strip():
        return f"an error of {len(text)} characters"
    if any(ord(c) < 32 and c not in "\n\t" or ord(c) in (127, 0x9B, 0x202E) for c in text):
        return f"an error with controls: {text[:200]!r}"
    return ""


def command(*arguments: str) -> Call:
    """A subcommand on the file, which stands for ``FILE``; its status is 0, 1 or 2, and its errors are mlc's."""

    def call(path: Path) -> None:
        out, errors = io.StringIO(), io.StringIO()
        status: Any = None
        with redirect_stdout(out), redirect_stderr(errors):
            try:
                main([each.replace("FILE", str(path)) for each in arguments])
            except SystemExit as end:
                status = end.code
        text = errors.getvalue()
        if status not in (0, 1, 2) or any(each in text for each in FAULTS):
            raise AssertionError(f"status {status}: {text[-400:]}")
        for each in (text, out.getvalue()):
            if (wrong := unclear(each)) and each.strip() and len(each) < LONGEST:
                raise AssertionError(wrong)

    return call


def session(path: Path) -> None:
    import mlc.onnxruntime as ort

    ort.InferenceSession(str(path))


def compiled(path: Path) -> None:
    mlc.compile(path)


def checked(path: Path) -> None:
    for problem in mlc.check(path):
        if wrong := unclear(problem):
            raise AssertionError(wrong)
