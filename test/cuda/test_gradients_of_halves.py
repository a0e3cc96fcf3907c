"""Gradients of convolutions of halves on the CUDA target, emulated on the CPU, against torch's in float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator import needed
from launcher import Program

import mlc
import mlc.numpy as mnp
from mlc import nn, target
from mlc.dialects import kernel
from mlc.dialects.poly import schedule_of
from mlc.dialects.types import numpy_dtype

pytest.importorskip("torch")
pytestmark = needed
ELEMENTS = {"f16": "float16", "bf16": "bfloat16"}
Arrays = list[np.ndarray[Any, Any]]


def drawn(groups: int, element: str) -> tuple[Arrays, dict[str, Any]]:
    """An image, filters and an adjoint's factor of random shapes, and the window."""
    random = np.random.default_rng()
    n, c, f = (int(x) for x in (random.integers(2, 4), 8 * random.integers(2, 4), random.integers(17, 30)))
    taps, (strides, border) = random.integers(2, 4, 2).tolist(), (int(x) for x in random.integers((1, 0), (3, 2)))
    pixels = random.integers(17, 21, 2).tolist()
    out = [(p + 2 * border - k) // strides + 1 for p, k in zip(pixels, taps, strict=True)]
    shapes = [(n, c * groups, *pixels), (f * groups, c, *taps), (n, f * groups, *out)]
    made = [random.standard_normal(s) for s in shapes]
    window = {"strides": strides, "padding": border, "groups": groups}
    return [x.astype(numpy_dtype(element)) for x in made], window


def loss_of(window: dict[str, Any]) -> Any:
    def loss(x: Any, w: Any, g: Any) -> Any:
        y = nn.relu(nn.conv(x, w, **window))
        return mnp.sum(mnp.astype(y, mnp.float32) * mnp.astype(g, mnp.float32))

    return loss


def program(arrays: Arrays, window: dict[str, Any], element: str, name: str, units: Path) -> Program:
    specs = [mlc.TensorSpec(ELEMENTS[element], x.shape) for x in arrays]
    gradient = mlc.grad(loss_of(window), argnums=(0, 1))
    imported = mlc.jit(gradient, target=name, wait=True).lower(*specs).imported()  # type: ignore[arg-type]
    return Program(imported.module, imported.weights, units, target=target.get(name))


def by_torch(arrays: Arrays, window: dict[str, Any]) -> Arrays:
    import torch

    x, w, g = (torch.tensor(each.astype(np.float64)) for each in arrays)
    stride = {"stride": window["strides"], "padding": window["padding"], "groups": window["groups"]}
    y = torch.relu(torch.nn.functional.conv2d(x.requires_grad_(), w.requires_grad_(), **stride))
    return [each.numpy() for each in torch.autograd.grad((y * g).sum(), (x, w))]


CASES = [(1, "f16", "cuda:sm_80"), (1, "bf16", "cuda:sm_90"), (2, "f16", "cuda:sm_80")]


@pytest.mark.parametrize("groups, element, name", CASES)
def test_gradients_multiply_on_tensor_cores(groups: int, element: str, name: str, units: Path) -> None:
    """By image and by filters, forward included: every product has halves as factors. Where there are no groups images
    are NHWC: eight channels of a pixel are copied at a time."""
    arrays, window = drawn(groups, element)
    made = program(arrays, window, element, name, units)
    products = [fn for fn in made.functions.values() if str(schedule_of(fn)[0]).startswith("contraction")]
    assert len(products) >= 3 and all(any(isinstance(o, kernel.MmaOp) for o in fn.walk()) for fn in products)
    gathers = [o for fn in products for o in fn.walk() if isinstance(o, kernel.AsyncGatherOp)]
    assert groups > 1 or len(gathers) >= 3 and {o.width.value.data for o in gathers} == {8}
    found = list(made.run(dict(zip(("x", "w", "g"), arrays, strict=True))).values())
    for ours, theirs in zip(found, by_torch(arrays, window), strict=True):
        np.testing.assert_allclose(ours.astype(np.float64), theirs, rtol=0, atol=1e-2 * np.abs(theirs).max())
