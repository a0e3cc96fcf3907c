"""The first random graphs of products on an emulated GPU; ``fuzz_gpu.py`` compares as many others as one likes."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from fake_gpu import Gpu
from fuzz_gpu import KINDS, difference

from mlc.target import GPUS


@pytest.mark.parametrize("seed", range(8))
def test_a_random_graph_agrees_with_the_cpu(seed: int, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CUDA_ARCHITECTURE", "90")  # and back, after the graph's own
    assert difference(seed, size=4) == "", f"python test/cuda/fuzz_gpu.py --count 1 --size 4 --seed {seed}"


@pytest.mark.parametrize("seed", range(4))
def test_random_schedules_agree_with_the_cpu(seed: int, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CUDA_ARCHITECTURE", "90")
    for name, target in [*GPUS.items()]:
        monkeypatch.setitem(GPUS, name, target)  # and back, after those with few multiprocessors
    found = difference(seed, "tiles", size=2, target="cuda:sm_90", schedules=True)
    again = (
        f"python test/cuda/fuzz_gpu.py --kind tiles --schedules --target cuda:sm_90 --count 1 --size 2 --seed {seed}"
    )
    assert found == "", again


@pytest.mark.parametrize("seed", range(3))
def test_gradients_of_a_random_network_agree_with_torch(seed: int, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("FAKE_CUDA_ARCHITECTURE", "90")
    found = difference(seed, "training", size=3)
    assert found == "", f"python test/cuda/fuzz_gpu.py --kind training --size 3 --count 1 --seed {seed}"


@pytest.mark.parametrize("kind", ["products", "tiles", "images"])
@pytest.mark.parametrize("seed", range(30))
def test_random_products_are_valid(seed: int, kind: Any) -> None:
    model = KINDS[kind](seed)
    onnx.checker.check_model(model, full_check=True)
    assert model == KINDS[kind](seed)
