"""Every function of ``mlc.numpy`` has derivatives to the second order, in both modes, in vmap and scan, or a reason.

A new function of one or two arrays is tested without an entry here. Of those that are composed of others, whose first
derivatives are all tested beside them, ``--seed`` draws some.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.frontends.array import compositions, further
from mlc.frontends.array.compositions.aliases import ALIASES
from mlc.frontends.array.namespace import NAMESPACE

RNG = np.random.default_rng(1234)
X, Y = RNG.uniform(0.2, 0.8, (3, 4)), RNG.uniform(0.2, 0.8, (3, 4))
V = RNG.normal(size=(3, 4))
STEP = 1e-5

CALLS: dict[str, Callable[[Any], Any]] = {
    "acosh": lambda x: mnp.acosh(x + 1),
    "astype": lambda x: mnp.astype(x, "float64"),
    "broadcast_arrays": lambda x: mnp.broadcast_arrays(x, Y[None])[0],
    "broadcast_to": lambda x: mnp.broadcast_to(x, (2, 3, 4)),
    "concat": lambda x: mnp.concat([x, Y, x], axis=1),
    "clip": lambda x: mnp.clip(x, 0.3, 0.7),
    "cumprod": lambda x: mnp.cumprod(x, 1),
    "cumulative_prod": lambda x: mnp.cumulative_prod(x, axis=1),
    "cumulative_sum": lambda x: mnp.cumulative_sum(x, axis=1),
    "einsum": lambda x: mnp.einsum("ij,kj->ik", x, x),
    "expand_dims": lambda x: mnp.expand_dims(x, axis=1),
    "matmul": lambda x: mnp.matmul(x, Y.T),
    "meshgrid": lambda x: mnp.meshgrid(x[0], x[1])[0],
    "moveaxis": lambda x: mnp.moveaxis(x, 0, 1),
    "permute_dims": lambda x: mnp.permute_dims(x, (1, 0)),
    "repeat": lambda x: mnp.repeat(x, 2, axis=0),
    "reshape": lambda x: mnp.reshape(x, (2, 6)),
    "roll": lambda x: mnp.roll(x, 1, axis=1),
    "squeeze": lambda x: mnp.squeeze(x[None], axis=0),
    "stack": lambda x: mnp.stack([x, Y], axis=1),
    "take": lambda x: mnp.take(x, np.array([2, 0, 2]), axis=1),
    "take_along_axis": lambda x: mnp.take_along_axis(x, np.array([[2, 0], [1, 1], [3, 3]]), axis=1),
    "tile": lambda x: mnp.tile(x, (2, 1)),
    "unstack": lambda x: mnp.unstack(x)[1],
    "where": lambda x: mnp.where(x > 0.5, x, x * x),
}
INTEGERS = (
    *("all", "any", "argmax", "argmin", "argsort", "bitwise_and", "bitwise_invert", "bitwise_left_shift"),
    *("bitwise_or", "bitwise_right_shift", "bitwise_xor", "count_nonzero", "equal", "greater", "greater_equal"),
    *("isfinite", "isin", "isinf", "isnan", "less", "less_equal", "logical_and", "logical_not", "logical_or"),
    *("logical_xor", "nonzero", "not_equal", "searchsorted", "signbit"),
)
CREATION = (
    *("arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "ones"),
    *("ones_like", "zeros", "zeros_like"),
)
TYPES = (*("__array_namespace_info__", "broadcast_shapes", "can_cast", "finfo", "iinfo", "isdtype", "result_type"),)
WITHOUT = {
    **dict.fromkeys(INTEGERS, "integers or predicates"),
    **dict.fromkeys(CREATION, "makes arrays"),
    **dict.fromkeys(TYPES, "types and shapes"),
    **dict.fromkeys(("unique_all", "unique_counts", "unique_inverse", "unique_values"), "as many values as data says"),
    "nextafter": "bits of floats",
}


COMPOSED: dict[str, Callable[[Any], Any]] = {
    "average": lambda x: mnp.average(x, 1, weights=x + 1),
    "cbrt": mnp.cbrt,
    "convolve": lambda x: mnp.convolve(x[0], x[1]),
    "corrcoef": mnp.corrcoef,
    "cov": mnp.cov,
    "cross": lambda x: mnp.cross(x[:, :3], x[:, 1:]),
    "diag": lambda x: mnp.diag(x[0]),
    "diagonal": mnp.diagonal,
    "diff": mnp.diff,
    "dot": lambda x: mnp.dot(x, x.T),
    "gradient": lambda x: mnp.gradient(x, axis=1),
    "interp": lambda x: mnp.interp(x, mnp.cumsum(x[0]), x[1]),
    "kron": lambda x: mnp.kron(x, x),
    "logaddexp2": lambda x: mnp.logaddexp2(x, 2 * x),
    "median": lambda x: mnp.median(x, axis=1),
    "nanmean": lambda x: mnp.nanmean(x, axis=1),
    "norm": lambda x: mnp.linalg.norm(x, axis=1),
    "pad": lambda x: mnp.pad(x, 2, mode="reflect"),
    "polyval": lambda x: mnp.polyval(x[0], x[1]),
    "quantile": lambda x: mnp.quantile(x, 0.3, axis=0),
    "rot90": lambda x: mnp.rot90(mnp.fliplr(x)),
    "select": lambda x: mnp.select([x > 0.5, x > 0.3], [x, x * x], 1.0),
    "sinc": mnp.sinc,
    "trapezoid": lambda x: mnp.trapezoid(x, x[0] * 2),
    "vander": lambda x: mnp.vander(x[0], 3),
    "written": lambda x: x.at[1].set(x[0] ** 2).at[:, 0].multiply(x[:, 1]),
}
COMPOSITIONS = [each for package in (compositions, further) for each in vars(package).values()]
OF_OTHERS = {name for each in COMPOSITIONS for name in getattr(each, "PUBLIC", ())} | ALIASES.keys()
DRAWN = np.random.default_rng().choice(sorted(COMPOSED), 5, replace=False).tolist()


def call(name: str) -> Callable[[Any], Any]:
    """The function of one array."""
    if name in COMPOSED and (name in OF_OTHERS or name not in NAMESPACE):
        return COMPOSED[name]
    f = NAMESPACE[name]
    if name in CALLS:
        return CALLS[name]
    try:
        f(mnp.asarray(X))
    except TypeError:
        return lambda x: f(x, Y)
    return f


def along(f: Callable[[Any], Any]) -> np.ndarray:
    high, low = (np.asarray(f(mnp.asarray(X + sign * STEP * V))) for sign in (1, -1))
    return (high - low) / (2 * STEP)


def close(actual: Any, expected: Any, tolerance: float = 1e-7) -> None:
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", sorted({*NAMESPACE.keys() - WITHOUT.keys() - OF_OTHERS, *DRAWN}))
def test_derivatives(name: str) -> None:
    f = call(name)

    def total(x: Any) -> Any:
        y = f(x)
        return mnp.sum(mnp.sin(y) * mnp.asarray(np.arange(1.0, 1 + np.prod(y.shape)).reshape(y.shape)))

    close(mlc.jvp(f, (X,), (V,))[1], along(f))
    gradient = np.asarray(mlc.grad(total)(X))
    close((gradient * V).sum(), along(total), 1e-6)
    close(mlc.hvp(total, (X,), (V,)), along(mlc.grad(total)), 1e-5)
    xs = np.stack([X, Y])
    each = [gradient, np.asarray(mlc.grad(total)(Y))]
    close(mlc.vmap(mlc.grad(total))(xs), np.stack(each), 1e-11)
    close(
        mlc.grad(lambda xs: mlc.scan(lambda s, x: (s + total(x), s), xs[0, 0, 0] * 0, xs)[0])(xs), np.stack(each), 1e-11
    )


def test_all_reasons_are_of_functions() -> None:
    assert WITHOUT.keys() | CALLS.keys() <= NAMESPACE.keys()
