"""``mlc.scipy.optimize``: roots and minima, with implicit derivatives."""

from typing import Any

from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish
from mlc.scipy.optimize.bfgs import minimize
from mlc.scipy.optimize.implicit import OptimizeResult
from mlc.scipy.optimize.root import root

__all__ = ["OptimizeResult", "minimize", "root"]

publish(globals(), __all__)


def __getattr__(name: str) -> Any:
    raise missing("mlc.scipy.optimize", name, __all__)
