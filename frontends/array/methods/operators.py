"""Python's operators of arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mlc.dialects.semantics.dims import Dim

if TYPE_CHECKING:
    from mlc.frontends.array.array import Array

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""The functions of operators by name, which ``mlc.frontends.array.namespace`` enters."""


class Operators:
    """Each operator is a function of the namespace, which itself uses arrays: so it is looked up in ``FUNCTIONS``."""

    __slots__ = ()

    def __add__(self, other: Any) -> Array:
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Array:
        return _binary("add", other, self)

    def __sub__(self, other: Any) -> Array:
        return _binary("subtract", self, other)

    def __rsub__(self, other: Any) -> Array:
        return _binary("subtract", other, self)

    def __mul__(self, other: Any) -> Array:
        return _binary("multiply", self, other)

    def __rmul__(self, other: Any) -> Array:
        return _binary("multiply", other, self)

    def __truediv__(self, other: Any) -> Array:
        return _binary("divide", self, other)

    def __rtruediv__(self, other: Any) -> Array:
        return _binary("divide", other, self)

    def __floordiv__(self, other: Any) -> Array:
        return _binary("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Array:
        return _binary("floor_divide", other, self)

    def __mod__(self, other: Any) -> Array:
        return _binary("remainder", self, other)

    def __rmod__(self, other: Any) -> Array:
        return _binary("remainder", other, self)

    def __pow__(self, other: Any) -> Array:
        return _binary("pow", self, other)

    def __rpow__(self, other: Any) -> Array:
        return _binary("pow", other, self)

    def __matmul__(self, other: Any) -> Array:
        return _binary("matmul", self, other)

    def __rmatmul__(self, other: Any) -> Array:
        return _binary("matmul", other, self)

    def __and__(self, other: Any) -> Array:
        return _binary("bitwise_and", self, other)

    def __rand__(self, other: Any) -> Array:
        return _binary("bitwise_and", other, self)

    def __or__(self, other: Any) -> Array:
        return _binary("bitwise_or", self, other)

    def __ror__(self, other: Any) -> Array:
        return _binary("bitwise_or", other, self)

    def __xor__(self, other: Any) -> Array:
        return _binary("bitwise_xor", self, other)

    def __rxor__(self, other: Any) -> Array:
        return _binary("bitwise_xor", other, self)

    def __lshift__(self, other: Any) -> Array:
        return _binary("bitwise_left_shift", self, other)

    def __rlshift__(self, other: Any) -> Array:
        return _binary("bitwise_left_shift", other, self)

    def __rshift__(self, other: Any) -> Array:
        return _binary("bitwise_right_shift", self, other)

    def __rrshift__(self, other: Any) -> Array:
        return _binary("bitwise_right_shift", other, self)

    def __eq__(self, other: Any) -> Array:  # type: ignore[override]
        return _binary("equal", self, other)

    def __ne__(self, other: Any) -> Array:  # type: ignore[override]
        return _binary("not_equal", self, other)

    def __lt__(self, other: Any) -> Array:
        return _binary("less", self, other)

    def __le__(self, other: Any) -> Array:
        return _binary("less_equal", self, other)

    def __gt__(self, other: Any) -> Array:
        return _binary("greater", self, other)

    def __ge__(self, other: Any) -> Array:
        return _binary("greater_equal", self, other)

    def __neg__(self) -> Array:
        return FUNCTIONS["negative"](self)

    def __pos__(self) -> Array:
        return FUNCTIONS["positive"](self)

    def __abs__(self) -> Array:
        return FUNCTIONS["abs"](self)

    def __invert__(self) -> Array:
        return FUNCTIONS["bitwise_invert"](self)

    def __getitem__(self, key: Any) -> Array:
        return FUNCTIONS["__getitem__"](self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write ``value`` at ``key`` of this array, and of no other that shares its elements: as
        ``x.at[key].set(value)``.
        """
        FUNCTIONS["__setitem__"](self, key, value)

    def __divmod__(self, other: Any) -> tuple[Array, Array]:
        return _binary("floor_divide", self, other), _binary("remainder", self, other)

    def __round__(self, decimals: int = 0) -> Array:
        return FUNCTIONS["round"](self, decimals)

    @property
    def at(self) -> Any:
        """Updates: ``x.at[key].set(values)``, and ``add``, ``multiply``, ``min``, ``max``, each a new array."""
        return FUNCTIONS["at"](self)

    @property
    def T(self) -> Array:
        """The dimensions in the opposite order."""
        return FUNCTIONS["transpose"](self)

    @property
    def mT(self) -> Array:
        """The last two dimensions exchanged."""
        return FUNCTIONS["matrix_transpose"](self)


@cache
def _operands() -> tuple[type, ...]:
    from mlc.frontends.array.array import Array

    return (Array, bool, int, float, complex, np.generic, np.ndarray, Dim)


def _binary(name: str, left: Any, right: Any) -> Any:
    given = _operands()
    if isinstance(left, given) and isinstance(right, given):
        return FUNCTIONS[name](left, right)
    if not all(isinstance(each, (*given, list, tuple)) for each in (left, right)):
        return NotImplemented
    return FUNCTIONS[name](*(FUNCTIONS["asarray"](x) if isinstance(x, list | tuple) else x for x in (left, right)))
