"""pack-quantized-weights: the same sums of quantized weights of any type, in panels, and as contractions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compiled import build, compare, references
from graph_checks import GraphBuilder, check, ops
from xdsl.ir import SSAValue

from mlc.dialects.graph import ComputeOp, PackOp
from mlc.dialects.types import numpy_dtype
from mlc.passes.layout.pack_quantized_weights import PackQuantizedWeights

ROWS, TERMS, COLUMNS = 3, 40, 37


def dequantized(b: GraphBuilder, element: str) -> SSAValue:
    """A product with quantized weights that have a scale and a zero point a column."""
    low, high = {"i8": (-128, 128), "ui8": (0, 256), "i4": (-8, 8), "ui4": (0, 16)}[element]
    numbers = b.random.integers(low, high, (COLUMNS, TERMS)).astype(np.int16).astype(numpy_dtype(element))
    zeros = b.random.integers(low, high, COLUMNS).astype(np.int16).astype(numpy_dtype(element))
    operands = [b.input(ROWS, TERMS), b.stored(numbers), b.weight(COLUMNS), b.stored(zeros, "z")]
    text = "x0[i0, r0] * ((f32(x1[i1, r0]) - f32(x3[i1])) * x2[i1])"
    return b.add(ComputeOp(text, operands, (ROWS, COLUMNS), (TERMS,), "add"))


@pytest.mark.parametrize("element", ["i8", "ui8", "i4", "ui4"])
def test_the_type_says_that_weights_are_quantized(element: str) -> None:
    b = GraphBuilder(fresh())
    assert len(ops(check(b, [dequantized(b, element)], PackQuantizedWeights()), PackOp)) == 3


@pytest.mark.parametrize("element", ["i8", "ui8", "i4", "ui4"])
def test_compiled(element: str, tmp_path: Path) -> None:
    b = GraphBuilder(fresh())
    module = b.module(dequantized(b, element))
    expected = references(b, module, [{}])
    net = build(b, module, tmp_path, tmp_path / "cache")
    assert [k["schedule"].split(":")[0] for k in net.signature["kernels"]] == ["contraction"]
    compare(net, expected, f"a product with {element}")


def test_what_stays() -> None:
    """Floats, integers that are indices, sums of integers, and what is not read by columns."""
    b = GraphBuilder(fresh())
    x, wholes = b.input(ROWS, TERMS), b.input(ROWS, TERMS, element="i32")
    numbers = b.stored(b.random.integers(0, TERMS, (COLUMNS, TERMS)).astype(np.int32))
    rows = b.stored(b.random.integers(-8, 8, (TERMS, COLUMNS)).astype(np.int8), "rows")
    strings = {
        "x0[i0, r0] * x1[i1, r0]": [x, b.weight(COLUMNS, TERMS)],
        "x0[i0, x1[i1, r0]]": [x, numbers],
        "x0[i0, r0] * x1[i1, r0] + 1": [wholes, numbers],
        "x0[i0, r0] * f32(x1[r0, i1])": [x, rows],
    }
    sums = [b.add(ComputeOp(text, args, (ROWS, COLUMNS), (TERMS,), "add")) for text, args in strings.items()]
    assert not ops(check(b, sums, PackQuantizedWeights()), PackOp)


def fresh() -> int:
    """A seed, which a failure prints."""
    found = int(np.random.SeedSequence().generate_state(1)[0])
    print("seed", found)
    return found
