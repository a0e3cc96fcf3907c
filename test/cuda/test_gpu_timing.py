"""The time of kernels on the device, on the fake driver, whose clock counts launches alone."""

from __future__ import annotations

import time

import pytest
from fake_gpu import Gpu, needed

from benchmarks.gpu.timing import timed
from mlc.tools import gpu_delay
from mlc.tools.cuda_device import Device

pytestmark = needed


def test_a_delay_is_enqueued_before_the_first_event(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """It covers the time of the CPU, is not counted, and its kernel is loaded once."""
    device, asked, calls = Device(), list[float](), list[str]()
    delay, call = gpu_delay.Delay.__call__, Device.call
    monkeypatch.setattr(gpu_delay.Delay, "__call__", lambda self, s: asked.append(s) or delay(self, s))
    monkeypatch.setattr(Device, "call", lambda self, name, *given: calls.append(name) or call(self, name, *given))

    def run() -> None:
        time.sleep(1e-3)
        device._delay(0.0)  # a kernel of one block: 1.01 us of the fake driver's clock

    for _ in range(2):
        assert timed(device, run, 10) == pytest.approx(1.01e-6)
    own = [seconds for seconds in asked if seconds]
    assert len(own) == 2 and all(2 * 10 * 1e-3 < seconds < 1 for seconds in own)
    last = len(calls) - calls[::-1].index("cuEventCreate")
    assert calls[last : last + 3] == ["cuLaunchKernel", "cuEventRecord", "cuLaunchKernel"]
    assert calls.count("cuModuleLoadData") == 1
    device.close()


def test_long_runs_are_few(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    device, counts = Device(), list[int]()
    monkeypatch.setattr(device, "seconds", lambda run, runs, delay=0.0: counts.append(runs) or 0.02)
    timed(device, lambda: None, 50)
    timed(device, lambda: None, 2)
    device.close()
    assert counts == [2, 1, 5, 2, 1, 2]
