"""A complex array is a pair of real arrays, its real and its imaginary part.

Functions that are linear and real (data movement, sums) act on both parts alike: ``apply`` sees to that. Others have
formulas (``formulas.py``). A complex array is a tree of its two parts, so it passes through ``jit``, loops and
derivatives; the gradient of a real result by ``x + iy`` is ``∂/∂x + i ∂/∂y``, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlc.dialects.types import Shape
from mlc.errors import InputError
from mlc.frontends.array import dtypes, trees
from mlc.frontends.array.array import Array
from mlc.frontends.array.methods.operators import FUNCTIONS
from mlc.frontends.array.record import Record, where_called


class ComplexArray(Array):
    """The complex array ``re + i im`` of two real arrays of one float type and shape."""

    __slots__ = ("im", "re")

    def __init__(self, re: Array, im: Array) -> None:
        self.re, self.im, self.value = re, im, None

    def operand(self) -> Record:
        """Refuse a complex array where a record is needed, since it is two records.

        Raises:
            InputError: always; it was given where only a real one may be.
        """
        raise InputError(f"{where_called()}: the function takes real arrays, not {self.dtype}", hint="Use real or imag")

    def become(self, other: Array) -> None:
        assert isinstance(other, ComplexArray)
        self.re, self.im, self.value = other.re, other.im, other.value

    def is_same(self, other: Array) -> bool:
        return isinstance(other, ComplexArray) and self.re.is_same(other.re) and self.im.is_same(other.im)

    def same(self) -> Array:
        return ComplexArray(self.re, self.im)

    def is_varied(self) -> bool:
        return self.re.is_varied() or self.im.is_varied()

    @property
    def traced(self) -> bool:
        return self.re.traced or self.im.traced

    @property
    def shape(self) -> Shape:
        return self.re.shape

    @property
    def element(self) -> str:
        return dtypes.COMPLEX[self.re.element]

    def numpy(self) -> np.ndarray[Any, Any]:
        from mlc.frontends.array.evaluate import evaluate

        if self.value is None:
            evaluate([self.re, self.im])
            made = np.empty(self.re.numpy().shape, self.dtype)
            made.real, made.imag = self.re.numpy(), self.im.numpy()
            self.value = made
        return self.value


def by_parts(f: Callable[..., Array], *operands: Array) -> Array:
    """``f`` of the real parts, and ``f`` of the imaginary parts. Real operands are passed unchanged both times."""
    return ComplexArray(f(*map(real, operands)), f(*(x.im if isinstance(x, ComplexArray) else x for x in operands)))


def real(x: Array) -> Array:
    """The real part; ``x`` itself where it is real."""
    return x.re if isinstance(x, ComplexArray) else x


def imaginary(x: Array) -> Array:
    """The imaginary part; 0 where ``x`` is real."""
    return x.im if isinstance(x, ComplexArray) else FUNCTIONS["zeros_like"](x)


def _parts(x: ComplexArray) -> tuple[tuple[Any, Any], None, tuple[str, str]]:
    return (x.re, x.im), None, ("re", "im")


trees.REAL.add(Array)
trees.register(ComplexArray, _parts, lambda _, parts: ComplexArray(*parts))
