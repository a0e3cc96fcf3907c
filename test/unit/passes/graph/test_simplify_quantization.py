"""simplify-quantization: bytes are quantized again where scale or zero point differ, and else stay as they are."""

from __future__ import annotations

import pytest
from graph_checks import GraphBuilder, check, ops

from mlc.dialects.graph import MapOp
from mlc.passes.graph.simplify_quantization import SimplifyQuantization


@pytest.mark.parametrize(("scale", "zero", "kept"), [(0.5, 3, False), (0.5, 7, True), (0.25, 3, True)])
def test_bytes_quantized_again(scale: float, zero: int, kept: bool) -> None:
    b = GraphBuilder()
    y = b.add(MapOp("f32(i32(x0) - 3) * 0.5", [b.input(9, element="ui8")]))
    for step in (f"round(x0 / {scale})", f"x0 + f32({zero})", "ui8(min(max(x0, 0), 255))"):
        y = b.add(MapOp(step, [y]))
    assert bool(ops(check(b, [y], SimplifyQuantization()), MapOp)) == kept
