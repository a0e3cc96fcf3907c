"""``mlc tune`` on a GPU whose events say that a block takes 10 ns, so that the best schedule has the fewest blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from fake_gpu import Gpu, model, random
from test_host_program import TARGET

import mlc
from mlc.errors import InputError
from mlc.tuning import cuda_device, tuner


def product() -> onnx.ModelProto:
    return model("net (float[70,24] x) => (float[70,66] y) { c = MatMul(x, w)\n y = Relu(c) }", w=random(24, 66))


def test_the_schedule_with_the_best_event_times_wins(gpu: Gpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuner, "PAIRS_SECONDS", 0.0)
    monkeypatch.setattr(tuner, "PROFILE_SECONDS", 0.0)
    monkeypatch.setattr(tuner, "CANDIDATES", 3)
    source, file = product(), tmp_path / "net.schedules"
    found = mlc.tune(source, seconds=100, target=TARGET)
    file.write_text(found.text())
    assert found.gain > 0 and len(found.tuned) == 1
    x = random(70, 24)
    with mlc.compile(source, target=TARGET) as chosen, mlc.compile(source, target=TARGET, schedule=file) as tuned:
        np.testing.assert_allclose(tuned(x), chosen(x), rtol=1e-5, atol=1e-6)
        times = [sum(ns for _, ns in net.profile(x=x)) for net in (chosen, tuned)]
        assert times[1] < times[0]
        blocks = [int(net.signature["kernels"][0]["grid"]) for net in (chosen, tuned)]
        assert blocks[1] < blocks[0] and times[0] - times[1] == 10 * (blocks[0] - blocks[1])


def test_without_a_gpu_tuning_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_device, "missing", lambda: "there is no CUDA driver on this machine")
    with pytest.raises(InputError, match="are measured on a GPU, and there is no CUDA driver on this machine"):
        mlc.tune(product(), seconds=1, target=TARGET)


def test_a_driver_without_a_device_is_no_gpu(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cuda_device.missing() is None
    monkeypatch.setenv("FAKE_CUDA_DEVICES", "0")
    assert cuda_device.missing() == "the CUDA driver finds no device on this machine"
