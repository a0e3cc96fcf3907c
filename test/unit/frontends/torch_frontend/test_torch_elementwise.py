"""Elementwise ATen operators and activations against eager torch: dtypes, promotion, broadcasting, numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional as F  # noqa: E402
from unit.frontends.torch_frontend.programs import Case, Result, assert_equal, evaluated  # noqa: E402

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int64", "int32", "int8", "uint8")


def floats(*shape: int, dtype: str = "float32", low: float = -3.0, high: float = 3.0) -> Any:
    return torch.from_numpy(np.random.default_rng().uniform(low, high, shape)).to(getattr(torch, dtype))


def integers(*shape: int, dtype: str = "int64", low: int = -5, high: int = 6) -> Any:
    return torch.from_numpy(np.random.default_rng().integers(low, high, shape)).to(getattr(torch, dtype))


def flags(*shape: int) -> Any:
    return torch.from_numpy(np.random.default_rng().random(shape) < 0.5)


ANY = ("abs", "neg", "sign", "square", "sgn", "positive", "logical_not")
REAL = (
    "atan", "asinh", "ceil", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "floor", "frac", "isnan", "isinf",
    "isfinite", "reciprocal", "relu", "round", "sigmoid", "sin", "sinh", "tan", "tanh", "trunc", "signbit",
)  # fmt: skip
POSITIVE = ("log", "log10", "log1p", "log2", "rsqrt", "sqrt", "acosh")
UNIT = ("acos", "asin", "atanh")
BINARY = (
    "add", "sub", "mul", "div", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or",
    "logical_xor", "fmax", "fmin",
)  # fmt: skip
WHOLE = ("bitwise_and", "bitwise_or", "bitwise_xor")
ACTIVATIONS = (
    "celu", "elu", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "logsigmoid", "mish",
    "relu6", "selu", "silu", "softplus", "softshrink", "softsign", "tanhshrink", "glu",
)  # fmt: skip


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for dtype in FLOATS:
        for name in (*ANY, *REAL):
            found[f"{name}_{dtype}"] = getattr(torch, name), (floats(3, 4, dtype=dtype),)
        for name in POSITIVE:
            found[f"{name}_{dtype}"] = getattr(torch, name), (floats(5, dtype=dtype, low=1.1, high=9),)
        for name in UNIT:
            found[f"{name}_{dtype}"] = getattr(torch, name), (floats(5, dtype=dtype, low=-0.9, high=0.9),)
        for name in BINARY:
            x, y = floats(4, 1, 3, dtype=dtype), floats(2, 1, dtype=dtype)
            found[f"{name}_{dtype}"] = getattr(torch, name), (x, y)
    for dtype in INTEGERS:
        low = 0 if "u" in dtype else -5
        for name in ("abs", "neg", "sign", "square", "ceil", "relu", "isnan", "bitwise_not"):
            found[f"{name}_{dtype}"] = getattr(torch, name), (integers(3, 4, dtype=dtype, low=low),)
        for name in (*BINARY, *WHOLE):
            pair = (integers(3, 4, dtype=dtype, low=0, high=7), integers(4, dtype=dtype, low=1, high=7))
            found[f"{name}_{dtype}"] = getattr(torch, name), pair
    for name in ("exp", "sqrt", "sigmoid", "reciprocal", "tanh", "log"):
        found[f"{name}_of_integers"] = getattr(torch, name), (integers(6, low=1),)
    for name in ACTIVATIONS:
        found[name] = getattr(F, name), (floats(3, 6),)
    return found | special()


def special() -> dict[str, Case]:
    x, y, n = floats(3, 4), floats(3, 4), integers(3, 4)
    bad = torch.tensor([np.nan, np.inf, -np.inf, 0.0, -1.5])
    return {
        "add_alpha": (lambda a, b: torch.add(a, b, alpha=2.5), (x, y)),
        "sub_alpha": (lambda a, b: torch.sub(a, b, alpha=3), (n, integers(4))),
        "rsub": (lambda a: 2.5 - a, (x,)),
        "add_number": (lambda a: a + 2, (x,)),
        "add_float_to_integers": (lambda a: a + 1.5, (n,)),
        "promoted": (lambda a, b: a * b, (n, x)),
        "promoted_compare": (lambda a, b: a < b, (n, x)),
        "promoted_scalar_tensor": (lambda a, b: a + b, (floats(3, dtype="float16"), torch.tensor(2.0))),
        "half_and_single": (lambda a, b: a + b, (floats(3, dtype="float16"), floats(3))),
        "predicates_added": (lambda a, b: a + b, (flags(4), flags(4))),
        "predicates_multiplied": (lambda a, b: a * b, (flags(4), flags(4))),
        "predicate_times_float": (lambda a, b: a * b, (flags(4), floats(4))),
        "floor_divide": (lambda a, b: a // b, (integers(9), integers(9, low=1, high=4))),
        "floor_divide_floats": (lambda a, b: a // b, (floats(9), floats(9, low=0.5))),
        "divide_truncated": (lambda a, b: torch.div(a, b, rounding_mode="trunc"), (integers(9), integers(9, low=1))),
        "divide_floats_truncated": (lambda a: torch.div(a, 0.7, rounding_mode="trunc"), (x,)),
        "divide_integers": (lambda a, b: a / b, (n, integers(4, low=1))),
        "remainder": (lambda a, b: a % b, (integers(9), integers(9, low=1, high=4))),
        "remainder_floats": (lambda a: torch.remainder(a, 0.75), (x,)),
        "fmod": (lambda a: torch.fmod(a, 0.75), (x,)),
        "pow_number": (lambda a: a**3, (x,)),
        "pow_integers": (lambda a: a**2, (n,)),
        "pow_fraction": (lambda a: a**0.3, (floats(5, low=0.1),)),
        "pow_tensors": (torch.pow, (floats(4, low=0.1), floats(4))),
        "pow_of_number": (lambda a: torch.pow(2.0, a), (x,)),
        "atan2": (torch.atan2, (x, y)),
        "hypot": (torch.hypot, (x, y)),
        "copysign": (torch.copysign, (x, y)),
        "xlogy": (torch.xlogy, (floats(5, low=0), floats(5, low=0.1))),
        "logaddexp": (torch.logaddexp, (x, y)),
        "shift_left": (lambda a: a << 3, (n,)),
        "shift_right": (lambda a, b: torch.bitwise_right_shift(a, b), (n, integers(4, low=0, high=3))),
        "where": (torch.where, (flags(3, 4), x, floats(4))),
        "where_number": (lambda c, a: torch.where(c, a, 0.0), (flags(3, 4), x)),
        "masked_fill": (lambda a, m: a.masked_fill(m, -1e9), (x, flags(4))),
        "clamp": (lambda a: a.clamp(-1, 0.5), (x,)),
        "clamp_min": (lambda a: a.clamp(min=1), (n,)),
        "clamp_tensors": (lambda a, low: torch.clamp(a, low, low + 1), (x, floats(4))),
        "lerp": (lambda a, b: torch.lerp(a, b, 0.3), (x, y)),
        "lerp_tensor": (torch.lerp, (x, y, floats(4, low=0, high=1))),
        "addcmul": (lambda a, b: torch.addcmul(a, b, b, value=0.5), (x, y)),
        "addcdiv": (lambda a, b: torch.addcdiv(a, b, b + 9, value=0.5), (x, y)),
        "nan_to_num": (torch.nan_to_num, (bad,)),
        "isnan_bad": (torch.isnan, (bad,)),
        "isinf_bad": (torch.isinf, (bad,)),
        "maximum_nan": (torch.maximum, (bad, floats(5))),
        "fmax_nan": (torch.fmax, (bad, floats(5))),
        "gelu_tanh": (lambda a: F.gelu(a, approximate="tanh"), (x,)),
        "gelu_half": (F.gelu, (floats(3, 4, dtype="bfloat16"),)),
        "silu_half": (F.silu, (floats(3, 4, dtype="float16"),)),
        "elu_alpha": (lambda a: F.elu(a, alpha=0.5), (x,)),
        "softplus_beta": (lambda a: F.softplus(a, beta=2, threshold=3), (x,)),
        "threshold": (lambda a: F.threshold(a, 0.5, -1.0), (x,)),
        "prelu": (lambda a, w: F.prelu(a, w), (floats(2, 4, 3), floats(4))),
        "glu_axis": (lambda a: F.glu(a, dim=0), (floats(4, 3),)),
        "to_integer": (lambda a: a.to(torch.int32), (x,)),
        "to_bool": (lambda a: a.bool(), (n,)),
        "to_half": (lambda a: a.half(), (x,)),
        "to_double": (lambda a: a.double(), (n,)),
        "round_half_even": (torch.round, (torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5]),)),
    }


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    return evaluated(cases())


@pytest.mark.parametrize("name", cases())
def test_elementwise(name: str, results: dict[str, Result]) -> None:
    assert_equal(results[name])
