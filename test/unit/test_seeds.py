"""Random data of tests follows from ``--seed`` and the test's name, and a failure says which it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TEST = Path(__file__).parents[1]
FILE = """
import secrets
import numpy as np, pytest
from hypothesis import given, strategies as st

SEED = secrets.randbits(32)

@pytest.fixture(scope="module")
def shared():
    return np.random.default_rng().integers(1 << 32)

@pytest.mark.parametrize("n", range(2))
def test_drawn(n, shared):
    print("drew", n, SEED, shared, secrets.randbits(32), np.random.SeedSequence().entropy)
    assert False

@given(st.integers())
def test_property(x):
    print("drew x", x)
    assert x < 1000
"""


SWEEP = """
import pytest
from seeds import drawn

@pytest.mark.parametrize("n", drawn(range(40), 4, "numbers"))
def test_sweep(n):
    print("drew", n)
    assert False
"""


SLOW = """
import pytest

@pytest.mark.parametrize("n", range(40))
def test_slow(n):
    print("drew", n)
    assert False
"""


def drew(
    folder: Path, *options: str, file: str = FILE, name: str = "test_file.py", named: str = "test_file.py"
) -> dict[str, str]:
    """What each test drew, and the seeds that failures print, by name."""
    (folder / name).write_text(file)
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", *options, named]
    paths = {"PYTHONPATH": str(TEST), "PATH": "/usr/bin:/bin"}
    found = subprocess.run(command, cwd=folder, env=paths, capture_output=True, text=True, timeout=120).stdout
    lines = [line.split() for line in found.splitlines() if line.startswith(("drew", "--seed"))]
    assert lines, found
    return {words[1] if words[0] == "drew" else "seed": " ".join(words) for words in lines}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return drew(tmp_path_factory.mktemp("first"))


def test_the_same_in_each_run_and_alone(first: dict[str, str], tmp_path: Path) -> None:
    assert first["seed"] == "--seed 0" and first["0"].split()[4:] != first["1"].split()[4:]
    assert drew(tmp_path, "-k", "test_drawn and 1")["1"] == first["1"]
    assert drew(tmp_path, "-k", "property")["x"] == first["x"]


def test_a_failure_says_a_new_seed(first: dict[str, str], tmp_path: Path) -> None:
    other = drew(tmp_path, "--seed", "random")
    assert all(other[n].split()[k] != first[n].split()[k] for n in "01" for k in range(2, 6))
    assert drew(tmp_path, *other["seed"].split()) == other


def test_a_sweep_has_a_sample_and_the_whole_on_request(tmp_path: Path) -> None:
    options = ((), ("--seed", "1"), ("--whole",))
    found, other, whole = (drew(tmp_path, *given, file=SWEEP).keys() - {"seed"} for given in options)
    assert (len(found), len(other), whole) == (4, 4, {str(n) for n in range(40)})
    assert found != other and found < whole and drew(tmp_path, file=SWEEP).keys() - {"seed"} == found


def test_a_folder_runs_a_sample_of_slow_tests_and_a_file_all(tmp_path: Path) -> None:
    def ran(named: str, *options: str) -> set[str]:
        return drew(tmp_path, *options, file=SLOW, name="test_vmap.py", named=named).keys() - {"seed"}

    everything = {str(n) for n in range(40)}
    sample, other = ran("."), ran(".", "--seed", "1")
    assert (len(sample), len(other)) == (10, 10) and sample != other
    assert ran("test_vmap.py") == ran(".", "--whole") == everything
    assert ran("test_vmap.py", "--sample") == sample
