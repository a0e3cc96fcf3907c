"""Processes without a home, a user's name, room, memory or open files: mlc works, or says what is missing."""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mlc.driver.limits import of_machine
from mlc.options import environment

KIB = 1 << 10


def mlc(
    *arguments: str | Path,
    before: Callable[[], None] | None = None,
    by: tuple[str, ...] = (),
    **variables: str | None,
) -> tuple[int, str]:
    """(status, what it printed on both streams) of the command in a process of its own."""
    surroundings = {**os.environ, "MLC_CFLAGS": "-O0", **variables}
    given = {name: value for name, value in surroundings.items() if value is not None}
    command = [*by, sys.executable, "-m", "mlc", *map(str, arguments)]
    done = subprocess.run(command, env=given, capture_output=True, text=True, preexec_fn=before, timeout=300)
    assert "Traceback" not in done.stderr and "internal error" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def place(tmp_path: Path, model: Path) -> Path:
    shutil.copy(model, tmp_path / "net.onnx")
    return tmp_path


def test_the_cache_of_a_process_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither $HOME nor an entry of the user, as in a container with a random user."""
    for name in ("MLC_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert environment().cache_dir is None and environment().homeless
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which the specification says to ignore
    assert environment().homeless
    monkeypatch.setenv("XDG_CACHE_HOME", "/of/mine")
    assert environment().cache_dir == Path("/of/mine/mlc") and not environment().homeless
    monkeypatch.setenv("MLC_CACHE_DIR", "")
    assert environment().cache_dir is None and not environment().homeless


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root takes the identity of others")
def test_a_user_without_an_entry(place: Path) -> None:
    """One that can write the folder of its outputs, but not that of temporary files."""
    for folder in (place, *itertools.takewhile(lambda each: "pytest-" in str(each), place.parents)):  # pytest's own
        folder.chmod(0o755)
    (out := place / "out").mkdir()
    out.chmod(0o777)

    as_other = ("setpriv", "--reuid", "12345", "--clear-groups")
    if subprocess.run([*as_other, sys.executable, "-c", "import mlc.cli"], capture_output=True).returncode:
        pytest.skip("other users cannot run this Python and read mlc")
    homeless: dict[str, str | None] = {
        "HOME": None,
        "MLC_CACHE_DIR": None,
        "XDG_CACHE_HOME": None,
        "TMPDIR": "/nowhere",
    }
    status, said = mlc("compile", place / "net.onnx", "-o", out / "net.so", by=as_other, **homeless)
    assert status == 0 and "There is no home folder ($HOME), so nothing is cached; set MLC_CACHE_DIR" in said
    assert mlc("run", out / "net.so", "--random", "0", by=as_other, **homeless)[0] == 0
    status, said = mlc("cache", "list", by=as_other, **homeless)
    assert status == 0 and "there is no cache, see MLC_CACHE_DIR" in said

    (locked := place / "locked").mkdir(0o700)
    for command in ("compile", "check", "bench"):
        status, said = mlc(command, locked / "net.onnx", by=as_other, **homeless)
        assert status and "Permission denied" in said and "internal error" not in said, said


@pytest.mark.parametrize("cache", ["/etc/passwd", "/proc/nowhere", "relative"])
def test_a_cache_that_cannot_be_written(place: Path, cache: str) -> None:
    status, _ = mlc("-q", "compile", place / "net.onnx", "-o", place / "net.so", XDG_CACHE_HOME=cache,
                    HOME=str(place), MLC_CACHE_DIR=None)  # fmt: skip
    assert status == 0 and (place / "net.so").exists() and not Path("relative").exists()


@pytest.mark.parametrize(
    "limit, value, says",
    [
        (resource.RLIMIT_NOFILE, 8, "does not run: Too many open files"),
        (resource.RLIMIT_NOFILE, 10, "Too many open files"),
        (resource.RLIMIT_FSIZE, 8 * KIB, "ulimit -f unlimited"),
        (resource.RLIMIT_FSIZE, 40 * KIB, "File size limit exceeded"),
        (resource.RLIMIT_AS, 175_000 * KIB, "Allow more memory (ulimit -v)"),
    ],
)
def test_limits_of_a_shell(place: Path, limit: int, value: int, says: str) -> None:
    status, said = mlc("-q", "compile", place / "net.onnx", "-o", place / "net.so", MLC_CACHE_DIR="",
                       before=lambda: resource.setrlimit(limit, (value, value)), TMPDIR=str(place))  # fmt: skip
    assert status == 1 and says in said and not (place / "net.so").exists(), said
    assert "bug in mlc" not in said


def test_what_says_that_the_machine_is_at_its_limit() -> None:
    assert "ulimit -u" in str(of_machine(RuntimeError("can't start new thread")))
    assert of_machine(RuntimeError("another")) is None and of_machine(ImportError("no module")) is None
