"""ONNX values during import, and the conversion of ONNX's tensor protos."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper
from xdsl.ir import SSAValue

from mlc.dialects.dims import DimLike
from mlc.dialects.types import TEXT, Shape, element_of, element_of_dtype, numpy_dtype, shape_of
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import Array, normal

ELEMENT_OF_ONNX: dict[int, str] = {
    TensorProto.FLOAT: "f32",
    TensorProto.DOUBLE: "f64",
    TensorProto.FLOAT16: "f16",
    TensorProto.BFLOAT16: "bf16",
    TensorProto.BOOL: "i1",
    TensorProto.INT8: "i8",
    TensorProto.INT16: "i16",
    TensorProto.INT32: "i32",
    TensorProto.INT64: "i64",
    TensorProto.UINT8: "ui8",
    TensorProto.UINT16: "ui16",
    TensorProto.UINT32: "ui32",
    TensorProto.UINT64: "ui64",
    TensorProto.FLOAT8E4M3FN: "f8e4m3fn",
    TensorProto.FLOAT8E4M3FNUZ: "f8e4m3fnuz",
    TensorProto.FLOAT8E5M2: "f8e5m2",
    TensorProto.FLOAT8E5M2FNUZ: "f8e5m2fnuz",
    TensorProto.FLOAT8E8M0: "f8e8m0",
    TensorProto.FLOAT4E2M1: "f4e2m1",
    TensorProto.INT4: "i4",
    TensorProto.UINT4: "ui4",
    TensorProto.INT2: "i2",
    TensorProto.UINT2: "ui2",
    TensorProto.STRING: TEXT,
}
KNOWN_LIMIT = 1024  # elements; larger values are data, not shapes, and stay in the weight store


def element_of_onnx(data_type: int) -> str:
    """The element name of an ONNX data type.

    Raises:
        NotSupported: complex numbers, floats of 6 bits.
    """
    if data_type not in ELEMENT_OF_ONNX:
        name = TensorProto.DataType.Name(data_type) if data_type in TensorProto.DataType.values() else data_type
        raise NotSupported(f"tensors of type {name} are not supported")
    return ELEMENT_OF_ONNX[data_type]


@dataclass
class Tensor:
    """A tensor value: ``known`` at import, an SSA ``value``, or data that ``store`` puts into the weight store.

    ``shape`` may be symbolic. ``known`` has the element's dtype, or dtype object where it holds symbolic dimensions.
    Texts (``TEXT``) are their numbers in the builder's table, as i64.
    """

    element: str
    shape: Shape
    known: Array | None = None
    value: SSAValue | None = None
    store: Callable[[], str] | None = None  # makes (once) and names the entry of the weight store
    name: str = field(default="", compare=False)
    range: tuple[DimLike | None, DimLike | None] = (None, None)  # of computed whole numbers, as far as it is known
    trace: Callable[[], Array] | None = field(default=None, compare=False)  # what its numbers follow from

    @staticmethod
    def of(value: SSAValue, element: str | None = None) -> Tensor:
        """The tensor of a value; ``element`` says TEXT where its i64 are the numbers of texts."""
        return Tensor(TEXT if element == TEXT else element_of(value), shape_of(value), value=value)

    @staticmethod
    def from_known(array: Any, element: str | None = None, name: str = "") -> Tensor:
        """A tensor of a known array; ``element`` is needed where the array holds symbols."""
        array = np.asarray(array)
        element = element or ("i64" if array.dtype == object else element_of_dtype(array.dtype))
        return Tensor(element, array.shape, known=normal(array, element), name=name)

    @staticmethod
    def of_dims(dims: Sequence[DimLike]) -> Tensor:
        """A shape as [rank] of i64 known at import."""
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
    """An ONNX map, or a sequence of maps with the same keys: [keys] labels, and [maps, keys] what they have there."""

    keys: Tensor
    values: Tensor


@dataclass
class Stack:
    """An ONNX sequence of tensors of one shape, as many as a dimension says: [length, …]."""

    whole: Tensor


Value = Tensor | Maps | Stack | list["Tensor"] | None  # a list is an ONNX sequence


def array_of(proto: TensorProto) -> Array:
    """The array of a proto that carries its own data; of texts one of objects.

    Raises:
        NotSupported: its type is, or a text that is no UTF-8 or has a zero in it.
        ValueError: the data does not have the length that type and dims say.
    """
    element = element_of_onnx(proto.data_type)
    if element == TEXT:
        return _texts(proto)
    return np.asarray(numpy_helper.to_array(proto)).astype(numpy_dtype(element), copy=False)


def _texts(proto: TensorProto) -> Array:
    found = np.empty(len(proto.string_data), dtype=object)
    found[:] = [text_of(data) for data in proto.string_data]
    return found.reshape(tuple(proto.dims))


def text_of(data: bytes) -> str:
    """A text of the model, which ends at a zero where a C program reads it.

    Raises:
        NotSupported: it is no UTF-8, or has a zero in it.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as e:
        raise NotSupported(f"the text {data!r:.80} is no UTF-8") from e
    if "\0" in text:
        raise NotSupported(f"the text {text!r:.80} has a zero in it, where texts end")
    return text
