"""Element types of ONNX, and arrays from its tensor protos."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, numpy_helper

from mlc.dialects.types import STRING, numpy_dtype
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.fold import Array

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
    27: "f6e2m3",  # FLOAT6E2M3 and FLOAT6E3M2, which onnx has since 1.23
    28: "f6e3m2",
    TensorProto.FLOAT4E2M1: "f4e2m1",
    TensorProto.INT4: "i4",
    TensorProto.UINT4: "ui4",
    TensorProto.INT2: "i2",
    TensorProto.UINT2: "ui2",
    TensorProto.STRING: STRING,
}


def element_of_onnx(data_type: int) -> str:
    """The element name of an ONNX data type.

    Raises:
        NotSupported: complex numbers.
    """
    if data_type not in ELEMENT_OF_ONNX:
        name = TensorProto.DataType.Name(data_type) if data_type in TensorProto.DataType.values() else data_type
        raise NotSupported(f"tensors of type {name} are not supported")
    return ELEMENT_OF_ONNX[data_type]


def array_of(proto: TensorProto) -> Array:
    """The array of a proto that carries its own data; of strings one of objects.

    Raises:
        NotSupported: its type is, or a string that is no UTF-8 or has a zero in it.
        ValueError: the data does not have the length that type and dims say.
    """
    element = element_of_onnx(proto.data_type)
    if element == STRING:
        return _strings(proto)
    return np.asarray(numpy_helper.to_array(proto)).astype(numpy_dtype(element), copy=False)


def _strings(proto: TensorProto) -> Array:
    found = np.empty(len(proto.string_data), dtype=object)
    found[:] = [string_of(data) for data in proto.string_data]
    return found.reshape(tuple(proto.dims))


def string_of(data: bytes) -> str:
    """A string of the model, which ends at a zero where a C program reads it.

    Raises:
        NotSupported: it is no UTF-8, or has a zero in it.
    """
    try:
        string = data.decode()
    except UnicodeDecodeError as e:
        raise NotSupported(f"the string {data!r:.80} is no UTF-8") from e
    if "\0" in string:
        raise NotSupported(f"the string {string!r:.80} has a zero in it, where strings end")
    return string
