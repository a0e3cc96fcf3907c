"""Reductions of several rows at once: each lane of the result combines the lanes of one row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compiled import build
from graph_checks import GraphBuilder
from xdsl.ir import SSAValue

from mlc import target as targets
from mlc.dialects.graph import ContractOp, MapOp, ReduceOp
from mlc.driver.lower import lower
from mlc.options import Options

TARGETS = ["x86-64", "x86-64-v3", "cpu"]  # vectors of 4 lanes, of 8, and this machine's
FUNCTIONS = {"add": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply}


def run(b: GraphBuilder, result: SSAValue, target: str, folder: Path) -> tuple[dict, np.ndarray]:
    feed = b.inputs()
    net = build(b, b.module(result), folder, folder, target=targets.get(target))
    return feed, net.run(feed)["out0"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("rows, terms", [(37, 16), (16, 21), (50, 31), (24, 8)])
def test_products_of_rows_and_what_follows(rows: int, terms: int, target: str, tmp_path: Path) -> None:
    b = GraphBuilder(np.random.default_rng().integers(1 << 30))
    x, v, y = b.input(rows, terms), b.input(terms), b.input(rows)
    product = b.add(ContractOp("mk,k->m", x, v))
    feed, found = run(b, b.add(MapOp("tanh(x0) - x1", [product, y])), target, tmp_path)
    exact = np.tanh(feed["in0"].astype(float) @ feed["in1"]) - feed["in2"]
    np.testing.assert_allclose(found, exact, atol=2e-6)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("monoid, element", [*((m, e) for m in FUNCTIONS for e in ("f32", "i32")), ("add", "f64")])
def test_monoids(monoid: str, element: str, target: str, tmp_path: Path) -> None:
    b = GraphBuilder(np.random.default_rng().integers(1 << 30))
    reduced = b.add(ReduceOp(monoid, b.input(3, 21, 19, element=element), (2,)))
    feed, found = run(b, b.add(MapOp("x0 + x0", [reduced])), target, tmp_path)
    exact = 2 * FUNCTIONS[monoid].reduce(feed["in0"].astype(float), axis=2, keepdims=True)
    np.testing.assert_allclose(found.reshape(exact.shape), exact, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "target, terms", [("x86-64", 5), ("x86-64-v3", 9), ("x86-64-v3", 17), ("cpu", 17), ("cpu", 33)]
)
def test_a_last_chunk_of_one_lane(target: str, terms: int, tmp_path: Path) -> None:
    b = GraphBuilder(np.random.default_rng().integers(1 << 30))
    x = b.input(21, terms)
    sums = [b.add(ReduceOp(monoid, x, (1,))) for monoid in FUNCTIONS]
    feed, found = run(b, b.add(MapOp("x0 - 2 * x1 + 3 * x2 - x3", sums)), target, tmp_path)
    wide = feed["in0"].astype(float)
    exact = sum(c * f.reduce(wide, axis=1) for c, f in zip((1, -2, 3, -1), FUNCTIONS.values(), strict=True))
    np.testing.assert_allclose(found.reshape(-1), exact, rtol=1e-5, atol=1e-4)


def test_long_rows_stay_alone() -> None:
    b = GraphBuilder()
    module = b.module(b.add(ReduceOp("add", b.input(64, 1024), (1,), False)))
    lowered = lower(module, b.weights, Options(target=targets.get("x86-64-v3")), "schedule").module
    assert 'schedule<"rows: S0 | i0 | i1/32v">' in str(lowered)
