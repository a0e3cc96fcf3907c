"""Functions of SciPy, scikit-learn and einops on arrays of ``mlc.numpy`` and on NumPy's: prints the differences.

SciPy reads the environment variable SCIPY_ARRAY_API when it is imported, so this is a process of its own. None of
these functions writes to an array, which ours do not allow.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import mlc.numpy as mnp

X, Y = np.random.default_rng(int(sys.argv[1])).normal(size=(20, 4)), np.random.default_rng(7).normal(size=20)
Case = tuple[str, Callable[[Any, Any], Any]]


def scipy_functions() -> Iterator[Case]:
    from scipy import fft, integrate, optimize, signal, special, stats
    from scipy.spatial.transform import Rotation

    yield "special.softmax", lambda x, y: special.softmax(x, axis=1)
    yield "integrate.trapezoid", lambda x, y: integrate.trapezoid(x, axis=0)
    yield "integrate.cumulative_trapezoid", lambda x, y: integrate.cumulative_trapezoid(x, axis=0)
    yield "stats.skew", lambda x, y: stats.skew(x)
    yield "stats.kurtosis", lambda x, y: stats.kurtosis(x)
    yield "stats.moment", lambda x, y: stats.moment(x, order=3)
    yield "stats.gmean", lambda x, y: stats.gmean(x * x)
    yield "stats.hmean", lambda x, y: stats.hmean(x * x)
    yield "stats.entropy", lambda x, y: stats.entropy(x * x)
    yield "stats.ttest_1samp", lambda x, y: stats.ttest_1samp(x, 0.0).statistic
    yield "optimize.rosen", lambda x, y: optimize.rosen(y)
    yield "fft.rfft", lambda x, y: fft.rfft(x, axis=0)
    yield "signal.detrend", lambda x, y: signal.detrend(x, axis=0)
    yield "Rotation.as_matrix", lambda x, y: Rotation.from_rotvec(x[:, :3]).as_matrix()


def sklearn_functions() -> Iterator[Case]:
    from sklearn import metrics
    from sklearn.decomposition import PCA

    yield "mean_squared_error", lambda x, y: metrics.mean_squared_error(y, x[:, 0])
    yield "mean_absolute_error", lambda x, y: metrics.mean_absolute_error(y, x[:, 0])
    yield "PCA.explained_variance_", lambda x, y: PCA(2, svd_solver="full").fit(x).explained_variance_
    yield "PCA.inverse_transform", lambda x, y: _round_trip(PCA(2, svd_solver="full"), x)


def _round_trip(model: Any, x: Any) -> Any:
    return model.inverse_transform(model.fit_transform(x))


def einops_functions() -> Iterator[Case]:
    from einops import array_api

    yield "rearrange", lambda x, y: array_api.rearrange(x, "(a b) c -> b (c a)", b=5)
    yield "reduce", lambda x, y: array_api.reduce(x, "(a b) c -> b c", "mean", b=5)
    yield "repeat", lambda x, y: array_api.repeat(x, "a c -> c (a 2)")
    yield "pack", lambda x, y: array_api.pack([x, y], "a *")[0]


PACKAGES = {"scipy": scipy_functions, "sklearn": sklearn_functions, "einops": einops_functions}


def difference(f: Callable[[Any, Any], Any]) -> float:
    found = f(mnp.asarray(X), mnp.asarray(Y))
    assert isinstance(found, mnp.Array | float), type(found)
    return float(np.abs(np.asarray(found) - np.asarray(f(X, Y))).max())


def main(package: str) -> None:
    if package == "sklearn":
        import sklearn

        sklearn.set_config(array_api_dispatch=True)
    print(json.dumps({name: difference(f) for name, f in PACKAGES[package]()}))


if __name__ == "__main__":
    main(sys.argv[2])
