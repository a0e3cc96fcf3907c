"""``mlc.scipy.special``: special functions of real arrays, with derivatives, under SciPy's names."""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.missing import missing
from mlc.frontends.array.public import public
from mlc.frontends.array.special import bessel, betas, entropies, errors, gammas, incomplete

_MODULES = (bessel, betas, entropies, errors, gammas, incomplete)
_FUNCTIONS = {
    name: public(f"mlc.scipy.special.{name}", getattr(module, name)) for module in _MODULES for name in module.PUBLIC
}
_FUNCTIONS["psi"] = _FUNCTIONS["digamma"]
__all__ = sorted(_FUNCTIONS)

globals().update(_FUNCTIONS)


def __getattr__(name: str) -> Any:
    raise missing("mlc.scipy.special", name, __all__)
