"""Checkpoints that are damaged, half there, or cannot be written."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlc import train
from mlc.errors import InputError, OutputError

STATE = {"step": np.int64(0), "weights": np.arange(1000, dtype=np.float32)}


def saved(folder: Path, *steps: int) -> train.Checkpoints:
    made = train.Checkpoints(folder, every=1, keep=5)
    for step in steps:
        made.save(step, {"step": np.int64(step), "weights": STATE["weights"] + step})
    return made


def flipped(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("at", [-1, -2000, 20, 0], ids=["last byte", "middle", "header", "length"])
def test_a_flipped_byte_is_noticed_and_the_checkpoint_before_is_taken(tmp_path: Path, at: int) -> None:
    made = saved(tmp_path, 1, 2, 3)
    flipped(made.path(3), at)
    with pytest.warns(UserWarning, match="step-000000003.*The checkpoint before it is taken"):
        assert int(made.load(STATE)["step"]) == 2
    with pytest.raises(InputError, match="step-000000003"):
        made.load(STATE, 3)
    np.testing.assert_array_equal(made.load(STATE, 1)["weights"], STATE["weights"] + 1)


@pytest.mark.parametrize("size", [0, 5, 100, 3000])
def test_half_a_file(tmp_path: Path, size: int) -> None:
    made = saved(tmp_path, 1, 2)
    os.truncate(made.path(2), size)
    with pytest.warns(UserWarning, match="before it is taken"):
        assert int(made.load(STATE)["step"]) == 1
    os.truncate(made.path(1), size)
    with pytest.warns(UserWarning), pytest.raises(InputError, match="step-000000001"):
        made.load(STATE)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = saved(tmp_path, 1)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OutputError, match="No space left on device.*Free disk space"):
        saved(tmp_path, 2)
    assert made.steps() == [1] and len(list(tmp_path.iterdir())) == 1
