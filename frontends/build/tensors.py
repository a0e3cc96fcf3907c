"""Values of a module that is being built: tensors known while it is built, tensors computed at run time, sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.ir import SSAValue

from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import STRING, Shape, element_of, element_of_dtype, numpy_dtype, shape_of
from mlc.frontends.build.folding.fold import Array, normal

if TYPE_CHECKING:
    from mlc.frontends.build.caches import Cache


@dataclass
class Tensor:
    """A tensor value: ``known`` at import, an SSA ``value``, or data that ``store`` puts into the weight store.

    ``shape`` may be symbolic. ``known`` has the element's dtype, or dtype object where it holds symbolic dimensions.
    Strings (``STRING``) are their numbers in the builder's table, as i64.
    """

    element: str
    shape: Shape
    known: Array | None = None
    value: SSAValue | None = None
    store: Callable[[], str] | None = None  # makes (once) and names the entry of the weight store
    name: str = field(default="", compare=False)  # of its entry in the weight store
    hint: str = field(default="", compare=False)  # its name in the source, and of its SSA value in printed IR
    range: tuple[DimLike | None, DimLike | None] = (None, None)  # of computed integers, as far as it is known
    optional: frozenset[int] = field(default=frozenset(), compare=False)  # axes that an output has where they are not 1
    trace: Callable[[], Array] | None = field(default=None, compare=False)  # computes its elements as run-time scalars
    cache: Cache | None = field(default=None, compare=False)  # the state of the model whose rows it is

    @staticmethod
    def of(value: SSAValue, element: str | None = None) -> Tensor:
        """The tensor of a value; ``element`` says STRING where its i64 are the numbers of strings."""
        return Tensor(STRING if element == STRING else element_of(value), shape_of(value), value=value)

    @staticmethod
    def from_known(array: Any, element: str | None = None, name: str = "") -> Tensor:
        """A tensor of a known array; ``element`` is needed where the array holds symbols."""
        array = np.asarray(array)
        element = element or ("i64" if array.dtype == object else element_of_dtype(array.dtype))
        return Tensor(element, array.shape, known=normal(array, element), name=name)

    @staticmethod
    def of_dims(dims: Sequence[DimLike]) -> Tensor:
        """A shape as a known tensor [rank] of i64."""
        array = np.empty(len(dims), dtype=object)
        array[:] = dims
        return Tensor.from_known(array, "i64")

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return numpy_dtype(self.element)

    def __str__(self) -> str:
        return f"{self.element}[{', '.join(map(str, self.shape))}]"


@dataclass
class Maps:
    """An ONNX map, or a sequence of maps with the same keys: [keys] labels, and [maps, keys] their values."""

    keys: Tensor
    values: Tensor


@dataclass
class Stack:
    """An ONNX sequence of tensors of one shape, as many as a dimension says: [length, …]."""

    whole: Tensor


@dataclass
class Appended:
    """An ONNX sequence in a loop: the tensors that this iteration has appended, after an unknown number of others."""

    last: list[Tensor]


@dataclass
class Pieces:
    """An ONNX sequence of the parts of a tensor along an axis, ``size`` elements each, of which the last may have
    fewer."""

    whole: Tensor
    axis: int
    size: DimLike

    @property
    def extent(self) -> DimLike:
        return self.whole.shape[self.axis]


Value = Tensor | Maps | Stack | Appended | Pieces | list["Tensor"] | None  # a list is an ONNX sequence
