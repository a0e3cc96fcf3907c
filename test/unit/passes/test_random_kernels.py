"""From fuse to code: random kernels, compiled, against the reference interpreter."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest
from compiled import build, compare, references, usable
from random_kernels import ELEMENTS, Builder, Kernels, expressions, monoids

from mlc import target
from mlc.dialects.graph import MapOp, ReduceOp

SIZES = [{"batch": 1, "seq": 1}, {"batch": 3, "seq": 17}, {"batch": 37, "seq": 5}]
SYMBOLIC = ("batch", "seq", "2*batch+1")
TARGETS = ("x86-64-v4", "x86-64-v3", "x86-64")  # 16, 8 and 4 lanes


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("symbols", [(), SYMBOLIC], ids=["static", "symbolic"])
@pytest.mark.parametrize("name", TARGETS)
def test_random_kernels(name: str, symbols: tuple[str, ...], tmp_path: Path, cache: Path) -> None:
    if not usable(name):
        pytest.skip(f"this CPU cannot run code for {name}")
    seed = secrets.randbits(32)
    builder = Builder(seed)
    results = Kernels(builder, seed, symbols).add(times=3 if not symbols else 2)
    module = builder.module(*results)
    expected = references(builder, module, SIZES if symbols else [{}])
    model = build(builder, module, tmp_path, cache, target=target.get(name))
    compare(model, expected, f"seed {seed}")


@pytest.mark.parametrize("name", ["x86-64-v3"])
def test_every_type(name: str, tmp_path: Path, cache: Path) -> None:
    """Elementwise functions and reductions of each type of element, whole vectors and the rest of one."""
    if not usable(name):
        pytest.skip(f"this CPU cannot run code for {name}")
    seed = secrets.randbits(32)
    builder, results = Builder(seed), []
    for element in dict.fromkeys(ELEMENTS):
        for expr in expressions(element):
            operands = [builder.input(3, 21, element=element) for _ in range(2)]
            results.append(builder.add(MapOp(expr, operands)))
        for monoid in monoids(element):
            x = builder.input(5, 37, element=element)
            results += [builder.add(ReduceOp(monoid, x, [axis])) for axis in (0, 1)]
    module = builder.module(*results)
    expected = references(builder, module, [{}])
    compare(build(builder, module, tmp_path, cache, target=target.get(name)), expected, f"seed {seed}")
