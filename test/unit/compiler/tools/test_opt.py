"""mlc-opt: a wrong argument, file or target is a message, and no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlc.tools.opt import main


@pytest.mark.parametrize("arguments, says", [
    (["no-such.mlir"], "mlc-opt: error: [Errno 2] No such file or directory: 'no-such.mlir'"),
    (["-p", "no-such-pass"], "no-such-pass"),
    (["-p", "fold-constants{limt=3}"], "limt"),
    (["-p", "fuse-maps{"], "Expected argument name here"),
    (["-p", "set-launch-geometry"], "A pass for GPUs cannot run on a module for 'x86-64-v4'. Give --for-target cuda"),
    (["--for-target", "z80"], "Known targets are"),
])
def test_errors_are_messages(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("MLC_DEBUG", raising=False)
    (tmp_path / "empty.mlir").write_text("builtin.module {}" if "set-launch-geometry" in arguments else "")
    with pytest.raises(SystemExit) as caught:
        main([*arguments, str(tmp_path / "empty.mlir")] if arguments[0].startswith("-") else arguments)
    assert caught.value.code == 1
    assert says in capsys.readouterr().err
