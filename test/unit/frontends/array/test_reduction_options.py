"""``where``, ``initial``, ``keepdims``, ``ddof`` and ``mean`` of reductions beside NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from seeds import drawn

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError

ROWS = [[1.5, np.nan, -2.0, 0.0], [3.0, 3.0, -0.0, 7.25], [np.nan, np.nan, 0.5, -1.0]]
ARRAYS = {
    "float": np.array(ROWS),
    "integer": np.array([[1, 0, -2, 5], [3, 3, 0, 7], [0, 0, 0, -9]]),
    "boolean": np.array([[True, False, True, True]] * 3),
}
MASKS: list[Any] = [None, True, False, [True, False, True, True], np.array([[True], [False], [True]])]
SUMS, EXTREMES = ("sum", "prod", "nansum", "nanprod"), ("max", "min", "nanmax", "nanmin")
SPREADS, TRUTHS, MEANS = ("var", "std", "nanvar", "nanstd"), ("all", "any"), ("mean", "nanmean")
OPTIONS: dict[str, list[dict[str, Any]]] = {
    **dict.fromkeys(SUMS, [{}, {"initial": 3}, {"initial": 1.5}]),
    **dict.fromkeys(EXTREMES, [{"initial": 2}, {"initial": 0.5}]),
    **dict.fromkeys(SPREADS, [{}, {"ddof": 1}, {"correction": 1}, {"ddof": 3}]),
    **dict.fromkeys((*TRUTHS, *MEANS), [{}]),
}
CASES = [
    (name, kind, axis, keepdims, mask, options)
    for name, every in OPTIONS.items()
    for kind, axis, keepdims, mask, options in product(ARRAYS, [None, 0, -1, (0, 1), ()], [False, True], MASKS, every)
]


@pytest.mark.parametrize("name, kind, axis, keepdims, mask, options", drawn(CASES, 60, "reductions"))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_options_are_those_of_numpy(
    name: str, kind: str, axis: Any, keepdims: bool, mask: Any, options: dict[str, Any]
) -> None:
    given = {"axis": axis, "keepdims": keepdims, **options} | ({} if mask is None else {"where": mask})
    wanted = np.asarray(getattr(np, name)(ARRAYS[kind], **given))
    found = np.asarray(getattr(mnp, name)(ARRAYS[kind], **given))
    assert (found.shape, found.dtype.kind) == (wanted.shape, wanted.dtype.kind)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_options_are_compiled() -> None:
    x, mask = ARRAYS["integer"] * 1.5, ARRAYS["integer"] != 0
    traced = mlc.jit(lambda x, m: (x.mean(axis=1, where=m), x.any(0, where=m), x.std(where=m, ddof=1)), wait=True)
    wanted = x.mean(1, where=mask), x.any(0, where=mask), x.std(where=mask, ddof=1)
    for found, right in zip(traced(x, mask), wanted, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_known_mean_is_taken() -> None:
    x = np.arange(12.0).reshape(3, 4)
    middle = x.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(mnp.var(x, axis=1, mean=middle), np.var(x, axis=1, mean=middle))
    np.testing.assert_allclose(mnp.std(x, axis=1, mean=middle + 1), np.std(x, axis=1, mean=middle + 1))


def test_the_gradient_passes_over_nan_that_a_mask_hides() -> None:
    x = np.array([1.0, np.nan, 4.0])
    found = mlc.grad(lambda x: mnp.var(x, where=[True, False, True]))(x)
    np.testing.assert_allclose(found, [-1.5, 0, 1.5])


def test_refusals() -> None:
    with pytest.raises(InputError, match=r"A mask of shape \(2, 3\) for elements of shape \(3,\)"):
        mnp.sum(np.ones(3), where=np.ones((2, 3), bool))
    with pytest.raises(InputError, match="Complex numbers have no maximum: they have no order. Use abs, real or imag"):
        mnp.max(np.ones(3) * 1j)
