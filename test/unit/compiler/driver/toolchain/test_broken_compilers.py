"""C compilers that do not do their work: each is an error that names the compiler, what happened, and a way out."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from mlc import target as targets
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain import processes
from mlc.driver.toolchain.c_compiler import Toolchain, find
from mlc.driver.toolchain.failures import how_it_ended
from mlc.driver.toolchain.link import link_library
from mlc.errors import ToolchainError

CPU = targets.get("cpu")
SOURCES = {"a.c": '__attribute__((visibility("default"))) int net_abi_version(void) { return 2; }\n'}
VERSION = 'if [ "$1" = --version ]; then echo "fake 1"; exit 0; fi\n'
REAL = 'gcc "$@"; status=$?\n'
OUT = 'for word; do [ "$last" = -o ] && out=$word; last=$word; done\n'
LIBRARY, OBJECT = '[ "$out" = result ] && ', '[ "$out" != result ] && '
END = "exit $status\n"

BROKEN = {
    "writes nothing": ("exit 0", "no .*.o"),
    "writes empty files": (OUT + ': > "$out"', ".o is empty"),
    "writes text": (OUT + 'echo hello > "$out"', ".o is not an object file"),
    "makes a folder": (OUT + 'mkdir "$out"', "no .*.o"),
    "writes empty objects": (REAL + OUT + OBJECT + ': > "$out"\n' + END, ".o is empty"),
    "cuts objects": (REAL + OUT + OBJECT + 'truncate -s 200 "$out"\n' + END, ".o is .*truncated"),
    "cuts the library": (REAL + OUT + LIBRARY + 'truncate -s 3000 "$out"\n' + END, "result is .*truncated"),
    "links text": (REAL + OUT + LIBRARY + 'echo hello > "$out"\n' + END, "result is not a shared library"),
    "links an object": (REAL + OUT + LIBRARY + 'cp a.c.o "$out"\n' + END, "result is not a shared library"),
    "links another": (
        REAL + OUT + LIBRARY + 'gcc -shared -fPIC -x c /dev/null -o "$out"\n' + END,
        "result does not export net_abi_version",
    ),
    "of another machine": (
        REAL + OUT + LIBRARY + "printf '\\001' | dd of=result bs=1 seek=18 conv=notrunc status=none\n" + END,
        "result is for ELF machine 1, not for ",
    ),
    "fails silently": ("exit 3", "exit status 3"),
    "fails without the word error": ("echo ld: cannot find -lm >&2; exit 1", "ld: cannot find -lm"),
    "crashes": ("kill -SEGV $$", "it was ended by SIGSEGV"),
    "is killed": ("kill -KILL $$", "it was ended by SIGKILL, as of no memory"),
}


def compiler(folder: Path, script: str, name: str = "cc") -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("MLC_CFLAGS", raising=False)


@pytest.mark.skipif(not shutil.which("gcc"), reason="the compilers call gcc")
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_compiler_is_an_error(kind: str, tmp_path: Path) -> None:
    script, says = BROKEN[kind]
    cc, cache = compiler(tmp_path, VERSION + script), Cache(tmp_path / "cache")
    with pytest.raises(ToolchainError, match=f"The C compiler {cc} failed: .*{says}") as caught:
        link_library(SOURCES, tmp_path / "net.so", CPU, find(str(cc), CPU), cache, exports=["net_abi_version"])
    assert "run.sh` repeats it" in str(caught.value) and "mlc compile" not in str(caught.value)
    assert not (tmp_path / "net.so").exists()
    for entry in (tmp_path / "cache").rglob("object.o"):  # no broken object is kept
        assert entry.read_bytes()[:4] == b"\x7fELF" and entry.stat().st_size > 200


@pytest.mark.parametrize(
    "script, says",
    [
        ("exit 0", "--version` prints nothing"),
        ("echo no licence >&2; exit 3", "no licence"),
        ("exit 4", "exit status 4"),
        ("kill -SEGV $$", "it was ended by SIGSEGV"),
        ("sleep 100", "--version` does not end in 0.2 s"),
    ],
)
def test_a_compiler_without_a_version(script: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 0.2)
    start, cc = time.monotonic(), compiler(tmp_path, script)
    with pytest.raises(ToolchainError, match=f"The C compiler '{cc}' does not run: .*{says}.* Check --cc, or"):
        find(str(cc), CPU)
    assert time.monotonic() - start < 20  # `sleep` ends with the script that started it


@pytest.mark.parametrize(
    "made, says", [("absent", "No such file"), ("plain", "Permission denied"), (".", "Permission")]
)
def test_what_is_no_compiler(made: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("no program")
    with pytest.raises(ToolchainError, match=f"does not run: .*{says}"):
        find(str(tmp_path / made), CPU)


def test_a_version_need_not_be_text(tmp_path: Path) -> None:
    found = find(str(compiler(tmp_path, r"printf '\n\377\376\033[1m 1\n'")), CPU)
    assert found.version.isprintable() and found.version.endswith("[1m 1")


@pytest.mark.skipif(not shutil.which("gcc"), reason="the compilers call gcc")
@pytest.mark.parametrize("command", ["./cc", "tools/cc", "my tools/cc", "'my tools/cc' -g0", "cc"])
def test_any_path_of_a_compiler(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative one, of this folder though commands run in another; one with spaces; one on a relative PATH."""
    for folder in (tmp_path, tmp_path / "tools", tmp_path / "my tools"):
        folder.mkdir(exist_ok=True)
        compiler(folder, 'exec gcc "$@"')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")
    link_library(SOURCES, tmp_path / "net.so", CPU, find(command, CPU), Cache(None), exports=["net_abi_version"])
    assert (tmp_path / "net.so").exists()


def test_a_compiler_that_is_gone_meanwhile(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="The C compiler /gone/cc cannot be started: No such file") as caught:
        link_library(SOURCES, tmp_path / "net.so", CPU, Toolchain(("/gone/cc",), "1"), Cache(None))
    assert "Check --cc, or $CC" in str(caught.value)


def test_how_a_process_ended() -> None:
    assert [how_it_ended(status) for status in (1, -11, -99)] == [
        "exit status 1", "it was ended by SIGSEGV", "it was ended by signal 99",
    ]  # fmt: skip
