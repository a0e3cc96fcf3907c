"""``mlc.scipy.optimize``: roots, minima and least squares, with implicit derivatives."""

from typing import Any

from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish
from mlc.scipy.optimize.bfgs import minimize
from mlc.scipy.optimize.curve_fit import curve_fit
from mlc.scipy.optimize.implicit import OptimizeResult
from mlc.scipy.optimize.least_squares import least_squares
from mlc.scipy.optimize.root import root

__all__ = ["OptimizeResult", "curve_fit", "least_squares", "minimize", "root"]

publish(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise missing("mlc.scipy.optimize", name, __all__)
