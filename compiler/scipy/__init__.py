"""``mlc.scipy``: functions of SciPy on the arrays of ``mlc.numpy``, as ``jax.scipy`` has them."""

from mlc.scipy import linalg as linalg
from mlc.scipy import special as special

__all__ = ["linalg", "special"]
