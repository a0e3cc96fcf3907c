"""Which functions `fuzz_transforms.py` differentiates, when a derivative differs from JAX's, and which rule says so."""

from __future__ import annotations

from typing import Any

import jax_rules
import numpy as np
from jax_calls import FLOATS, Array, Call, Draw, Rng, axis_of, normal, shape, some, square, unary
from jax_families import FAMILIES, REAL, density
from jax_rules import LIMITS

ELEMENTWISE = ("unary", "binary", "where", "special", "special2", "activations", "activations of two", "densities")
"""Families of which each element is compared in its own size."""
FURTHER: dict[str, tuple[Draw, str, str]] = {}


def family(key: str, draw: Draw, module: str, names: str) -> None:
    FURTHER[key] = draw, module, names


family("lax", unary(REAL), "lax", "erf erfc erf_inv lgamma digamma logistic rsqrt cbrt log1p expm1 tan asinh acosh")


def running(rng: Rng) -> Any:
    return (normal(rng, shape(rng, 1)),), {"reverse": bool(rng.random() < 0.5)}


family("lax running", running, "lax", "cumsum cumprod cummax cummin cumlogsumexp")


def vectors(rng: Rng) -> Any:
    return (normal(rng, [int(rng.integers(1, 6))]), normal(rng, [int(rng.integers(1, 5))])), {}


family("vectors", vectors, "numpy", "convolve correlate outer polyval polymul kron")


def rows(rng: Rng) -> Any:
    return (normal(rng, [int(rng.integers(2, 5)), 3]), normal(rng, [3])), {}


family("rows", rows, "numpy", "inner dot vdot_ cross vecdot matvec")


def matrix(rng: Rng) -> Any:
    return (normal(rng, [int(n) for n in rng.integers(1, 5, 2)]),), {}


family("matrix", matrix, "numpy", "tril triu fliplr rot90 diagonal cov corrcoef ptp linalg.svdvals linalg.pinv vander_")
family("spectra", matrix, "numpy", "fft.fft fft.rfft fft.ifft fft.fft2 fft.ihfft fft.fftshift fft.irfft_ fft.hfft_")
family("general matrices", square(), "numpy", "linalg.inv linalg.pinv linalg.det linalg.slogdet")
family("factors", square(positive=True), "scipy", "linalg.cholesky linalg.expm linalg.inv linalg.det")


def interpolated(rng: Rng) -> Any:
    return (normal(rng, shape(rng)), np.sort(rng.random(5)) * 4 - 2, normal(rng, [5])), {}


family("interp", interpolated, "numpy", "interp")


def of_axis(rng: Rng) -> Any:
    x = normal(rng, [int(n) for n in rng.integers(1, 4, 2)])
    return (x,), some(rng, axis=axis_of(rng, 2))


family("of an axis", of_axis, "nn", "softmax log_softmax logsumexp standardize")
family("polygamma", density(0), "scipy", "special.erfcx special.log_ndtr special.gammasgn")
assert FLOATS


def elementwise(name: str) -> bool:
    module, function = name.split(".", 1)
    return any(FAMILIES[key][1] == module and function in FAMILIES[key][2].split() for key in ELEMENTWISE)


def close(ours: Array, theirs: Array, scale: float) -> bool:
    """Whether numbers are those of roundings apart, where intermediate ones are as large as ``scale``."""
    if ours.dtype.kind != "f":
        return bool(np.array_equal(ours, theirs))
    limit = LIMITS[theirs.dtype.name]
    wide, right = ours.astype(np.float64), theirs.astype(np.float64)
    return bool(np.allclose(wide, right, rtol=10 * limit, atol=limit * min(scale, 1e30) + 2e-38, equal_nan=True))


def scale_of(call: Call, wanted: dict[str, list[Array]]) -> float:
    """How large the numbers of a call are; at most 1 where each element is a call of its own."""
    finite = [np.abs(x[np.isfinite(x)]).max(initial=0) for each in wanted.values() for x in each]
    largest = float(max([1.0, *finite]))
    return 1.0 if elementwise(call.name) else largest


KINKS = (
    *("maximum", "minimum", "fmax", "fmin", "clip", "hard_tanh", "hard_sigmoid", "hard_silu", "hard_swish", "relu6"),
    *("sparse_sigmoid", "sparse_plus", "celu", "elu", "leaky_relu", "selu", "relu", "abs", "absolute", "fabs", "sort"),
    *("max", "min", "amax", "amin", "nanmax", "nanmin", "ptp", "sign", "heaviside", "cummax", "cummin", "uniform"),
    *("i0e", "laplace"),
)
"""At a kink any number between the slopes of its sides is right: where a number is the other operand it gets none here
and half of it in JAX; PyTorch's activations are followed. An extreme that is NaN passes all to both."""
ALONE = {
    "ldexp": "JAX's slope of an infinity is 1",
    "geom": "edges are SciPy's",
    "bernoulli": "edges are SciPy's",
    "uniform": "edges are SciPy's",
    "angle": "JAX's angle of real numbers is float64",
    "kl_div": "slopes of what is infinite",
    "rel_entr": "slopes of what is infinite",
    "gelu": "gelu is the exact one",
    "zeta": "JAX continues where SciPy gives NaN",
}


def explained(what: str, call: Call, ours: Any, theirs: Any, why: str, value: list[Array]) -> str:
    """The rule that a difference falls under; "" for none."""
    parts = call.name.split(".")
    if known := jax_rules.explained(call, ours, theirs, why):
        return known
    if rule := next((ALONE[each] for each in parts if each in ALONE), ""):
        return rule
    if theirs is None or "value" in what or what == "vmap" or ours.shape != theirs.shape:
        return ""
    return _of_elements(call, ours, theirs, value)


def _of_elements(call: Call, ours: Array, theirs: Array, value: list[Array]) -> str:
    arrays = [x for x in call.args if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    edges = any(jax_rules._has_edges(x) for x in arrays)
    if any(not np.isfinite(x).all() for x in value):
        return "slopes of what is no finite number"
    if edges and bool(np.isnan(theirs[ours != theirs]).all()) and np.isfinite(ours).all():
        return "0 times infinity in a branch that is not taken"
    if call.name.split(".")[-1] in KINKS or call.name.split(".")[-2] in KINKS:
        return "kinks"
    return ""
