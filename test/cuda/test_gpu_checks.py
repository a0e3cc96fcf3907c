"""What ``python -m benchmarks.gpu`` checks first, on the fake driver."""

from __future__ import annotations

import pytest
from fake_gpu import Gpu, needed

from benchmarks.gpu import checks
from mlc.tools.cuda_device import Device

pytestmark = needed


def test_the_simplest_kernel_and_the_machine(gpu: Gpu) -> None:
    device = Device()
    ((name, measure),) = checks.first_kernel(device, "cuda:sm_90")
    assert measure() == {"what": name, "host": True, "device": True, "right": True}
    about = checks.machine(device)
    device.close()
    assert (about["device"], about["architecture"]) == ("Fake GPU", "sm_90")
    assert checks.target_of("sm_90") == "cuda:sm_90" and checks.target_of("sm_86") == "cuda"


def test_kernels_that_are_wrong_are_said(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "SUM", checks.SUM.replace("Add", "Sub"))
    device = Device()
    ((_, measure),) = checks.first_kernel(device, "cuda:sm_90")
    assert measure()["right"] is False
    device.close()
