"""Causal attention in blocks of keys, of which masked ones are skipped, emulated on the CPU against float64."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401  NumPy knows bfloat16 by name
import numpy as np
import onnx
import pytest
from emulator import needed
from launcher import Program
from onnx import numpy_helper
from test_cuda_operators import model_of
from xdsl.dialects import scf

from mlc import target
from mlc.dialects import kernel, rt

pytestmark = needed

NAMES = {"float": "float32"}  # NumPy's of ONNX's
TOLERANCES = {"float": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}
ATTENTION = """(T[1,2,{n},32] q, T[1,2,{n},32] k, T[1,2,{n},32] v) => (T[1,2,{n},32] y)
    {{ products = Einsum <equation = "bhmk,bhnk->bhmn"> (q, k)
    scores = Add (products, mask)  weights = Softmax <axis = -1> (scores)  y = MatMul (weights, v) }}"""


def masked_model(text: str, element: str, keys: int, window: int, outside: float = -np.inf) -> onnx.ModelProto:
    """An attention with a constant mask of the last ``window`` keys of each query: 0 there, else ``outside``."""
    model = model_of(text.format(n=keys).replace("T[", f"{element}["))
    mask = np.where(_mask(keys, window), 0, outside).astype(NAMES.get(element, element))
    model.graph.initializer.append(numpy_helper.from_array(mask, "mask"))
    return model


def _mask(keys: int, window: int) -> np.ndarray:
    diagonal = np.arange(keys)[:, None] - np.arange(keys)
    return (diagonal >= 0) & (diagonal < window)


def _streams(made: Program) -> list[scf.ForOp]:
    """The loops over blocks of keys."""
    (function,) = made.functions.values()
    return [o for o in function.walk() if isinstance(o, scf.ForOp) and isinstance(o.parent_op(), scf.ParallelOp)]


def _compares(loop: scf.ForOp) -> bool:
    """Whether a loop compares scores with the diagonal."""
    return any(isinstance(o, kernel.LanewiseOp) and o.op.data == "arith.cmpi" for o in loop.walk())


SIZES = [(128, 128), (128, 40), (160, 150)]  # keys, and those that a query reads; with a smaller last block


@pytest.mark.parametrize(("element", "multiprocessors"), [("float", 1), ("float16", 1024), ("bfloat16", 1024)])
@pytest.mark.parametrize(("n", "window"), SIZES)
def test_skipped_blocks(element: str, multiprocessors: int, n: int, window: int, units: Path) -> None:
    dtype = np.dtype(NAMES.get(element, element))
    mask, model = _mask(n, window), masked_model(ATTENTION, element, n, window)
    gpu = replace(target.get("cuda"), multiprocessors=multiprocessors)
    made = Program.of(model, units, target=gpu)
    compares = [*map(_compares, _streams(made))]
    assert False in compares and compares[-1]  # blocks on the diagonal come last
    normal = np.random.default_rng().standard_normal
    feed = {name: (normal((1, 2, n, 32)) / (4 if name == "q" else 1)).astype(dtype) for name in "qkv"}
    q, k, v = (array.astype(np.float64) for array in feed.values())
    power = np.exp(np.where(mask, q @ k.swapaxes(-1, -2), -np.inf))
    exact = power / power.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(made.run(feed)["y"], exact, atol=TOLERANCES[element])
    feed["v"][:, :, 64:] = np.nan
    assert np.isfinite(made.run(feed)["y"][:, :, :48]).all()  # blocks of rows end there, or at 54 or 64


@pytest.mark.parametrize("numerics", ["default", "strict"])
@pytest.mark.parametrize("element", ["float", "float16"])
def test_masks_that_stay_are_computed_and_not_stored(element: str, numerics: Any, units: Path) -> None:
    """-10000 excludes no key, and strict numerics have every score: a window is two comparisons."""
    n, dtype = 70, np.dtype(NAMES.get(element, element))
    mask = np.where(_mask(n, 30), 0, -1e4)
    made = Program.of(masked_model(ATTENTION, element, n, 30, outside=-1e4), units, numerics=numerics)
    assert not [o for o in made.program.walk() if isinstance(o, rt.WeightOp)]
    normal = np.random.default_rng().standard_normal
    feed = {name: (normal((1, 2, n, 32)) / (4 if name == "q" else 1)).astype(dtype) for name in "qkv"}
    q, k, v = (array.astype(np.float64) for array in feed.values())
    power = np.exp(q @ k.swapaxes(-1, -2) + mask)
    exact = power / power.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(made.run(feed)["y"].astype(np.float64), exact, atol=TOLERANCES[element])
