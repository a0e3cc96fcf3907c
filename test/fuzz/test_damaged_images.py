"""The first damaged images, in every run; `fuzz_images.py` damages as many others as one likes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from fuzz_images import decoder, problem, streams

from mlc.errors import ToolchainError


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The decoders with sanitizers; skips where the C compiler has none, or a library is missing."""
    compiler = shutil.which(os.environ.get("CC", "cc")) or pytest.skip("no C compiler on this machine")
    try:
        return decoder(compiler, tmp_path_factory.mktemp("images"))
    except ToolchainError as error:
        pytest.skip(str(error))
    except subprocess.CalledProcessError as error:
        if b"error:" in error.stderr.replace(b"ld: error:", b""):
            raise AssertionError(error.stderr.decode()) from error
        pytest.skip("the C compiler has no sanitizers")


@pytest.mark.parametrize("seed", range(3))
def test_damaged_images_do_no_harm(seed: int, program: Path) -> None:
    assert not problem(program, streams(seed, 1000))


def test_streams_are_the_same_for_the_same_seed() -> None:
    assert streams(5, 20) == streams(5, 20)


def test_a_report_is_a_problem(tmp_path: Path) -> None:
    program = tmp_path / "reports"
    program.write_text("#!/bin/sh\ncat > /dev/null\necho 3 3\necho report >&2\n")
    program.chmod(0o755)
    assert problem(program, [b"x"]) == "stream 1: report\n"
