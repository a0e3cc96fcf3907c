"""Time on the device: of kernels, not of the CPU that enqueues them."""

from __future__ import annotations

import time
from collections.abc import Callable

from mlc.tools.cuda_device import Device

LONG = 0.1  # seconds of runs together
LEAST, ENOUGH = 3, 100e-6  # runs; seconds of a delay beside those of the CPU


def timed(device: Device, run: Callable[[], object], runs: int) -> float:
    """Seconds of a run on the device, of mlc or a peer: of at most so many, after five that do not count.

    The device first waits as long as the CPU takes twice to enqueue them all, so that it has them one after another.
    """
    device.seconds(run, 2)
    each = device.seconds(run, 1)
    count = max(min(runs, int(LONG / max(each, 1e-9))), min(runs, LEAST))
    return device.seconds(run, count, ENOUGH + 2 * count * enqueued(run))


def enqueued(run: Callable[[], object]) -> float:
    """Seconds of the CPU's clock that a call takes."""
    start = time.perf_counter()
    run()
    run()
    return (time.perf_counter() - start) / 2
