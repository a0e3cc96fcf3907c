"""When a result of mlc differs from JAX's, and which rule says so."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax_calls import Array, Call

LIMITS = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 3e-5, "float64": 1e-9}
"""Relative differences that roundings make."""


def differs(ours: Array, theirs: Array, call: Call) -> str:
    """Which of shape, type and values differs; empty where none does."""
    if ours.shape != theirs.shape:
        return f"shape {ours.shape} for {theirs.shape}"
    if ours.dtype != theirs.dtype:
        return f"type {ours.dtype} for {theirs.dtype}"
    return "" if close(ours, theirs) else "values"


def close(ours: Array, theirs: Array) -> bool:
    kind = ours.dtype.kind
    if kind in "biu":
        return bool(np.array_equal(ours, theirs))
    if kind == "c":
        return close(ours.real, theirs.real) and close(ours.imag, theirs.imag)
    if kind in "US":
        return True
    limit = LIMITS[min(ours.dtype.name, theirs.dtype.name, key=lambda n: -LIMITS[n])]
    wide, right = ours.astype(np.float64), theirs.astype(np.float64)
    finite = right[np.isfinite(right)]
    scale = min(np.abs(finite).max(initial=0), 1e30)
    return bool(np.allclose(wide, right, rtol=limit, atol=limit * scale + 2e-38, equal_nan=True))


INTEGERS, EDGES, TYPES, REFUSED = "integers", "edges", "types", "refused"
RULES = {
    **dict.fromkeys(("cumsum", "cumprod", "nancumsum", "nancumprod"), (INTEGERS, "running sums of them are wider")),
    **dict.fromkeys(("cumulative_sum", "cumulative_prod"), (INTEGERS, "running sums of them are wider")),
    **dict.fromkeys(("rint", "searchsorted"), (INTEGERS, "they are kept, or positions are int64")),
    **dict.fromkeys(("power", "pow", "square"), (INTEGERS, "powers of integers and booleans")),
    **dict.fromkeys(("gelu",), ("", "gelu is the exact one")),
    **dict.fromkeys(("digamma", "zeta", "poch", "betaln", "gammaln"), (EDGES, "poles, computed in f64")),
    **dict.fromkeys(("gammainc", "multigammaln"), (EDGES, "poles, computed in f64")),
    **dict.fromkeys(("geom", "bernoulli", "rel_entr", "kl_div"), (EDGES, "edges are SciPy's")),
    **dict.fromkeys(("softmax", "log_softmax", "exp2", "i0"), (EDGES, "roundings and overflows of JAX")),
    **dict.fromkeys(("quantile", "nanquantile"), (TYPES, "in the type of the elements")),
    **dict.fromkeys(("percentile", "nanpercentile"), (TYPES, "in the type of the elements")),
    **dict.fromkeys(("take", "trim_zeros"), (REFUSED, "refused")),
    **dict.fromkeys(("sinc", "angle", "standardize", "pad"), (INTEGERS, "in float32, integer means")),
}
"""Functions with a rule of their own (docs/coming-from/jax.md), and the arguments or differences that it is about."""


def explained(call: Call, ours: Any, theirs: Any, why: str) -> str:
    """The rule that a difference falls under; "" for none."""
    arrays = [x for x in call.args if isinstance(x, np.ndarray)]
    integers = bool(arrays) and all(x.dtype.kind in "biu" for x in arrays)
    if "no common integer type" in why or "on booleans" in why or "out of bounds" in why:
        return "refused"
    if any(0 < abs(v) < 1.2e-38 for x in arrays if x.dtype.kind not in "biuc" for v in x.astype(float).ravel()):
        return "numbers below the least normal one"
    narrower = theirs is not None and ours.dtype == np.float32 and theirs.dtype == np.float64
    if narrower and integers and close(ours, theirs.astype(np.float32)):
        return "floats of integers are float32"
    if integers and call.name.endswith(("floor_divide", "divmod", "remainder", "mod", "fmod", "divide")):
        return "integers divided by 0"
    if call.options.get("dtype") == "int32" or any(isinstance(x, np.floating) for x in call.args):
        return "floats as integers; types of NumPy's scalars"
    holds = {"": True, INTEGERS: integers, EDGES: any(map(_has_edges, arrays)), TYPES: why.startswith("type"),
             REFUSED: theirs is None}  # fmt: skip
    rules = (rule for name, (when, rule) in RULES.items() if name in call.name.split(".") and holds[when])
    return next(rules, "")


def _has_edges(x: Array) -> bool:
    """Whether an element is a pole of a function: not finite, an integer of at most 0, or beyond the range of exp."""
    wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    integers = (wide.real <= 0) & (wide.real == np.round(wide.real))
    return bool((~np.isfinite(wide) | integers | (np.abs(wide) > 80)).any())
