from __future__ import annotations

import ctypes
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mlc import target as targets
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain import c_compiler, link
from mlc.driver.toolchain.c_compiler import KERNELS, Toolchain, find
from mlc.driver.toolchain.c_sources import object_key
from mlc.driver.toolchain.link import flags_of, link_library
from mlc.errors import ToolchainError

CPU = targets.get("cpu")
SOURCES = {
    "twice.h": "int twice(int);\n",
    "a.c": '#include "twice.h"\nint twice(int x) { return 2 * x; }\nconst char *where(void) { return __FILE__; }\n',
    "b.c": '#include "twice.h"\n__attribute__((visibility("default"))) int four(int x) { return twice(twice(x)); }\n',
}
KERNEL = '#define MLC_PARTS 0\n#include "mlc_kernel.h"\n'


def build(path: Path, sources: dict[str, str] = SOURCES, cache: Cache | None = None) -> bytes:
    link_library(sources, path, CPU, find(None, CPU), cache or Cache(None))
    return path.read_bytes()


def test_the_library_works_and_exports_only_what_it_should(tmp_path: Path) -> None:
    build(tmp_path / "a.so")
    assert ctypes.CDLL(str(tmp_path / "a.so")).four(5) == 20
    assert not hasattr(ctypes.CDLL(str(tmp_path / "a.so")), "twice")


def test_the_bytes_depend_on_the_input_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path / "cache")
    first = build(tmp_path / "first.so")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    shuffled = dict(reversed(SOURCES.items()))
    results = [
        build(tmp_path / "x.so", shuffled),
        build(tmp_path / "y.so", cache=cache),
        build(tmp_path / "z.so", cache=cache),
    ]
    assert all(result == first for result in results)
    assert str(tmp_path).encode() not in first


def test_objects_are_reused_until_a_header_they_include_changes(tmp_path: Path) -> None:
    flags, version = ("-O2",), "cc 1"
    key = object_key("a.c", SOURCES, flags, version)
    assert key == object_key("a.c", {**SOURCES, "b.c": "int other;"}, flags, version)
    changed = [
        object_key("a.c", {**SOURCES, "twice.h": "long twice(int);\n"}, flags, version),
        object_key("a.c", {**SOURCES, "a.c": SOURCES["a.c"] + " "}, flags, version),
        object_key("a.c", SOURCES, ("-O3",), version),
        object_key("a.c", SOURCES, flags, "cc 2"),
        object_key("b.c", SOURCES, flags, version),
    ]
    assert len({key, *changed}) == 6


def test_an_object_depends_on_the_headers_of_its_headers() -> None:
    sources = {"a.c": '#include "b.h"', "b.h": '#include "c.h"', "c.h": "int c;"}
    keys = {object_key("a.c", {**sources, "c.h": text}, (), "cc 1") for text in ("int c;", "long c;")}
    assert len(keys) == 2


def test_a_cached_object_is_not_compiled_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = Cache(tmp_path / "cache")
    build(tmp_path / "a.so", cache=cache)
    commands: list[list[str]] = []
    original = link._Build._run
    monkeypatch.setattr(link._Build, "_run", lambda self, command: commands.append(command) or original(self, command))
    build(tmp_path / "b.so", cache=cache)
    assert len(commands) == 1 and "-shared" in commands[0]
    build(tmp_path / "c.so", {**SOURCES, "a.c": SOURCES["a.c"].replace("2 * x", "x + x")}, cache)
    assert sum("-c" in command for command in commands) == 1


def test_a_failing_compiler_leaves_a_reproducer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ToolchainError, match="a.c:1:") as caught:
        build(tmp_path / "a.so", {"a.c": "int f( {"})
    assert not (tmp_path / "a.so").exists()
    script = re.search(r"`sh (.*)` repeats", str(caught.value))
    assert script is not None
    again = subprocess.run(["sh", *shlex.split(script[1])], capture_output=True, text=True)
    assert again.returncode != 0 and "error" in again.stderr
    assert [path.name for path in tmp_path.iterdir()] == [Path(script[1]).parent.name]


