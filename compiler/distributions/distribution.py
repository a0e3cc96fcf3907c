"""``Distribution``: a tree of parameters with a density, samples and moments. Source: the interface is that of
``torch.distributions``, with random keys as in ``jax.random``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np

import mlc.numpy as mnp
from mlc.dialects.types import element_of_dtype
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array

Shape = tuple[int, ...]


def static() -> Any:
    """A field that is part of the structure and no parameter, such as a number of trials."""
    return dataclasses.field(metadata={"static": True})


@dataclass_transform(eq_default=False, field_specifiers=(static, dataclasses.field))
class Distribution:
    """Subclasses are dataclasses whose fields are parameters: arrays, numbers, and trees of them, such as other
    distributions. All parameters broadcast together. Numbers take the type of the values that they meet.

    A distribution is a tree, so ``mlc.jit``, ``mlc.grad`` and ``mlc.vmap`` take and return it.
    """

    event_ndim: ClassVar[int] = 0
    """How many dimensions one sample has."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclasses.dataclass(init="__init__" not in vars(cls), eq=False, repr=False)(cls)
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        held = tuple(f.name for f in fields if not f.metadata.get("static"))
        fixed = tuple(f.name for f in fields if f.metadata.get("static"))
        trees.register_fields(cls, held, fixed)

    def __post_init__(self) -> None:
        """Lists become arrays: they are parameters, and no trees of them."""
        for name, value in list(vars(self).items()):
            if isinstance(value, list | tuple):
                vars(self)[name] = as_array(value)

    def log_prob(self, value: Any) -> Array:
        """The logarithm of the density, or of the probability, at values [..., event]; -∞ outside of the support."""
        x = as_array(value)
        x = x if x.dtype.kind == "f" else x.astype(self.dtype)
        return self._nan_of(x, self._with(x.element)._log_prob(x))

    def prob(self, value: Any) -> Array:
        """The exponential of ``log_prob``."""
        return mnp.exp(self.log_prob(value))

    def cdf(self, value: Any) -> Array:
        """The probability of at most these values."""
        x = as_array(value)
        x = x if x.dtype.kind == "f" else x.astype(self.dtype)
        return self._nan_of(x, self._with(x.element)._cdf(x))

    def _nan_of(self, x: Array, found: Array) -> Array:
        """NaN of values that are NaN, which no comparison with the ends of a support finds."""
        return found if self._event() else mnp.where(x == x, found, x)

    def _event(self) -> int:
        """The number of dimensions of a sample."""
        return self.event_ndim

    def icdf(self, p: Any) -> Array:
        """The value of which ``cdf`` is ``p``, from 0 to 1."""
        given = as_array(p)
        return self._with(given.element)._icdf(given)

    def sample(self, key: Any, shape: int | Sequence[int] = ()) -> Array:
        """Independent samples [shape…, batch…, event…], of a random key. Those of continuous distributions have
        derivatives by the parameters."""
        outer = (shape,) if isinstance(shape, int) else tuple(shape)
        own = self._with(None)
        return own._sample(key, (*outer, *own.batch_shape), self.dtype)

    @property
    def mean(self) -> Array:
        """The expectation [batch…, event…]."""
        return self._with(None)._mean()

    @property
    def variance(self) -> Array:
        """The variance of each element [batch…, event…]."""
        return self._with(None)._variance()

    @property
    def stddev(self) -> Array:
        """The root of ``variance``."""
        return mnp.sqrt(self.variance)

    def entropy(self) -> Array:
        """The expectation of ``-log_prob`` [batch…], in closed form."""
        return self._with(None)._entropy()

    @property
    def dtype(self) -> np.dtype[Any]:
        """The widest type of the parameters, at least float32."""
        arrays = [x for x in map(as_array, trees.leaves(self)) if x.dtype.kind == "f"]
        return np.result_type(np.float32, *(x.dtype for x in arrays))

    @property
    def batch_shape(self) -> Shape:
        """The shape of parameters for one sample each."""
        shapes = [as_array(x).shape for x in trees.leaves(self)]
        whole: Shape = mnp.broadcast_shapes(*shapes)
        return whole[: len(whole) - self.event_ndim]

    def _with(self, element: str | None) -> Self:
        """All parameters as arrays, broadcast together where one sample is one number; numbers of this type."""
        leaves, structure = trees.flatten(self)
        beside = element or element_of_dtype(self.dtype)
        arrays = [as_array(x, beside) for x in leaves]
        arrays = [x if x.dtype.kind == "f" else x.astype(self.dtype) for x in arrays]
        if not self.event_ndim and self._broadcasts:
            arrays = list(mnp.broadcast_arrays(*arrays))
        made: Self = trees.unflatten(structure, arrays)
        return made

    _broadcasts: ClassVar[bool] = True

    def _log_prob(self, x: Array) -> Array:
        raise self._lacks("density")

    def _cdf(self, x: Array) -> Array:
        raise self._lacks("distribution function in closed form")

    def _icdf(self, p: Array) -> Array:
        raise self._lacks("quantiles in closed form")

    def _sample(self, key: Any, shape: Shape, dtype: Any) -> Array:
        raise self._lacks("way to draw samples")

    def _mean(self) -> Array:
        raise self._lacks("mean")

    def _variance(self) -> Array:
        raise self._lacks("variance")

    def _entropy(self) -> Array:
        raise self._lacks("entropy in closed form")

    def _lacks(self, what: str) -> InputError:
        hint = "Estimate it from samples: d.sample(key, n)"
        return InputError(f"{type(self).__name__} has no {what}", hint=hint)

    def __repr__(self) -> str:
        from mlc.nn.naming import shown

        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{f.name}={shown(getattr(self, f.name))}' for f in fields)})"


def within(inside: Array, x: Array, other: float) -> Array:
    """``x`` where it is in the support, else a number whose density is finite, so that derivatives are."""
    return mnp.where(inside, x, as_array(other, x.element))


def impossible_outside(inside: Array, log_prob: Array) -> Array:
    """-∞ outside of the support."""
    return mnp.where(inside, log_prob, as_array(-np.inf, log_prob.element))
