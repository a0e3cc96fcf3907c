"""Nodes that are computed from no others: placeholders, variables and constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.graph.node import Node

if TYPE_CHECKING:
    from mlc.graph.updates import Update

Shape = Sequence[int | None] | None


class End(Node):
    """A node whose value is given and not computed."""


class Placeholder(End):
    """A value that each run is given in ``feed_dict``; ``shape``, with None for any extent, and ``dtype`` check it."""

    def __init__(self, name: str = "", shape: Shape = None, dtype: Any = None) -> None:
        super().__init__(name=name)
        self.checks = shape is not None or dtype is not None
        self.shape = None if shape is None else tuple(shape)
        self.dtype = None if dtype is None else np.dtype(dtype)

    def accepted(self, value: Any) -> Any:
        """A value as an array of the placeholder's type.

        Raises:
            InputError: it has another shape, or is no array.
        """
        given = fed(self, value)
        if not self.checks:
            return given
        if self.dtype is not None and given.dtype != self.dtype:
            given = np.asarray(given, self.dtype)
        if self.shape is not None and not _fits(given.shape, self.shape):
            wanted = ", ".join("?" if n is None else str(n) for n in self.shape)
            raise InputError(f"Placeholder '{self.name}' of shape [{wanted}] is fed an array of {list(given.shape)}")
        return given


def placeholder(dtype: Any = None, shape: Shape = None, name: str = "") -> Placeholder:
    """A placeholder, its parameters in TensorFlow's order."""
    return Placeholder(dtype if isinstance(dtype, str) and shape is None and not name else name, shape,
                       None if isinstance(dtype, str) and shape is None and not name else dtype)  # fmt: skip


class Variable(End):
    """An array that a session keeps, and that updates such as those of ``minimize`` change.

    ``initial``: an array, numbers, or a node that depends on no placeholder, which is computed at once.
    ``trainable``: whether optimizers change it; integers never are.
    """

    def __init__(self, initial: Any, name: str = "", trainable: bool = True, dtype: Any = None) -> None:
        super().__init__(name=name)
        if isinstance(initial, Node):
            from mlc.graph.session import Session

            initial = Session().run(initial)
        try:
            given = as_array(initial)
        except InputError as error:
            raise InputError(f"Variable '{self.name}': {error.message}", hint=error.hint) from None
        self.initial: Array = given if dtype is None else as_array(np.asarray(given.numpy(), np.dtype(dtype)))
        self.trainable = trainable and dtypes.kind(self.initial.element) >= 2

    @property
    def shape(self) -> tuple[Any, ...]:
        """The extents, which do not change."""
        return self.initial.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements, which does not change."""
        return self.initial.dtype

    def assign(self, value: Any) -> Update:
        """A node whose run assigns the value to the variable."""
        from mlc.graph.updates import assign

        return assign(self, value)

    def assign_add(self, value: Any) -> Update:
        """The variable gets its sum with the value."""
        return self.assign(self + value)

    def assign_sub(self, value: Any) -> Update:
        """The variable gets its difference from the value."""
        return self.assign(self - value)


class Constant(End):
    """An array that the program is given with each run, so that another one needs no other program."""

    def __init__(self, value: Any, name: str = "") -> None:
        super().__init__(name=name or "constant")
        self.value = as_array(value)


def fed(node: Node, value: Any) -> Any:
    """A value for a node as an array; Python's numbers in the default types.

    Raises:
        InputError: it is no array.
    """
    if value.__class__ is np.ndarray:
        return value
    try:
        return as_array(value).numpy() if not dtypes.is_array_like(value) else np.from_dlpack(value)
    except (InputError, BufferError) as error:
        raise InputError(f"Node '{node.name}' is fed a {type(value).__name__}: {error}") from None


def _fits(shape: Sequence[int], wanted: Sequence[int | None]) -> bool:
    return len(shape) == len(wanted) and all(n in (None, m) for m, n in zip(shape, wanted, strict=True))
