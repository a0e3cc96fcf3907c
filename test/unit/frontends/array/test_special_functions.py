"""``mlc.scipy.special`` beside mpmath with 40 digits: values, derivatives, edges."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import mlc
import mlc.scipy.special as special

M = mpmath.mp
AT = [-2.7, -1.3, -0.2, 1e-3, 0.4, 1.5, 2.0, 7.9, 8.3, 30.0]
POSITIVE = [x for x in AT if x > 0]
INSIDE = [1e-9, 0.2, 0.5, 0.6, 0.999]
ONE: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "gammaln": (lambda x: M.log(abs(M.gamma(x))), AT),
    "digamma": (M.digamma, AT),
    "gamma": (M.gamma, AT),
    "i0": (lambda x: M.besseli(0, x), AT),
    "i0e": (lambda x: M.besseli(0, x) * M.exp(-abs(x)), AT),
    "i1": (lambda x: M.besseli(1, x), AT),
    "i1e": (lambda x: M.besseli(1, x) * M.exp(-abs(x)), AT),
    "erf": (M.erf, AT),
    "erfc": (M.erfc, AT),
    "erfcx": (lambda x: M.exp(x * x) * M.erfc(x), AT),
    "erfinv": (M.erfinv, [-0.7, *INSIDE]),
    "ndtr": (M.ncdf, AT),
    "log_ndtr": (lambda x: M.log(M.ncdf(x)), [-45.0, *AT]),
    "ndtri": (lambda p: M.sqrt(2) * M.erfinv(2 * p - 1), INSIDE),
    "logit": (lambda p: M.log(p / (1 - p)), INSIDE),
    "expit": (lambda x: 1 / (1 + M.exp(-x)), AT),
    "entr": (lambda x: -x * M.log(x), POSITIVE),
    "factorial": (lambda x: M.gamma(x + 1), POSITIVE),
}
SEVERAL: dict[str, tuple[Callable[..., Any], list[tuple[float, ...]]]] = {
    "gammainc": (lambda a, x: M.gammainc(a, 0, x, regularized=True), [(2.0, 1.5), (0.3, 4.0), (50.0, 45.0)]),
    "gammaincc": (lambda a, x: M.gammainc(a, x, regularized=True), [(2.0, 1.5), (0.3, 4.0), (50.0, 80.0)]),
    "betainc": (lambda a, b, x: M.betainc(a, b, 0, x, regularized=True), [(2.0, 3.0, 0.4), (0.5, 20.0, 0.1)]),
    "beta": (M.beta, [(2.0, 3.5), (0.1, 9.0)]),
    "zeta": (M.zeta, [(3.0, 1.5), (1.1, 20.0)]),
    "xlogy": (lambda x, y: x * M.log(y), [(2.0, 3.0)]),
    "kl_div": (lambda x, y: x * M.log(x / y) - x + y, [(2.0, 3.0)]),
    "boxcox": (lambda x, n: (x**n - 1) / n, [(2.0, 0.5), (0.3, -2.0)]),
    "poch": (M.rf, [(2.0, 3.5)]),
    "comb": (M.binomial, [(5.0, 2.2), (60.0, 30.0)]),
}


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(name: str) -> None:
    exact, at = ONE[name]
    x = np.array(at)
    with M.workdps(40):
        wanted, slopes = ([float(f(M.mpf(v))) for v in at] for f in (exact, lambda v: M.diff(exact, v)))
    f = getattr(special, name)
    value, slope = mlc.jvp(f, (x,), (np.ones_like(x),))
    np.testing.assert_allclose(value, wanted, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(slope, slopes, rtol=1e-9, atol=1e-11)
    narrow = f(x.astype(np.float32)).numpy()
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, f(x.astype(np.float32).astype(float)), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", SEVERAL)
def test_functions_of_several_numbers(name: str) -> None:
    exact, points = SEVERAL[name]
    f, xs = getattr(special, name), [np.array(each) for each in zip(*points, strict=True)]
    for n in range(len(xs)):
        along = [np.ones_like(x) if k == n else np.zeros_like(x) for k, x in enumerate(xs)]
        value, slope = mlc.jvp(f, tuple(xs), tuple(along))
        order = tuple(int(k == n) for k in range(len(xs)))
        with M.workdps(40):
            wanted = [float(exact(*map(M.mpf, each))) for each in points]
            slopes = [float(M.diff(exact, tuple(map(M.mpf, each)), order)) for each in points]
        np.testing.assert_allclose(value, wanted, rtol=1e-10)
        np.testing.assert_allclose(slope, slopes, rtol=1e-7, atol=1e-11)


def test_edges() -> None:
    inf, nan = math.inf, math.nan
    x = np.array([-inf, -2.0, -0.0, 0.0, inf, nan])
    wanted = {
        "gammaln": [inf, inf, inf, inf, inf, nan],
        "digamma": [nan, nan, inf, -inf, inf, nan],
        "gamma": [nan, nan, -inf, inf, inf, nan],
        "i0": [inf, None, 1, 1, inf, nan],
        "erfinv": [nan, nan, 0, 0, nan, nan],
        "ndtri": [nan, nan, -inf, -inf, nan, nan],
        "entr": [-inf, -inf, 0, 0, -inf, nan],
    }
    for name, values in wanted.items():
        found = np.asarray(getattr(special, name)(x))
        for ours, theirs in zip(found, values, strict=True):
            assert theirs is None or np.array_equal(ours, theirs, equal_nan=True), name
    assert float(special.logsumexp(np.array([1.0, 2.0]), b=np.array([0.0, 3.0]))) == pytest.approx(2 + math.log(3))
    assert float(special.xlogy(0.0, 0.0)) == 0 and np.isnan(float(special.xlogy(0.0, nan)))


def test_a_name_that_is_not_there_says_what_is() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'gammaln'"):
        special.gamaln  # noqa: B018
