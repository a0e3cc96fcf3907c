"""What a shell hands down does not decide on tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

CODE = """
import os, signal, subprocess, sys
from surroundings import usual_surroundings
usual_surroundings()
ended = subprocess.run([sys.executable, "-c", "import signal; signal.raise_signal(signal.SIGTERM)"])
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, ended.returncode, oct(os.umask(0)))
print(os.environ.get("COLUMNS"), os.environ.get("FORCE_COLOR"))
"""


def test_what_a_shell_ignores_and_how_wide_it_is_are_forgotten() -> None:
    shell = f"trap '' INT TERM HUP; umask 077; exec {sys.executable} -c \"$CODE\""
    given = {"CODE": CODE, "PYTHONPATH": str(Path(__file__).parents[1]), "COLUMNS": "20", "FORCE_COLOR": "1"}
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, env={**os.environ, **given}, check=True)
    assert done.stdout.splitlines() == [f"True {-signal.SIGTERM} 0o22", "None None"]
