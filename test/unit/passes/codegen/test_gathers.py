"""Reads at a constant offset for each lane: from one vector, from two, and lane by lane."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compiled import build
from graph_checks import GraphBuilder

from mlc import target as targets
from mlc.dialects.graph import ComputeOp

TARGETS = ["x86-64", "cpu"]  # vectors of 4 lanes, and this machine's


STEPS = ["i1 // 3", "3*i1 // 2", "(5*i1 + 2) // 4", "7*i1 // 4", "i1 % 3", "37 - 3*i1 // 2"]
STEPS += [f"(i1 + {n}) // {n + 22 - 1}" for n in (1, 11)]  # 1 for the last element alone


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("step", STEPS)
def test_constant_offsets(step: str, target: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    b = GraphBuilder(np.random.default_rng().integers(1 << 30))
    module = b.module(b.add(ComputeOp(f"x0[i0, {step}]", [b.input(3, 40)], (3, 22))))
    feed = b.inputs()
    net = build(b, module, tmp_path, tmp_path_factory.getbasetemp() / "cache", target=targets.get(target))
    at = [eval(step, {"i1": n}) for n in range(22)]
    np.testing.assert_array_equal(net.run(feed)["out0"], feed["in0"][:, at])
