"""Options and machines that do not do: a short message; nothing half-written; no traceback."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from refusals import Place, Refuses, add_model, check_message, save, wide_model

# ---- options


@pytest.mark.parametrize("dim", ["n", "n=", "=4", "n=-1", "n=0", "n=x", "n=1.5", "m=3"])
def test_wrong_dimension_options(place: Place, refuses: Refuses, dim: str) -> None:
    refuses("compile", save(place, add_model()), "--dim", dim, says=(dim.partition("=")[0],))


@pytest.mark.parametrize("command", ["run", "bench"])
def test_a_dimension_that_no_memory_holds(place: Place, refuses: Refuses, command: str) -> None:
    says = ("input 'x' of the shape (100000000000, 4)", "3,200.0 GB", "Give a smaller n by --dim")
    refuses(command, save(place, add_model()), "--random", "0", "--dim", "n=100000000000", says=says)


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--target", "z80", "x86-64-v3"),
        ("--numerics", "sloppy", "strict"),
        ("--emit", "nonsense", "graph"),
        ("--schedule", "no-such-file", "no-such-file"),
        ("--peak-memory", "200Q", "--peak-memory 200M"),
        ("--peak-memory", "-1", "--peak-memory 200M"),
        ("--target", "cuda:sm_37", "cuda:sm_80"),
        ("--target", "cuda:sm_86", "GPUs of sm_86 run the code for cuda:sm_80"),
        ("--target", "cuda:sm_120", "cuda:sm_90"),
    ],
)
def test_wrong_options(place: Place, refuses: Refuses, option: str, value: str, says: str) -> None:
    refuses("compile", save(place, add_model()), option, value, says=(value, says))


def test_more_threads_than_a_model_may_have(place: Place, refuses: Refuses) -> None:
    says = ("9999999999999 threads", "Give 1 to 1024")
    refuses("run", save(place, add_model()), "--random", "0", "--threads", "9999999999999", says=says)


@pytest.mark.parametrize("command", ["run", "bench"])
def test_a_seed_below_zero(place: Place, refuses: Refuses, command: str) -> None:
    refuses(command, save(place, add_model()), "--random", "-1", says=("--random", "greater than or equal to 0"))


# ---- the machine


def test_an_output_folder_that_does_not_exist(place: Place, refuses: Refuses) -> None:
    refuses("compile", save(place, add_model()), "-o", "no/such/m.so", says=("no/such",), code=1)


def mlc_process(
    *arguments: str | Path, limit: int | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, where no file may grow beyond ``limit`` bytes."""

    def restrict() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "-c", "from mlc.cli import main; main()", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, preexec_fn=restrict, timeout=300
    )


@pytest.mark.parametrize("warm", [True, False])
def test_a_full_disk(place: Place, warm: bool) -> None:
    """The limit on file sizes stands in for a disk that has no room for the weights."""
    path = save(place, wide_model())
    if warm:
        assert mlc_process("compile", path, "-o", place.inputs).returncode == 0
    result = mlc_process("compile", path, limit=300_000)
    assert result.returncode == 1
    message = "\n".join(line for line in result.stderr.splitlines() if not line.startswith("mlc: warning"))
    check_message(message, ("File too large",) if warm else ())
    assert not any(place.work.iterdir())


@pytest.mark.parametrize("command", ["compile --emit graph", "inspect", "run --random 0"])
def test_standard_output_on_a_full_disk(place: Place, command: str) -> None:
    """``/dev/full`` takes nothing."""
    given = [sys.executable, "-m", "mlc", *command.split(), str(save(place, add_model()))]
    with open("/dev/full", "w") as full:
        result = subprocess.run(given, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
    assert result.returncode == 1
    check_message(result.stderr, ("No space left on device",))


def test_no_c_compiler(place: Place) -> None:
    empty = place.inputs / "bin"
    empty.mkdir()
    (empty / "ziglang.py").write_text("raise SystemExit(1)\n")  # in place of the wheel that has a compiler
    result = mlc_process("compile", save(place, add_model()), PATH=str(empty), PYTHONPATH=str(empty))
    assert result.returncode == 1
    check_message(result.stderr, ("no C compiler", "gcc", "mlc[cc]", "$CC"))
    assert place.untouched()


def test_a_c_compiler_that_fails(place: Place) -> None:
    script = place.inputs / "cc"
    script.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo fake 1 && exit\necho "m.c:1: error: broken" >&2\nexit 1\n'
    )
    script.chmod(0o755)
    result = mlc_process("compile", save(place, add_model()), CC=str(script))
    assert result.returncode == 1
    check_message(result.stderr, ("error: broken", "run.sh"))
    assert not any(place.work.iterdir())


@pytest.mark.parametrize("cache", ["cache", ""])
def test_a_c_compiler_that_makes_nothing(place: Place, cache: str) -> None:
    script = place.inputs / "cc"
    script.write_text("#!/bin/sh\n[ $1 = --version ] && echo fake 1\nexit 0\n")
    script.chmod(0o755)
    folder = cache and str(place.inputs / cache)
    result = mlc_process("compile", save(place, add_model()), CC=str(script), MLC_CACHE_DIR=folder)
    assert result.returncode == 1
    check_message(result.stderr, (f"{script} failed", ".o", "run.sh"))
    assert not any(place.work.iterdir())


def test_a_c_compiler_with_a_quotation_that_does_not_end(place: Place, refuses: Refuses) -> None:
    refuses("compile", save(place, add_model()), "--cc", "gcc '", says=("'gcc '' does not run", "--cc"), code=1)


def test_a_read_only_cache_only_warns(place: Place) -> None:
    locked = place.inputs / "locked"
    locked.mkdir(mode=0o555)
    cache = "/proc/self/mlc" if os.geteuid() == 0 else str(locked)  # no folder is read-only to root
    result = mlc_process("compile", save(place, add_model()), MLC_CACHE_DIR=cache)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("warning") == 1 and "Traceback" not in result.stderr
    assert sorted(p.name for p in place.work.iterdir()) == ["m.h", "m.so"]
    assert not any(place.temporary.iterdir())


def test_debug_shows_the_traceback(place: Place) -> None:
    result = mlc_process("compile", place.inputs / "none.onnx", "--debug")
    assert result.returncode == 1 and "Traceback" in result.stderr
