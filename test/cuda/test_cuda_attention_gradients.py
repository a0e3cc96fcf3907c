"""Gradients of attention on a GPU, whose kernels compute scores again, emulated on the CPU against NumPy in float64."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest
from fake_gpu import Gpu, needed

import mlc
import mlc.numpy as mnp
from benchmarks.gpu import kernels
from mlc import nn

pytestmark = needed

TARGET = "cuda:sm_90:l2_bytes=48K"  # smaller than the scores of the tests, which are computed again
Array = np.ndarray[Any, Any]


def gradients(causal: bool = False, mask: Array | None = None, target: str = TARGET) -> Any:
    """By queries, keys and values."""

    def loss(q: Any, k: Any, v: Any, g: Any) -> Any:
        return mnp.sum(nn.dot_product_attention(q, k, v, mask, causal=causal) ** 2 * g)

    return mlc.jit(mlc.grad(loss, argnums=(0, 1, 2)), target=target, wait=True)


def operands(heads: int, queries: int, keys: int, size: int, value: int) -> list[Array]:
    normal = np.random.default_rng().standard_normal
    dims = [(queries, size), (keys, size), (keys, value), (queries, value)]
    return [normal((2, heads, *each)).astype(np.float32) for each in dims]


def exact(q: Array, k: Array, v: Array, g: Array, mask: Array) -> list[Array]:
    """The derivatives by queries, keys and values, in float64."""
    q, k, v, g = (each.astype(np.float64) for each in (q, k, v, g))
    scale = q.shape[-1] ** -0.5
    scores = np.where(mask, q @ k.swapaxes(-1, -2) * scale, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    y = weights @ v
    above = 2 * y * g
    by_weights = above @ v.swapaxes(-1, -2)
    by_scores = weights * (by_weights - (by_weights * weights).sum(-1, keepdims=True)) * scale
    return [by_scores @ k, by_scores.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ above]


def assert_near(found: Any, wanted: list[Array], tolerance: float) -> None:
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=0, atol=tolerance * np.abs(theirs).max())


@pytest.mark.parametrize("causal", [False, True], ids=["whole", "causal"])
@pytest.mark.parametrize("sizes", [(2, 64, 64, 16, 16), (1, 101, 75, 24, 20)], ids=str)
def test_gradients(sizes: tuple[int, ...], causal: bool, gpu: Gpu) -> None:
    args = operands(*sizes)
    mask = np.tri(*sizes[1:3], dtype=bool) if causal else np.ones(sizes[1:3], bool)
    assert_near(gradients(causal)(*args), exact(*args, mask), 1e-6)


@pytest.mark.parametrize("window", [20, 200])
def test_windows(window: int, gpu: Gpu) -> None:
    """Blocks of keys before the window, and after a query, are not executed."""
    args = operands(1, 150, 150, 16, 20)
    distance = np.arange(150)[:, None] - np.arange(150)
    mask = (distance >= 0) & (distance < window)
    run = gradients(mask=mask)
    assert_near(run(*args), exact(*args, mask), 1e-6)
    assert run.ir("schedule", *args).count("conditions") > 12  # of the statements of all three kernels
    args[1][:, :, 100:] = np.nan
    assert np.isfinite(np.asarray(run(*args)[0])[:, :, :50]).all()


def kernels_of(run: Any, *sizes: int) -> list[str]:
    text = run.ir("plan", *(mlc.TensorSpec("float32", each.shape) for each in operands(*sizes)))
    return [line for line in text.splitlines() if "kernel.func" in line]


def test_no_scores_are_in_memory() -> None:
    lines = kernels_of(gradients(), 2, 96, 80, 16, 16)
    assert sum(line.count("t@") > 0 for line in lines) == 3  # forward, and backward along queries and along keys
    assert "96x80" not in "".join(lines)


@pytest.mark.parametrize(("least", "stored"), [(122880, True), (122879, False)])
def test_scores_that_l2_holds_are_stored(least: int, stored: bool) -> None:
    """2 x 2 x 96 x 80 scores are 122880 bytes."""
    lines = kernels_of(gradients(target=f"cuda:sm_90:l2_bytes={least}"), 2, 96, 80, 16, 16)
    assert ("96x80xf32" in "".join(lines)) == stored


def test_stored_scores(gpu: Gpu) -> None:
    args = operands(1, 37, 50, 16, 20)
    assert_near(gradients(target="cuda:sm_90")(*args), exact(*args, np.ones((37, 50), bool)), 1e-6)


def test_stored_scores_of_halves(gpu: Gpu) -> None:
    """Each product but that of values and the derivative is rounded to halves."""
    args = [each.astype(np.float16) for each in operands(2, 50, 70, 16, 24)]
    wanted = exact(*args, np.ones((50, 70), bool))
    assert_near(gradients(target="cuda:sm_90")(*args), wanted, 1e-2)


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
@pytest.mark.parametrize("name", ["cuda:sm_80", "cuda:sm_90"])
def test_machine_code_spills_nothing(name: str) -> None:
    """Of both kernels of the backward pass, and of what is beside them."""
    for row in kernels.rows("gradient_causal_2048x12x64", name, "default", True):
        assert row["stack"] == 0 and row["registers"] <= 128


def test_few_queries_store_scores() -> None:
    """A thread block has at least 16 rows."""
    assert "12x80xf32" in "".join(kernels_of(gradients(), 8, 12, 80, 16, 16))
    assert "16x80xf32" not in "".join(kernels_of(gradients(), 8, 16, 80, 16, 16))
