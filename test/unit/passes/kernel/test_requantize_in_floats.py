"""requantize-in-floats: the same bits as by way of bytes, for whatever is quantized; other expressions stay."""

from __future__ import annotations

import numpy as np
import pytest
from graph_checks import GraphBuilder, check, ops

from mlc.dialects.graph import MapOp
from mlc.dialects.semantics.evaluate import evaluate_expr
from mlc.dialects.semantics.expr import parse
from mlc.passes.kernel.requantize_in_floats import RequantizeInFloats

EDGES = [0.0, -0.0, 0.5, -0.5, 1.5, -1e-30, 2.0**22, 2.0**23 + 1, -(2.0**24) - 2, 3e9, -3e38, np.inf, -np.inf]


def shortened(text: str, element: str = "f32") -> str:
    """The expression of a map of one operand after the pass."""
    b = GraphBuilder()
    y = b.add(MapOp(text, [b.input(9, element=element)]))
    return str(ops(check(b, [y], RequantizeInFloats()), MapOp)[0].scalar)


@pytest.mark.parametrize(("element", "low", "high"), [("i8", -128, 127), ("ui8", 0, 255), ("i16", -32768, 32767)])
@pytest.mark.parametrize("zero", [0, 3, -128, 255])
@pytest.mark.parametrize("other", [None, 7])
def test_the_same_bits(element: str, low: int, high: int, zero: int, other: int | None) -> None:
    step = f"round(x0 * 0.75) + f32({zero})" if zero else "round(x0 * 0.75)"
    text = f"f32(i32({element}(min(max({step}, {low}), {high}))) - {zero if other is None else other}) * 0.3"
    short = shortened(text)
    assert "i32" not in short
    x = np.concatenate([np.random.default_rng().normal(0, 200, 500), EDGES]).astype(np.float32)
    want, got = (np.asarray(evaluate_expr(parse(e), [x], {}), np.float32) for e in (text, short))
    np.testing.assert_array_equal(got.view(np.int32), want.view(np.int32))


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("ui8(i32(i8(min(max(round(x0) + f32(5), -128), 127))) + 128)",
         "ui8(min(max((round(x0) + 133.0), 0.0), 255.0))"),
        ("ui8(i32(i8(min(max(round(x0) + f32(-128), -128), 127))) + 128)", "ui8(min(max(round(x0), 0.0), 255.0))"),
        ("i32(ui8(min(max(round(x0), 0), 255)))", "i32(min(max(round(x0), 0.0), 255.0))"),
    ],
)  # fmt: skip
def test_bytes_of_the_other_sign(text: str, short: str) -> None:
    assert shortened(text) == short


def test_a_chain_of_quantizations() -> None:
    inner = "f32(i32(i8(min(max(round(x0 * 8.0) + f32(3), -128), 127))) - 3) * 0.125"
    short = shortened(f"i8(min(max(round(({inner} + 1.0) * 2.0), -128), 127))")
    clipped = "min(max(round((x0 * 8.0)), -131.0), 124.0)"
    assert short == f"i8(min(max(round(((({clipped} * 0.125) + 1.0) * 2.0)), -128), 127))"


NUMBER = "(f32(i32(i8(min(max(round(x0 * 8.0) + f32(3), -128), 127))) - 3) * 0.125)"


@pytest.mark.parametrize(
    ("around", "zeros"),
    [
        ("i8(min(max(round({} * 2.0), -128), 127))", 0),
        ("i8(min(max(round(max(-{}, 0.0) - x0) + f32(-128), -128), 127))", 0),
        ("{} + 1.0", 0),
        ("2.0 - {}", 0),
        ("abs({})", 0),
        ("where(floor({}) < 0.0, x0, -x0)", 0),
        ("{}", 1),
        ("{} + x0", 1),
        ("{} + 0.0", 1),
        ("1.0 / {}", 1),
        ("atan2({}, -1.0)", 1),
        ("where(x0 > 0.0, {}, x0)", 1),
        ("(1.0 / {}) + 1.0", 1),
        ("i8(1.0 / {})", 1),
        ("i8(min(max(round(" + NUMBER.replace("x0", "{}") + " * 2.0), -128), 127))", 0),
        (NUMBER.replace("x0", "{}"), 1),
    ],
)
def test_signs_of_zeros_that_nobody_sees(around: str, zeros: int) -> None:
    """The same bits as by way of bytes, with ``+ 0.0`` only where it changes one."""
    text = around.format(NUMBER)
    short = shortened(text)
    assert "i32" not in short
    assert short.count("+ 0.0)") == zeros + ("+ 0.0" in around)
    x = np.concatenate([np.random.default_rng().normal(0, 3, 500), [0.0, -0.0, 0.01, -0.01, -1e-30]]).astype(np.float32)
    with np.errstate(all="ignore"):
        want, got = (np.asarray(evaluate_expr(parse(e), [x], {}), np.float32) for e in (text, short))
    np.testing.assert_array_equal(got.view(np.int32), want.view(np.int32))


@pytest.mark.parametrize(
    ("text", "element"),
    [
        ("f32(i32(i8(min(max(x0 * 8.0, -128), 127))) - 3)", "f32"),  # truncated, not rounded
        ("f32(i32(i8(min(max(round(x0), -129), 127))) - 3)", "f32"),  # wraps
        ("f32(i32(i8(round(x0))) - 3)", "f32"),
        ("f32(i32(min(max(round(x0), -1e8), 1e8)) + 1)", "f32"),  # not all of them are floats
        ("f32(i32(i8(min(max(round(x0) + 0.5, -128), 127))) - 3)", "f32"),
        ("f32(i32(i8(min(max(round(x0), -1.5), 127))) - 3)", "f32"),
        ("f32(i32(i8(min(max(round(x0), -128), 127))) - 3)", "f64"),
        ("f32(i32(i8(min(max(round(x0), -128), 127))) - 3)", "f16"),
        ("i8(min(max(round(x0), -128), 127))", "f32"),
    ],
)
def test_what_stays(text: str, element: str) -> None:
    assert shortened(text, element) == str(parse(text))
