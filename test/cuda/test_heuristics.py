"""Other numbers of the schedule rules make other kernels that compute the same: emulated, against NumPy in float64."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulator import needed
from launcher import Program
from test_cuda_operators import feed_of, model_of

from mlc import target as targets
from mlc.dialects.poly import schedule_of

pytestmark = needed

PRODUCT = """(float16[96,80] a, float16[80,72] b, float16[72] c) => (float[72] y) { p = MatMul (a, b) s = Add (p, c)
    r = Relu (s) f = Cast <to = 1> (r) axes = Constant <value_ints = [0]> ()
    y = ReduceSum <keepdims = 0> (f, axes) }"""
OTHERS = [
    {"ring_depth": 2, "fragment_steps": 16, "points": 1},
    {"strip_terms": 200, "window_rows": 2},
    {"fragment_tiles": (((32, 32), (1, 2)),), "warpgroup_tiles": (), "bulk_tiles": (), "row_elements": 2},
]


@pytest.mark.parametrize("others", OTHERS, ids=lambda numbers: "-".join(numbers))
def test_kernels_by_other_numbers_compute_the_same(others: dict[str, Any], units: Path) -> None:
    usual = targets.get("cuda:sm_80")
    assert isinstance(usual, targets.GpuTarget)
    m = model_of(PRODUCT)
    feed = feed_of(m)
    plain, other = (Program.of(m, units, target=t) for t in (usual, _with(usual, others)))
    a, b, c = (feed[name].astype(np.float64) for name in "abc")
    expected = np.maximum(a @ b + c, 0).sum(0)
    for program in (plain, other):
        np.testing.assert_allclose(program.run(feed)["y"], expected, rtol=2e-3, atol=2e-2)
    strings = [[p.kernels.strings[p.kernels.symbols[name]] for name in p.functions] for p in (plain, other)]
    assert strings[0] != strings[1], [str(schedule_of(fn)) for fn in other.functions.values()]


def _with(target: targets.GpuTarget, numbers: dict[str, Any]) -> targets.GpuTarget:
    return replace(target, heuristics=replace(target.heuristics, **numbers))
