"""Derivatives of high order stay short: shared values, and expressions that are split."""

from __future__ import annotations

import numpy as np
import pytest
from graph_slopes import Emit, check, module_of
from xdsl.ir import SSAValue

from mlc.dialects.graph import MapOp
from mlc.dialects.semantics.expr import height

GELU = "0.5 * x0 * (1 + tanh(0.7978845608 * (x0 + 0.044715 * x0 * x0 * x0)))"
LONG = "where(x0 > x1, exp(sin(x0) * cos(x1)) + sin(x0) * x1 + max(x0 * x1, x0), sqrt(2 + x0 * x0) / (3 + x1 * x1))"


def test_first_and_second_derivatives_of_split_expressions() -> None:
    x, y = np.random.default_rng(5).normal(size=(3, 1)), np.random.default_rng(6).normal(size=4)
    check(lambda emit, x: emit(MapOp(GELU, [x])), x, rtol=2e-5)
    check(lambda emit, x, y: emit(MapOp(LONG, [x, y])), x, y, rtol=2e-5)
    check(lambda emit, x: emit(MapOp(LONG, [x, x])), x, rtol=2e-5)


@pytest.mark.parametrize("text", [GELU, LONG.replace("x1", "0.5"), "atan2(sin(x0), 2 + x0) / sqrt(1 + x0 * x0)"])
def test_expressions_stay_flat(text: str) -> None:
    def make(emit: Emit, x: SSAValue) -> SSAValue:
        return emit(MapOp(text, [x]))

    module = module_of(make, [("f64", (3,))], 4, [0])
    assert max(height(op.scalar) for op in module.walk() if isinstance(op, MapOp)) < 20


def test_the_result_is_read_not_computed() -> None:
    module = module_of(lambda emit, x: emit(MapOp("tanh(x0)", [x])), [("f64", (3,))], 1, [0])
    assert str(module).count("tanh") == 1
