"""``mlc.scipy``: functions of SciPy on the arrays of ``mlc.numpy``, as ``jax.scipy`` has them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mlc.frontends.array.missing import missing

if TYPE_CHECKING:
    from mlc.scipy import integrate as integrate
    from mlc.scipy import interpolate as interpolate
    from mlc.scipy import linalg as linalg
    from mlc.scipy import ndimage as ndimage
    from mlc.scipy import optimize as optimize
    from mlc.scipy import signal as signal
    from mlc.scipy import sparse as sparse
    from mlc.scipy import special as special
    from mlc.scipy import stats as stats

__all__ = ["integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "special", "stats"]


def __getattr__(name: str) -> Any:
    """A package, which is imported when it is used first."""
    if name in __all__:
        return import_module(f"mlc.scipy.{name}")
    raise missing("mlc.scipy", name, __all__)
