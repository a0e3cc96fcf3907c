"""lit's format for lines of mlc-opt and filecheck: each command is a fork of a process that has imported both.

Started anew, mlc-opt takes 0.6 s to import itself, and a tenth of that for its passes. A line with other commands is
lit's own matter.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NoReturn

import filecheck.main
from lit import Test
from lit.formats import ShTest

from mlc.tools import opt
from mlc.universe import UNIVERSE

TOOLS: dict[str, Callable[[], object]] = {"mlc-opt": opt.main, "filecheck": filecheck.main.main}
RUN = re.compile(r"^// RUN: (.*)$", re.M)
DIALECTS = ("affine", "arith", "builtin", "func", "memref", "scf", "test", "vector")  # of xDSL, in the tests
OTHER = re.compile(r"(REQUIRES|UNSUPPORTED|XFAIL|DEFINE):|RUN:.*([<>&;$`\\]|%[^s])")  # keywords and a shell's signs
Pipeline = list[list[str]]


def preload() -> None:
    """Import what the tools import when they are asked for something."""
    for make in (*UNIVERSE.all_dialects.values(), *UNIVERSE.all_passes.values()):
        make()
    for name in DIALECTS:
        import_module(f"xdsl.dialects.{name}")


class ForkedTools(ShTest):
    """Runs each line in forks of this process."""

    def execute(self, test: Any, config: Any) -> Any:
        path = test.getSourcePath()
        lines = pipelines(Path(path).read_text(), path)
        if lines is None or config.noExecute:
            return super().execute(test, config)
        for line in lines:
            if failure := run(line):
                return Test.Result(Test.FAIL, failure)
        return Test.Result(Test.PASS)


def pipelines(text: str, path: str) -> list[Pipeline] | None:
    """The commands of each line of a test; None if it has others than the two tools, or what only lit knows."""
    found = [_split(line, path) for line in RUN.findall(text)]
    known = all(command and command[0] in TOOLS for line in found for command in line)
    return found if found and known and not OTHER.search(text) else None


def _split(line: str, path: str) -> Pipeline:
    words = shlex.shlex(line, posix=True, punctuation_chars="|")
    words.whitespace_split = True
    commands: Pipeline = [[]]
    for word in words:
        if word == "|":
            commands.append([])
        else:
            commands[-1].append(word.replace("%s", path))
    return commands


def run(pipeline: Pipeline) -> str:
    """What failed, with all that was printed; empty if every command ends with 0."""
    given, said = b"", [" | ".join(map(shlex.join, pipeline))]
    for command in pipeline:
        code, given, errors = _forked(command, given)
        said += [errors.decode(errors="replace")]
        if code:
            return "\n".join([*said, given.decode(errors="replace"), f"{command[0]}: exit status {code}"])
    return ""


def _forked(command: Sequence[str], given: bytes) -> tuple[int, bytes, bytes]:
    """Exit status, output and errors of a command that reads ``given``."""
    with TemporaryFile() as source, TemporaryFile() as out, TemporaryFile() as errors:
        source.write(given)
        source.seek(0)
        sys.stdout.flush()
        if not (child := os.fork()):
            _become(command, (source.fileno(), out.fileno(), errors.fileno()))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for file in (out, errors):
            file.seek(0)
        return code, out.read(), errors.read()


def _become(command: Sequence[str], files: tuple[int, int, int]) -> NoReturn:
    """Be a command, in a forked process."""
    code: object = 1
    try:
        for standard, file in enumerate(files):
            os.dup2(file, standard)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 - until the process ends
        sys.argv = list(command)
        TOOLS[command[0]]()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)
