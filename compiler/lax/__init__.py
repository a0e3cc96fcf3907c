"""``mlc.lax``: the functions of ``jax.lax`` that programs use beside ``mlc.numpy``, under its names.

    i = mlc.lax.dynamic_slice(x, (n,), (3,))
    values, positions = mlc.lax.top_k(x, 5)

Loops and branches are those of ``mlc`` itself. All trace in ``mlc.jit`` and have derivatives.
"""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.missing import missing
from mlc.frontends.array.namespace import NAMESPACE as _NUMPY
from mlc.frontends.array.public import publish
from mlc.frontends.array.transforms.control import cond as cond
from mlc.frontends.array.transforms.control import fori_loop as fori_loop
from mlc.frontends.array.transforms.control import scan as scan
from mlc.frontends.array.transforms.control import switch as switch
from mlc.frontends.array.transforms.control import while_loop as while_loop
from mlc.frontends.array.transforms.custom import stop_gradient as stop_gradient
from mlc.frontends.array.transforms.scans import associative_scan as associative_scan
from mlc.frontends.array.transforms.scans import map as map
from mlc.lax import arithmetic as _arithmetic
from mlc.lax import layouts as _layouts
from mlc.lax import running as _running
from mlc.lax import slices as _slices
from mlc.lax import windows as _windows

_RENAMED = {
    **{"sub": "subtract", "mul": "multiply", "div": "divide", "rem": "fmod", "neg": "negative", "max": "maximum"},
    **{"min": "minimum", "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater"},
    **{"ge": "greater_equal", "rev": "flip", "is_finite": "isfinite", "bitwise_not": "bitwise_invert"},
    **{"shift_left": "left_shift", "population_count": "bitwise_count"},
}
_SAME = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "conj", "cos", "cosh", "exp", "exp2"),
    *("expm1", "floor", "imag", "log", "log1p", "nextafter", "real", "round", "sign", "sin", "sinh", "sqrt", "square"),
    *("tan", "tanh", "add", "atan2", "expand_dims", "full", "full_like", "pow", "argmax", "argmin", "bitwise_and"),
    *("bitwise_or", "bitwise_xor", "squeeze", "transpose"),
)
globals().update({name: _NUMPY[name] for name in _SAME} | {name: _NUMPY[theirs] for name, theirs in _RENAMED.items()})
_OWN = (_arithmetic, _layouts, _running, _slices, _windows)
globals().update({name: getattr(module, name) for module in _OWN for name in module.PUBLIC})
publish(globals(), [name for module in _OWN for name in module.PUBLIC], "mlc.lax")


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, globals())
