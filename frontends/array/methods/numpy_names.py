"""Methods of arrays that NumPy's have: each is the function of its name with the array first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mlc.dialects.semantics.dims import DimLike
from mlc.errors import InputError
from mlc.frontends.array.methods.operators import FUNCTIONS

if TYPE_CHECKING:
    from mlc.frontends.array.array import Array

NAMES = (
    *("all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "conj", "conjugate"),
    *("copy", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod", "ptp", "ravel"),
    *("repeat", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var"),
)
"""Methods with the parameters of their function. Of ``reshape`` and ``transpose`` several numbers are one tuple."""


class Methods:
    """Mixin of arrays: NumPy's methods and properties beside those of the standard."""

    __slots__ = ()

    if TYPE_CHECKING:
        shape: Any

        def numpy(self) -> Any: ...
        def become(self, other: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    def reshape(self, *shape: Any, order: str = "C") -> Array:
        """``reshape`` to a shape, given as one tuple or as numbers."""
        return FUNCTIONS["reshape"](self, shape[0] if len(shape) == 1 else shape, order)

    def transpose(self, *axes: Any) -> Array:
        """``transpose``; the axes as one tuple, or as numbers."""
        return FUNCTIONS["transpose"](self, axes[0] if len(axes) == 1 else axes or None)

    def flatten(self, order: str = "C") -> Array:
        """``ravel``."""
        return FUNCTIONS["ravel"](self, order)

    def tolist(self) -> Any:
        """The elements as nested lists of Python's numbers."""
        return self.numpy().tolist()

    def tobytes(self) -> bytes:
        """The elements in row-major order, in the machine's representation."""
        return bytes(self.numpy().tobytes())

    def fill(self, value: Any) -> None:
        """Every element becomes ``value``."""
        self.become(FUNCTIONS["full_like"](self, value))

    def sort(self, axis: int = -1) -> None:
        """The elements along ``axis`` in order: the array itself changes, as NumPy's does."""
        self.become(FUNCTIONS["sort"](self, axis))

    def is_same(self, other: Any) -> bool:
        """Whether both have the elements of one record, or one memory."""
        return self is other or (self.value is other.value if self.value is not None else self.record is other.record)

    def view(self, *dtype: Any) -> Array:
        """A new array of the same elements; not the bits as another type, for which there is no name here.

        Raises:
            InputError: another type is asked for.
        """
        if dtype:
            raise InputError(
                "x.view cannot show the bits as another type", hint="Use x.astype(dtype), or NumPy's view of x.numpy()"
            )
        return FUNCTIONS["copy"](self)

    def block_until_ready(self) -> Any:
        """The array, whose elements are computed (JAX's method)."""
        self.numpy()
        return self

    @property
    def real(self) -> Array:
        """The real part."""
        return FUNCTIONS["real"](self)

    @property
    def imag(self) -> Array:
        """The imaginary part."""
        return FUNCTIONS["imag"](self)

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> DimLike:
        """The bytes of all elements."""
        return self.size * self.itemsize

    @property
    def flat(self) -> Any:
        """The elements one after the other, each an array of rank 0."""
        return iter(FUNCTIONS["ravel"](self))


def _method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return FUNCTIONS[name](self, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"Array.{name}"
    method.__doc__ = f"``mlc.numpy.{name}`` of the array."
    return method


for _name in NAMES:
    setattr(Methods, _name, _method(_name))
