"""The first random graphs of products on an emulated GPU; ``fuzz_gpu.py`` compares as many others as one likes."""

from __future__ import annotations

import onnx
import pytest
from fake_gpu import Gpu
from fuzz_gpu import difference
from products import products


@pytest.mark.parametrize("seed", range(8))
def test_a_random_graph_agrees_with_the_cpu(seed: int, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_CUDA_ARCHITECTURE", "90")  # and back, after the graph's own
    assert difference(seed, size=4) == "", f"python test/cuda/fuzz_gpu.py --count 1 --size 4 --seed {seed}"


@pytest.mark.parametrize("seed", range(60))
def test_random_products_are_valid(seed: int) -> None:
    model = products(seed)
    onnx.checker.check_model(model, full_check=True)
    assert model == products(seed)
