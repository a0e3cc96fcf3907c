"""Kills a training run at random moments, with SIGKILL, and starts it again from its last checkpoint.

    python test/fuzz/kill_training.py --kills 1000 --seconds 180

The run writes a checkpoint after each step. After each kill every checkpoint must be whole, and at most the step under
way may be lost; at the end the state must have the bits of a run that nobody killed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from mlc import nn, optim, train
from mlc.nn.files import load_file


def trainer() -> Any:
    """Of a network with a running statistic, dropout, and an optimizer with a state."""
    nn.manual_seed(1)
    model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm(16), nn.relu, nn.Dropout(0.2), nn.Linear(16, 1))
    return train.Trainer(model, optim.adam(1e-2), lambda model, x, y: nn.mse_loss(model(x)[:, 0], y))


def data() -> train.ArrayData:
    x = np.random.Generator(np.random.Philox(2)).standard_normal((100, 6)).astype(np.float32)
    return train.ArrayData((x, np.sin(x.sum(1))), 16, seed=3)


def fit(folder: Path, steps: int) -> None:
    """Train with a checkpoint a step; after each, the number of the step is in ``folder/../done``."""
    done = os.open(folder.parent / "done", os.O_WRONLY | os.O_CREAT)
    trainer().fit(
        data(),
        steps,
        checkpoints=train.Checkpoints(folder, every=1),
        callback=lambda n, _: os.pwrite(done, f"{n - 1:9}".encode(), 0) and None,
        progress=False,
    )


def killed_once(folder: Path, steps: int, longest: float) -> bool:
    """Whether a run in a process of its own was killed before it had taken all steps."""
    child = os.fork()
    if not child:
        try:
            fit(folder, steps)
        finally:
            os._exit(0)
    time.sleep(random.uniform(0, longest))
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def check(folder: Path) -> int:
    """The last step that is saved: no step that was done before is lost, and each file is whole.

    The callback of step n runs before its checkpoint is written, so step n - 1 is on the disk.
    """
    saved = [int(path.stem.removeprefix("step-")) for path in folder.glob("step-*.safetensors")]
    for path in folder.glob("step-*.safetensors"):
        load_file(path)
    done = (folder.parent / "done").read_text() if (folder.parent / "done").exists() else ""
    assert max(saved, default=0) >= int(done or 0), f"step {done} was done, and {saved} are saved"
    return max(saved, default=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=180, help="end earlier after this time")
    parser.add_argument("--longest", type=float, default=0.6, help="seconds that a run has at most")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    random.seed(given.seed)
    with tempfile.TemporaryDirectory() as name:
        folder, whole = Path(name) / "run" / "checkpoints", Path(name) / "whole"
        folder.parent.mkdir()
        _in_a_process(lambda: fit_whole(whole, 1))  # compiles
        start, kills, step = time.monotonic(), 0, 0
        while (kills < given.kills or not step) and time.monotonic() - start < given.seconds:  # a busy machine is slow
            kills += killed_once(folder, 1_000_000, given.longest)
            step = check(folder)
        _in_a_process(lambda: fit_whole(whole, step))
        last = f"step-{step:09}.safetensors"
        killed, expected = (load_file(each / last) for each in (folder, whole))
        assert killed.keys() == expected.keys()
        assert all(np.array_equal(killed[name], expected[name]) for name in killed), "the bits differ"
        print(f"{kills} kills in {time.monotonic() - start:.0f} s, {step} steps: nothing lost, the same bits")


def fit_whole(folder: Path, steps: int) -> None:
    """Train without an end on the way."""
    trainer().fit(data(), steps, checkpoints=train.Checkpoints(folder, every=10**9), progress=False)


def _in_a_process(work: Any) -> None:
    """Threads of the compiler do not come along into processes that are forked later."""
    child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


if __name__ == "__main__":
    main()
