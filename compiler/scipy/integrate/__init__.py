"""``mlc.scipy.integrate``: ordinary differential equations, and integrals of samples."""

from typing import Any

from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import publish
from mlc.numpy import trapezoid as trapezoid
from mlc.scipy.integrate.ivp import OdeResult, solve_ivp
from mlc.scipy.integrate.odeint import odeint

__all__ = ["OdeResult", "odeint", "solve_ivp", "trapezoid"]

publish(globals(), ["OdeResult", "odeint", "solve_ivp"])


def __getattr__(name: str) -> Any:
    raise missing("mlc.scipy.integrate", name, __all__)
