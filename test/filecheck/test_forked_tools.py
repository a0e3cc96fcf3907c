"""The format of the lit tests: what passes, what fails, and what lit runs itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))
import forked_tools  # noqa: E402 - from this folder

RIGHT = 'builtin.module @right {\n}\n// CHECK: builtin.module @right\n// RUN: mlc-opt "%s" | filecheck %s\n'


def outcome(path: Path, text: str) -> str:
    path.write_text(text)
    lines = forked_tools.pipelines(text, str(path))
    assert lines is not None
    return next(filter(None, map(forked_tools.run, lines)), "")


def test_an_output_that_fits_and_others(tmp_path: Path) -> None:
    path = tmp_path / "with a space.mlir"
    assert outcome(path, RIGHT) == ""
    assert "filecheck: exit status 1" in outcome(path, RIGHT.replace("@right {", "@wrong {"))
    assert "mlc-opt: exit status 1" in outcome(path, "builtin.module {\n" + RIGHT)
    assert "mlc-opt: exit status 1" in outcome(path, RIGHT.replace('"%s"', "%s -p no-such-pass"))


def test_every_line_and_every_command_of_it_runs(tmp_path: Path) -> None:
    for name, failure in (("right", ""), ("wrong", "--check-prefix")):
        more = f"// RUN: mlc-opt %s | mlc-opt | filecheck %s --check-prefix OTHER\n// OTHER: @{name}\n"
        found = outcome(tmp_path / "a.mlir", RIGHT + more)
        assert failure in found and bool(failure) == bool(found)


@pytest.mark.parametrize("line", ["grep x %s", "mlc-opt %s > %t", "mlc-opt %s; true", "mlc-opt $PWD/a"])
def test_other_lines_are_for_lit(line: str) -> None:
    assert forked_tools.pipelines(f"// RUN: {line}\n", "a.mlir") is None
    assert forked_tools.pipelines("// REQUIRES: x\n// RUN: mlc-opt %s\n", "a.mlir") is None
    assert forked_tools.pipelines("", "a.mlir") is None


def test_words_in_quotes_are_one() -> None:
    (line,) = forked_tools.pipelines("// RUN: mlc-opt %s -p 'a{b=\"x | y\"},c' | filecheck %s\n", "a b") or []
    assert line == [["mlc-opt", "a b", "-p", 'a{b="x | y"},c'], ["filecheck", "a b"]]
