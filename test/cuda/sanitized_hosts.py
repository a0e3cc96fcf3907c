"""Models for a GPU whose host programs have sanitizers, on the fake driver, whose calls fail one after another.

``python sanitized_hosts.py FOLDER``; the driver is compiled into FOLDER. Memory that a model loses is an error too.
"""

# ruff: noqa: E402 - the sanitizer comes before all else

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "fuzz")]
from sanitized import restart

restart()
from fake_gpu import HERE, Gpu, build, random
from leaks import own_allocations
from test_cuda_runtime import loop_with_condition, mlp, nonzero

import mlc
import mlc.numpy as mnp
from mlc.errors import MlcError

OPTIONS: dict[str, Any] = {"target": "cuda:sm_90", "sanitize": "address,undefined"}
Run = Callable[[], object]


def models(folder: Path) -> Iterator[tuple[str, Run]]:
    """What runs one model: loads it, calls it for several sizes, and closes it."""
    given: list[tuple[Any, list[dict[str, Any]]]] = [
        (mlp, [{"x": random(n, 8)} for n in (3, 1, 9, 3)]),
        (loop_with_condition, [{"x": abs(random(4)), "limit": np.array(n, np.float32)} for n in (30, 3)]),
        (nonzero, [{"x": random(n), "v": random(n)} for n in (9, 5, 14)]),
    ]
    for make, feeds in given:
        path = folder / f"{make.__name__}.so"
        with mlc.compile(make(), **OPTIONS) as net:
            net.save(path)
        yield path.stem, partial(run_model, path, feeds)
    step = mlc.jit(lambda w, m, x: (w + mnp.sum(m) * x, m * 2, mnp.sum(x)), state=("w", "m"), **OPTIONS)
    step.save(folder / "step.so", random(3), random(2), random(3))
    yield "step", partial(run_model, folder / "step.so", [{"x": random(3)}, {"x": random(3)}])


def run_model(path: Path, feeds: list[dict[str, Any]]) -> None:
    with mlc.load(path) as net:
        for feed in feeds:
            net.run(feed)
        net.profile(**feeds[0])
        for name in net.states:
            net.set_state(name, net.get_state(name))


def every_failure(gpu: Gpu, run: Run) -> int:
    """Runs with each call of the driver failing in turn; how many failed."""
    failed = call = 0
    while True:
        call += 1
        before = gpu.counts()
        gpu.fail_at(call)
        try:
            run()
        except MlcError:
            failed += 1
        gpu.fail_at(0)
        if call > sum(count for name, count in gpu.since(before).items() if name.startswith("cu")):
            return failed


def main(folder: Path) -> None:
    driver, emulation = build(folder)
    os.environ |= {"MLC_NVCC": str(HERE / "fake_nvcc.py"), "FAKE_EMULATION": str(emulation)}
    gpu, given = Gpu(driver, emulation), list(models(folder))
    with own_allocations():
        for name, run in given:
            run()
            print(name, every_failure(gpu, run), flush=True)
    assert gpu.live() == {}, gpu.live()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
