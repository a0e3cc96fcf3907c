"""Where extents coincide, fusion goes by maps: what reads the sum of another row is a kernel of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compiled import build
from graph_checks import GraphBuilder
from xdsl.ir import SSAValue

from mlc.dialects import kernel
from mlc.dialects.graph import MapOp, ReduceOp, ReshapeOp
from mlc.driver.lower import run
from mlc.options import Options

N = 24


def reduced(b: GraphBuilder, fn: str, x: SSAValue, axis: int = 1) -> SSAValue:
    return b.add(ReduceOp(fn, x, [axis]))


def mapped(b: GraphBuilder, text: str, *args: SSAValue) -> SSAValue:
    return b.add(MapOp(text, args))


def shares(b: GraphBuilder, x: SSAValue) -> SSAValue:
    return mapped(b, "x0 / x1", x, reduced(b, "add", x))


def distances(b: GraphBuilder, x: SSAValue) -> SSAValue:
    return mapped(b, "x0 - x1", x, reduced(b, "max", x))


def normalised(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """(x - x.mean(1)) / x.std(1)"""
    mean = mapped(b, f"x0 * {1 / N}", reduced(b, "add", x))
    column = b.add(ReshapeOp(mean, (N, 1)))
    centred = mapped(b, "(x0 - x1) * (x0 - x1)", x, column)
    deviation = mapped(b, f"sqrt(x0 * {1 / N})", reduced(b, "add", centred))
    return mapped(b, "(x0 - x1) / x2", x, mean, deviation)


def graph_convolution(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """D^-1/2 x D^-1/2"""
    degree = mapped(b, "rsqrt(x0)", reduced(b, "add", x))
    return mapped(b, "x0 * x1 * x2", x, b.add(ReshapeOp(degree, (N, 1))), degree)


def columns(b: GraphBuilder, x: SSAValue) -> SSAValue:
    return mapped(b, "x0 / x1", x, reduced(b, "add", x, 0))


def cubes(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """Rows of a square read in a cube of which they are no rows."""
    cube = mapped(b, "x0 * x1", b.add(ReshapeOp(x, (N, 1, N))), x)
    return reduced(b, "add", mapped(b, "x0 / (x1 + 1.0)", cube, reduced(b, "max", cube, 2)), 0)


EXPECTED = {
    shares: lambda x: x / x.sum(1),
    distances: lambda x: x - x.max(1),
    normalised: lambda x: (x - x.mean(1)) / x.std(1),
    graph_convolution: lambda x: x / np.sqrt(x.sum(1)) / np.sqrt(x.sum(1))[:, None],
    columns: lambda x: x / x.sum(0),
    cubes: lambda x: ((c := x[:, None] * x) / (c.max(2) + 1)).sum(0),
}


@pytest.mark.parametrize("make", EXPECTED)
def test_is_right_and_scheduled_well(make, tmp_path: Path, tmp_path_factory) -> None:  # type: ignore[no-untyped-def]
    seed = np.random.SeedSequence().entropy
    print(f"seed {seed}")
    x = np.random.default_rng(seed).uniform(0.5, 2, (N, N)).astype(np.float32)
    b = GraphBuilder()
    module = b.module(make(b, b.input(N, N)))
    tiled = module.clone()
    options = Options()
    run(tiled, b.weights, options, ("graph", "layout", "fuse", "kernel", "schedule", "tile"))
    assert [fn.sym_name.data for fn in tiled.ops if isinstance(fn, kernel.FuncOp) and fn.origin.plain] == []

    net = build(b, module, tmp_path, tmp_path_factory.getbasetemp() / "cache")
    (found,) = net(x).values() if isinstance(net(x), dict) else (net(x),)
    expected = EXPECTED[make](x.astype(np.float64))
    assert np.abs(found - expected).max() < 2e-5 * np.abs(expected).max()


def test_equal_maps_share_a_kernel() -> None:
    b = GraphBuilder()
    x = b.input(N, N)
    total = b.add(ReduceOp("add", x, [1], keepdims=True))
    module = b.module(mapped(b, "x0 / x1", x, total))
    run(module, b.weights, Options(), ("graph", "layout", "fuse"))
    assert sum(isinstance(o, kernel.FuncOp) for o in module.ops) == 1
