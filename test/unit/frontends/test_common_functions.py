"""Functions that arrays and ONNX have in common, on edges: against each other and a float64 reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from common_functions import KINKS, ROWS, Row, agrees, edges, expected
from single import single, ways

import mlc
import mlc.numpy as mnp
from mlc import nn
from mlc.frontends.array.namespace import NAMESPACE
from mlc.frontends.onnx import node
from mlc.frontends.onnx.ops import load_all

ELSEWHERE = frozenset(
    (
        *("and", "or", "xor", "not", "where", "equal", "greater", "less", "mean", "max", "min", "sum", "matmul"),
        *("concat", "reshape", "transpose", "split", "squeeze", "size", "shape", "tile", "pad", "compress", "unique"),
        *("identity", "argmax", "argmin", "cumsum", "cumprod", "onehot", "resize", "nonzero", "tril", "triu", "det"),
        *("conv", "convtranspose", "maxpool", "gelu", "celu", "selu", "mish", "swish", "hardswish", "leakyrelu"),
        *("einsum", "softmax", "logsoftmax", "clip", "mod", "dropout", "range", "rmsnorm", "bitwiseand", "bitwiseor"),
        *("bitwisexor", "bitwisenot", "rms", "gather", "scatter", "expand", "sort", "topk", "attention"),
    )
)
"""Movements, reductions, contractions and layers, which have tests of their own."""


def function(row: Row) -> Any:
    return getattr(mnp, row.arrays, None) or getattr(nn, row.arrays)


def plain(name: str) -> str:
    return name.lower().replace("_", "")


def test_every_common_function_is_held() -> None:
    load_all()
    ours = {plain(n) for n in [*NAMESPACE, *(n for n in dir(nn) if n[0].islower())]}
    common = ours & {plain(op) for domain, op in node.REGISTRY if domain == ""}
    held = {plain(r.arrays) for r in ROWS.values()} | {plain(r.onnx) for r in ROWS.values() if r.onnx} | ELSEWHERE
    assert not common - held, "add a row to common_functions.py, or a name to ELSEWHERE"


@pytest.fixture(scope="module")
def compiled() -> dict[str, np.ndarray]:
    """All functions of arrays in one program."""
    given = {name: edges(row) for name, row in ROWS.items()}
    f = mlc.jit(lambda xs: {name: function(row)(*xs[name]) for name, row in ROWS.items()}, wait=True)
    return {name: np.asarray(y) for name, y in f(given).items()}


@pytest.mark.parametrize("name", ROWS)
def test_values(name: str, compiled: dict[str, np.ndarray]) -> None:
    row = ROWS[name]
    given = edges(row)
    right = expected(row, given)
    agrees(np.asarray(function(row)(*map(mnp.asarray, given))), right, "line by line")
    agrees(compiled[name], right, "compiled")
    if row.onnx:
        feeds = {f"x{n}": x for n, x in enumerate(given)}
        how = {"fmod": 0} if row.onnx == "Mod" else {}
        (found,) = ways(single(row.onnx, feeds, **how), feeds, compiled=False)
        agrees(found["y0"], right, row.onnx)


@pytest.mark.parametrize("name", sorted(set(ROWS) - KINKS))
def test_gradients(name: str) -> None:
    """Against central differences of the reference, in f64, at points where it is smooth."""
    row, step = ROWS[name], 1e-6
    first, second = np.array([0.3, 0.6, 0.93, 0.17]), np.array([0.7, 0.4, 0.9, 0.24])
    given = [first + 1 if name == "acosh" else first, second][: row.inputs]
    for n in range(row.inputs):
        gradient = np.asarray(mlc.grad(lambda *xs: mnp.sum(function(row)(*xs)), n)(*given))
        near = [[x + sign * step if k == n else x for k, x in enumerate(given)] for sign in (1, -1)]
        slope = (row.reference(*near[0]) - row.reference(*near[1])) / (2 * step)
        np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-8)
