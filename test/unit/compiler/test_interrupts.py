"""Ctrl-C while Python frees objects, or imports modules."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from mlc.cli import interrupt_again


class Freed:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_in_a_finalizer_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "unraisablehook", interrupt_again)
    with pytest.raises(KeyboardInterrupt):
        Freed()
        time.sleep(20)


def test_other_exceptions_of_finalizers_are_shown() -> None:
    code = (
        "import sys; from mlc.cli import interrupt_again; sys.unraisablehook = interrupt_again\n"
        "class Freed:\n"
        "    def __del__(self): raise ValueError('odd')\n"
        "Freed()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "ValueError: odd" in done.stderr


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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")
