"""Ctrl-C while Python frees objects, imports modules, runs the C compiler or ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mlc import target as targets
from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain.c_compiler import Toolchain
from mlc.driver.toolchain.link import link_library
from mlc.interrupts import handled


class Freed:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def output_of(code: str, status: int = 0) -> str:
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", code], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def test_an_interrupt_in_a_finalizer_is_not_lost() -> None:
    with pytest.raises(KeyboardInterrupt), handled():
        Freed()
        time.sleep(20)


def test_other_exceptions_of_finalizers_are_shown() -> None:
    says = output_of(
        "from mlc.interrupts import handled\n"
        "class Freed:\n"
        "    def __del__(self): raise ValueError('odd')\n"
        "with handled(): Freed()"
    )
    assert "ValueError: odd" in says


def test_an_interrupt_during_an_import_comes_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = "import signal\nsignal.raise_signal(signal.SIGINT)\nwhole = True\n"
    (tmp_path / "interrupted_import.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyboardInterrupt), handled():
        import interrupted_import  # type: ignore[import-not-found]

        time.sleep(20)
    assert interrupted_import.whole


def test_handlers_are_those_of_before() -> None:
    def of_now() -> list[object]:
        return [signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGALRM), sys.unraisablehook]

    before = of_now()
    with handled():
        assert of_now() != before
    assert of_now() == before


def test_a_process_that_ignores_interrupts_goes_on() -> None:
    code = (
        "import signal\nfrom mlc.interrupts import handled\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "with handled(): signal.raise_signal(signal.SIGINT)\nprint('here')"
    )
    assert output_of(code) == "here\n"


def test_an_interrupt_while_the_command_line_is_imported() -> None:
    code = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'mlc.cli': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from mlc.__main__ import main\n"
        "main()"
    )
    assert output_of(code, 130) == ""


def test_a_second_interrupt_at_the_end_is_ignored() -> None:
    code = (
        "import atexit, signal, sys\n"
        "atexit.register(signal.raise_signal, signal.SIGINT)\n"
        "from mlc.__main__ import main\n"
        "sys.argv = ['mlc', '--version']\n"
        "main()"
    )
    says = output_of(code)
    assert says.startswith("mlc ") and says.count("\n") == 1


def test_an_interrupt_among_the_nodes_of_isl_leaves_it_whole() -> None:
    """A function that isl calls must not raise: its exception is lost, and a node is freed twice."""
    code = (
        "import signal, islpy as isl\n"
        "from mlc.passes.loops.index import isl_ast\n"
        "build = isl.AstBuild.from_context(isl.Set('{ : }'))\n"
        "domain = '{A[i] : 0 <= i < 10 or 20 <= i < 30; B[i]: i = 4}'\n"
        "node = build.node_from_schedule(isl.Schedule('{domain: \"%s\"}' % domain))\n"
        "assert isl_ast.tiles_in(node) == {'A', 'B'}\n"
        "class Kinds:\n"
        "    def __getattr__(self, name): signal.raise_signal(signal.SIGINT)\n"
        "isl.ast_node_type = Kinds()\n"
        "for _ in range(50):\n"
        "    try: isl_ast.tiles_in(node)\n"
        "    except KeyboardInterrupt: continue\n"
        "    raise SystemExit('the interrupt is lost')\n"
        "print(node.get_type())"
    )
    assert "user" not in output_of(code).splitlines()[:-1]


def test_an_interrupt_ends_the_c_compiler_at_once(tmp_path: Path) -> None:
    """Also where the signal reaches this process alone, as of `kill -INT`."""
    compiler = tmp_path / "slow"
    compiler.write_text('#!/bin/sh\ncase "$*" in *" -c "*) exec sleep 30;; esac\n')
    compiler.chmod(0o755)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        link_library({}, tmp_path / "a.so", targets.get("cpu"), Toolchain((str(compiler),), "1"), Cache(None))
    assert time.monotonic() - start < 10


def test_a_second_interrupt_does_not_keep_files_from_deletion() -> None:
    with pytest.raises(KeyboardInterrupt, match="first"), handled():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)
            raise KeyboardInterrupt("first") from None
