"""Commands of the toolchain end when this process does."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from mlc.driver.toolchain import processes


class EndsMeanwhile(subprocess.Popen[str]):
    """A command that has started when this process ends, and is not yet known to run."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        processes.end()


def test_a_command_that_starts_while_the_process_ends_is_interrupted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "_ended", [])
    monkeypatch.setattr(processes.subprocess, "Popen", EndsMeanwhile)
    with pytest.raises(KeyboardInterrupt):
        processes.run(["sleep", "5"], tmp_path)
    with pytest.raises(KeyboardInterrupt):  # and none starts after it
        processes.run(["true"], tmp_path)
