"""Constants of a kernel are one for each value, and 0.0 and -0.0 are two."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from compiled import build
from graph_checks import GraphBuilder

from mlc.dialects.graph import MapOp


def test_two_zeros(tmp_path: Path) -> None:
    b = GraphBuilder()
    module = b.module(b.add(MapOp("where(x0 > 0.5, f32(0.0), -0.0)", [b.input(37)])))
    feed = {"in0": np.random.default_rng().uniform(0, 1, 37).astype("f4")}
    y = build(b, module, tmp_path, tmp_path / "cache").run(feed)["out0"]
    np.testing.assert_array_equal(np.signbit(y), feed["in0"] <= 0.5)