def test_an_interrupted_compiler_is_no_failure_of_its_own(tmp_path: Path) -> None:
    compiler = tmp_path / "interrupted"
    dies = "import os, signal; signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGINT)"
    compiler.write_text(f"#!{sys.executable}\n{dies}\n")  # a job in the background of a shell ignores the signal
    compiler.chmod(0o755)
    interrupted = Toolchain((str(compiler),), "1")
    with pytest.raises(KeyboardInterrupt):
        link_library({"a.c": "int a;\n"}, tmp_path / "a.so", CPU, interrupted, Cache(None))


def test_a_compiler_that_does_not_run_is_named() -> None:
    with pytest.raises(ToolchainError, match="no-such-compiler"):
        find("no-such-compiler -m64", CPU)


def test_without_any_compiler_the_error_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(c_compiler, "find_spec", lambda name: None)
    with pytest.raises(ToolchainError, match=r"mlc\[cc\]"):
        find(None, CPU)


def test_the_runtime_is_compiled_for_any_cpu_of_the_architecture() -> None:
    found = find(None, CPU)
    assert not set(CPU.cflags) & set(flags_of("mlc_runtime.c", "", CPU, found))
    assert set(CPU.cflags) <= set(flags_of("kernels.c", KERNEL, CPU, found))


def test_flags_of_the_environment_are_the_last_and_part_of_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects and artifacts are then others in the cache, and the last -O counts."""
    plain = find(None, CPU)
    monkeypatch.setenv("MLC_CFLAGS", "-O1 '-DNAME=a b'")
    changed = find(None, CPU)
    assert changed.flags(CPU, ()) == (*plain.flags(CPU, ()), "-O1", "-DNAME=a b")
    assert changed.version == f"{plain.version} -O1 '-DNAME=a b'"


def test_the_host_program_is_optimized_less_than_kernels() -> None:
    found = find(None, CPU)
    units = {"model.c": '#include "mlc_runtime.h"\n', "kernels_0.c": '#include "mlc_library.h"\n', "mlc_runtime.c": ""}
    levels = {u: [f for f in flags_of(u, text, CPU, found) if f.startswith("-O")] for u, text in units.items()}
    assert levels == {"model.c": ["-O1"], "kernels_0.c": ["-O2"], "mlc_runtime.c": ["-O2"]}


def test_generated_kernels_get_the_passes_that_they_gain_by_if_the_compiler_has_them() -> None:
    found = find(None, CPU)
    has_them = CPU.arch == "x86_64" and "clang" not in found.version
    assert (found.level_of_kernels(CPU) == KERNELS) == has_them
    assert ("-fexpensive-optimizations" in flags_of("kernels_0.c", KERNEL, CPU, found)) == has_them
    assert found.level_of_kernels(targets.get("aarch64")) == ("-O2",)


def test_compilers_that_would_ignore_the_passes_of_kernels_get_the_usual_level() -> None:
    pytest.importorskip("ziglang")
    assert find(f"{sys.executable} -m ziglang cc", CPU).level_of_kernels(CPU) == ("-O2",)


def test_generated_code_is_never_compiled_with_fast_math() -> None:
    flags = flags_of("kernels.c", KERNEL, CPU, find(None, CPU))
    assert {"-ffp-contract=fast", "-fvisibility=hidden"} <= set(flags)
    assert not any("fast-math" in flag or "unsafe" in flag for flag in flags)


def test_zig_serves_every_target(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    command = f"{sys.executable} -m ziglang cc"
    for name in ("cpu", "x86-64-v3", "aarch64"):
        target = targets.get(name)
        for copy in ("a.so", "b.so"):
            link_library(SOURCES, tmp_path / copy, target, find(command, target), Cache(None))
        assert (tmp_path / "a.so").read_bytes() == (tmp_path / "b.so").read_bytes()


def test_without_a_cross_compiler_the_hint_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlc.driver.toolchain.c_compiler._candidates", lambda target: iter(()))
    foreign = targets.get("aarch64" if CPU.arch == "x86_64" else "x86-64")
    with pytest.raises(ToolchainError, match=f"There is no C compiler for {foreign.arch}") as caught:
        find(None, foreign)
    assert f"Install {foreign.arch}-linux-gnu-gcc or clang" in str(caught.value)
