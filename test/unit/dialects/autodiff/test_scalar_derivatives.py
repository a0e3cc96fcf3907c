"""Derivatives of scalar expressions against central differences in float64, and where there is more than one."""

from __future__ import annotations

import numpy as np
import pytest

from mlc.dialects.autodiff.scalar import FORMULAS, NoDerivative, pullback, total
from mlc.dialects.semantics.evaluate import evaluate_expr
from mlc.dialects.semantics.expr import FUNCTIONS, PREDICATES, Load, element_type, parse

STEP = 1e-6
INSIDE = {"asin": (-0.9, 0.9), "acos": (-0.9, 0.9), "atanh": (-0.9, 0.9), "acosh": (1.1, 4), "log1p": (-0.9, 3)}
POSITIVE = ("log", "log2", "log10", "sqrt", "rsqrt", "pow")


def slopes(text: str, *xs: np.ndarray | float, element: str = "f64") -> list[np.ndarray]:
    """The derivative with respect to each operand, for an adjoint of 1; 0 where nothing is handed on."""
    elements = [element] * (len(xs) + 1)
    parts = pullback(parse(text), Load(len(xs)), elements)
    operands = [np.asarray(x, "f8") for x in (*xs, 1.0)]
    sums = [total([g for load, g in parts if load.operand == n] or [parse("f64(0)")]) for n in range(len(xs))]
    assert all(element_type(s, elements) in (element, "f64") for s in sums)
    with np.errstate(all="ignore"):
        return [np.asarray(evaluate_expr(s, operands, {})) for s in sums]


def differences(text: str, *xs: np.ndarray) -> list[np.ndarray]:
    found = []
    for n, x in enumerate(xs):
        after, before = (evaluate_expr(parse(text), [*xs[:n], x + d, *xs[n + 1 :]], {}) for d in (STEP, -STEP))
        found.append((after - before) / (2 * STEP))
    return found


def agrees(text: str, *xs: np.ndarray) -> None:
    for actual, right in zip(slopes(text, *xs), differences(text, *xs), strict=True):
        np.testing.assert_allclose(np.broadcast_to(actual, right.shape), right, rtol=2e-6, atol=2e-8)


@pytest.mark.parametrize("fn", FORMULAS)
def test_each_function(fn: str) -> None:
    random = np.random.default_rng([7, len(fn)])
    low, high = INSIDE.get(fn, (0.2 if fn in POSITIVE else -2.3, 2.1))
    xs = [random.uniform(low, high, 50) for _ in range(FUNCTIONS[fn])]
    if fn in ("mod", "fmod", "div", "floordiv"):
        xs[1] = random.uniform(0.3, 2.0, 50)
    agrees(f"{fn}({', '.join(f'x{n}' for n in range(len(xs)))})", *xs)


def test_every_function_of_floats_has_a_formula() -> None:
    of_others = {  # no real functions
        *PREDICATES, "and_", "or_", "xor", "not_", "shl", "shr", "dot4", "dot2", "dot2x2", "dot2_i16", "add2", "sum2",
    }  # fmt: skip
    assert FUNCTIONS.keys() - FORMULAS.keys() - of_others == {"where", "max", "min"}


@pytest.mark.parametrize(
    "text",
    [
        "x0 * exp(x1) + x0 / x1",
        "max(x0, x1) * min(x0, 0.3)",
        "where(x0 < x1, x0 * x0, log(abs(x1)))",
        "softplus(x0) * sigmoid(x1)",
        "x0 * tanh(softplus(x1))",
        "0.5 * x0 * (1 + erf(x1 * 0.7071067811865476))",
        "clip(x0 * x1, -1, 1.5)",
        "(2.5 ** x0) * (x1 ** 3) - square(x0) ** 1",
        "reciprocal(2 + relu(x1)) ** 2",
        "x0 ** 0 + x1",
        "f64(f32(x0 * 0)) + x1",
    ],
)
def test_compositions(text: str) -> None:
    random = np.random.default_rng(len(text))
    agrees(text, random.normal(size=40), random.normal(size=40))


@pytest.mark.parametrize(
    ("text", "xs", "wanted"),
    [
        ("max(x0, x1)", (1.5, 1.5), (0.5, 0.5)),
        ("min(x0, x1)", (1.5, 1.5), (0.5, 0.5)),
        ("relu(x0)", (0.0,), (0.0,)),
        ("abs(x0)", (0.0,), (0.0,)),
        ("softplus(x0)", (0.0,), (0.5,)),
        ("x0 ** 2", (0.0,), (0.0,)),
        ("x0 ** x1", (0.0, 2.0), (0.0, 0.0)),
        ("x0 ** x1", (0.0, 0.0), (0.0, 0.0)),
        ("0 ** x0", (2.0,), (0.0,)),
        ("tanh(x0)", (30.0,), (0.0,)),
        ("sigmoid(x0)", (-800.0,), (0.0,)),
        ("f64(i64(x0)) + x0", (1.2,), (1.0,)),
        ("f64(x0 > 1) * x0", (1.2,), (1.0,)),
        ("where(x0 < 0, exp(x0) - 1, x0)", (1000.0,), (1.0,)),
        ("where(x0 > 0, log(x0), x0)", (0.0,), (1.0,)),
        ("max(sqrt(x0), x1)", (0.0, 2.0), (0.0, 1.0)),
    ],
)
def test_where_it_is_not_smooth(text: str, xs: tuple[float, ...], wanted: tuple[float, ...]) -> None:
    """Ties, kinks, and branches not taken whose own derivative is infinite."""
    np.testing.assert_allclose(slopes(text, *xs), wanted, atol=1e-20)


def test_softplus_keeps_its_values() -> None:
    x = np.array([-800, -3.5, -0.0, 0.0, 1e-9, 2.5, 800])
    old = np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
    np.testing.assert_array_equal(evaluate_expr(parse("softplus(x0)"), [x], {}), old)


def test_casts_hand_on_in_the_type_of_what_they_cast() -> None:
    ((load, g),) = pullback(parse("f32(x0)"), Load(1), ["f16", "f32"])
    assert (load, str(g), element_type(g, ["f16", "f32"])) == (Load(0), "f16(x1)", "f16")


@pytest.mark.parametrize("text", ["as_f32(as_i32(x0) + 1)", "f32(as_i32(x0))", "f32(f8e5m2(x0))", "f8e5m2(x0)"])
def test_bits_and_narrow_types_have_none(text: str) -> None:
    with pytest.raises(NoDerivative, match="conversion"):
        pullback(parse(text), Load(1), ["f32", "f32"])
