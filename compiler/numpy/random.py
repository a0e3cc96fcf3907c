"""``mlc.numpy.random``: counter-based random numbers, which are functions of a key."""

from mlc.frontends.array.public import publish
from mlc.frontends.array.random.distributions import (
    bernoulli,
    categorical,
    gumbel,
    normal,
    permutation,
    randint,
    uniform,
)
from mlc.frontends.array.random.threefry import bits, fold_in, key, split

__all__ = [
    "bernoulli", "bits", "categorical", "fold_in", "gumbel", "key", "normal", "permutation", "randint", "split",
    "uniform",
]  # fmt: skip

publish(globals(), __all__)
