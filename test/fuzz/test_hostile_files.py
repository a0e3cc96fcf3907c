"""A few files that are made to harm, in every run; `fuzz_files.py` makes as many others as one likes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from fuzz_files import kinds
from hostile_judge import Judge
from isolate import judged

COUNTS = {"onnx": 40, "safetensors": 60, "npz": 40, "pickle": 40, "so": 60, "schedule": 20}
SECONDS = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.mark.parametrize("kind", COUNTS)
def test_each_ends_with_an_error_of_its_own_or_a_result(kind: str, folder: Path) -> None:
    write, calls = kinds(folder)[kind]
    first = secrets.randbits(31)
    cases = judged(range(first, first + COUNTS[kind]), Judge(write, calls, folder), SECONDS)
    assert not {case: problem for case, problem in cases if problem}


def _leaves(path: Path) -> None:
    (path.parent / "half-written").write_text("x")


def _opens(path: Path) -> None:
    os.open(path, os.O_RDONLY)


def _fails(path: Path) -> None:
    raise KeyError("two")


@pytest.mark.parametrize(
    "call, problem", [(_leaves, "left over: ['half-written']"), (_opens, "files left open"), (_fails, "KeyError")]
)
def test_what_is_a_finding(call: Callable[[Path], None], problem: str, tmp_path: Path) -> None:
    def write(random: Random, folder: Path) -> Path:
        (folder / "file").write_bytes(b"")
        return folder / "file"

    ((_, found),) = judged([0], Judge(write, {"call": call}, tmp_path), SECONDS)
    assert problem in found
