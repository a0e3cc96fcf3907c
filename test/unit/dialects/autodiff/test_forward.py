"""Forward mode of each operator: its tangents against central differences, and against reverse mode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from operator_cases import CASES, Maker, normal
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.autodiff import NoDerivative, pullback, pushforward
from mlc.dialects.autodiff.forward import is_linear
from mlc.dialects.graph import ComputeOp, MapOp, YieldOp
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.semantics.interpreter import run_block
from mlc.dialects.types import element_of_dtype, tensor
from mlc.dialects.weights import WeightStore

STEP = 1e-6


def run(op: Maker, arrays: Sequence[Array], along: Sequence[Array | None]) -> tuple[Array, Array, Array]:
    """The value of ``op``, its tangent, and the pullback of ones along the same tangents."""
    given = [*arrays, *(t for t in along if t is not None)]
    block = Block(arg_types=[tensor(element_of_dtype(a.dtype), a.shape) for a in given])

    def emit(made: Operation) -> SSAValue:
        block.add_op(made)
        return made.results[0]

    xs, rest = block.args[: len(arrays)], iter(block.args[len(arrays) :])
    tangents = [None if t is None else next(rest) for t in along]
    y = emit(op(*xs))
    found = pushforward([y], xs, tangents, emit)[0]
    assert found is not None and found.type == y.type
    seed = emit(ComputeOp("f64(1)", [], y.type.get_shape()))
    bars = pullback([y], [x for x, t in zip(xs, tangents, strict=True) if t is not None], [seed], emit)
    block.add_op(YieldOp([y, found, *(bar for bar in bars if bar is not None)]))
    value, tangent, *back = run_block(block, given, WeightStore(), {})
    inner = sum((b * t).sum() for b, t in zip(back, (t for t in along if t is not None), strict=True))
    return value, tangent, np.asarray(inner)


@pytest.mark.parametrize("case", CASES)
def test_tangents(case: str) -> None:
    op, arrays = CASES[case]
    floats = [n for n, a in enumerate(arrays) if a.dtype.kind == "f"]
    for moved in [[n] for n in floats] + [floats]:
        along = [normal(*a.shape, seed=8) if n in moved else None for n, a in enumerate(arrays)]
        _, tangent, inner = run(op, arrays, along)
        high, low = (
            run(op, [a if t is None else a + sign * STEP * t for a, t in zip(arrays, along, strict=True)], along)[0]
            for sign in (1, -1)
        )
        np.testing.assert_allclose(tangent, (high - low) / (2 * STEP), rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(tangent.sum(), inner, rtol=1e-10, atol=1e-10)


def test_conversions_between_floats() -> None:
    x, t = np.float32([0.5, 2]), np.float32([1, -3])
    _, tangent, _ = run(lambda x: MapOp("f64(x0 * x0) * 0.5", [x]), [x], [t])
    np.testing.assert_allclose(tangent, [0.5, -6])


@pytest.mark.parametrize("case", CASES)
def test_linear_operators(case: str) -> None:
    """What is said to be linear is: its value at a sum is the sum of its values."""
    op, arrays = CASES[case]
    block = Block(arg_types=[tensor(element_of_dtype(a.dtype), a.shape) for a in arrays])
    if is_linear(op(*block.args)):
        other = [normal(*a.shape, seed=9) if a.dtype.kind == "f" else a for a in arrays]
        both = [a + b if a.dtype.kind == "f" else a for a, b in zip(arrays, other, strict=True)]
        along = [normal(*a.shape) if a.dtype.kind == "f" else None for a in arrays]
        a, b, c = (run(op, each, along)[0] for each in (arrays, other, both))
        np.testing.assert_allclose(c, a + b, rtol=1e-12, atol=1e-12)


def test_no_derivative() -> None:
    with pytest.raises(NoDerivative, match="the conversion as_f64 of i64 has no derivative"):
        run(lambda x: MapOp("as_f64(as_i64(x0))", [x]), [normal(3)], [normal(3)])
