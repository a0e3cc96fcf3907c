"""Types of tensors and buffers whose dimensions are integers or symbolic expressions.

The shape of a builtin ``tensor``/``memref`` has ``?`` for a symbolic dimension, and a :class:`DimsAttr` has its
expression: ``tensor<?x384xf32, #graph.dims<["batch", "384"]>>``. A type without this attribute is static.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    MemRefLayoutAttr,
    MemRefType,
    NoneAttr,
    Signedness,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.semantics.dims import DimLike, parse_dim, product

FloatType = BFloat16Type | Float16Type | Float32Type | Float64Type


@irdl_attr_definition
class DimsAttr(MemRefLayoutAttr, ParametrizedAttribute):
    """The symbolic extents of a row-major tensor or buffer, one string a dimension."""

    name = "graph.dims"
    dims: ArrayAttr[StringAttr]

    def verify(self) -> None:
        for dim in self.dims:
            parse_dim(dim.data)

    def get_affine_map(self) -> AffineMap:
        raise NotImplementedError("a symbolic layout has no constant strides")


@irdl_attr_definition
class StringType(ParametrizedAttribute, TypeAttribute):
    """A string at the interface of a model: a pointer to UTF-8 that ends with a zero. Inside a model, a string is its
    number."""

    name = "graph.string"


Shape = tuple[DimLike, ...]
STRING = "string"
ELEMENTS: dict[str, Attribute] = {
    "f16": Float16Type(),
    "bf16": BFloat16Type(),
    "f32": Float32Type(),
    "f64": Float64Type(),
    "i1": IntegerType(1),
    "i8": IntegerType(8),
    "i16": IntegerType(16),
    "i32": IntegerType(32),
    "i64": IntegerType(64),
    "ui8": IntegerType(8, Signedness.UNSIGNED),
    "ui16": IntegerType(16, Signedness.UNSIGNED),
    "ui32": IntegerType(32, Signedness.UNSIGNED),
    "ui64": IntegerType(64, Signedness.UNSIGNED),
    "c64": ComplexType(Float32Type()),
    "c128": ComplexType(Float64Type()),
    "f8e4m3fn": Float8E4M3FNType(),
    "f8e4m3fnuz": Float8E4M3FNUZType(),
    "f8e5m2": Float8E5M2Type(),
    "f8e5m2fnuz": Float8E5M2FNUZType(),
    "f8e8m0": Float8E8M0FNUType(),
    "f6e2m3": Float6E2M3FNType(),
    "f6e3m2": Float6E3M2FNType(),
    "f4e2m1": Float4E2M1FNType(),
    "i4": IntegerType(4),
    "ui4": IntegerType(4, Signedness.UNSIGNED),
    "i2": IntegerType(2),
    "ui2": IntegerType(2, Signedness.UNSIGNED),
    STRING: StringType(),
}
_NAMES = {attr: name for name, attr in ELEMENTS.items()}
NUMPY_NAMES = {
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "i1": "bool",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "ui8": "uint8",
    "ui16": "uint16",
    "ui32": "uint32",
    "ui64": "uint64",
    "c64": "complex64",
    "c128": "complex128",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2": "float8_e5m2",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0": "float8_e8m0fnu",
    "f6e2m3": "float6_e2m3fn",
    "f6e3m2": "float6_e3m2fn",
    "f4e2m1": "float4_e2m1fn",
    "i4": "int4",
    "ui4": "uint4",
    "i2": "int2",
    "ui2": "uint2",
    STRING: "str",
}
_FROM_NUMPY = {v: k for k, v in NUMPY_NAMES.items()}
ITEMSIZE = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8} | {
    "ui8": 1,
    "ui16": 2,
    "ui32": 4,
    "ui64": 8,
    "c64": 8,
    "c128": 16,
    STRING: 8,
}
# Bits of the narrow types: elements narrower than a byte, and floats of one byte. No function computes in them. Each
# element is stored in one byte, in the low bits; the other bits are undefined (ml_dtypes writes zeros).
NARROW = {
    **dict.fromkeys(("f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0"), 8),
    **dict.fromkeys(("f6e2m3", "f6e3m2"), 6),
    **dict.fromkeys(("f4e2m1", "i4", "ui4"), 4),
    **dict.fromkeys(("i2", "ui2"), 2),
}
ITEMSIZE |= dict.fromkeys(NARROW, 1)  # in memory
FLOAT8 = ("f8e4m3fn", "f8e5m2")
"""The floats of 8 bits that GPUs convert and multiply: E4M3 and E5M2 of the OCP 8-bit Floating Point Specification."""


def float_type(element: str) -> FloatType:
    """Return the type of a float element name."""
    type_ = ELEMENTS[element]
    assert isinstance(type_, FloatType)
    return type_


def integer_type(element: str) -> IntegerType:
    """Return the signless integer type in which an integer element computes."""
    type_ = ELEMENTS[element]
    assert isinstance(type_, IntegerType)
    return IntegerType(type_.width.data)


def element_name(element: Attribute) -> str:
    """Return the name of an element type: ``f32``, ``i64``, ``ui8``, ``i1`` …"""
    return _NAMES[element]


def numpy_dtype(element: str) -> np.dtype:
    """Return the dtype of an element; for a string, the dtype of its number."""
    if element == STRING:
        return np.dtype(np.int64)
    if element == "bf16" or element in NARROW:
        import ml_dtypes  # comes with onnx

        return np.dtype(getattr(ml_dtypes, NUMPY_NAMES[element]))
    return np.dtype(NUMPY_NAMES[element])


@cache
def element_of_dtype(dtype: np.dtype) -> str:
    return _FROM_NUMPY[dtype.name]


def element_of_name(name: str) -> str | None:
    """Return the element of a dtype's name, or None; NumPy knows ``bfloat16`` only once ml_dtypes is imported."""
    return _FROM_NUMPY.get(name)


def is_narrow(element: str) -> bool:
    """Return whether elements are only stored and cast: floats of at most 8 bits, integers of at most 4."""
    return element in NARROW


def bit_width(element: str) -> int:
    """Return the bits of a value, which may be fewer than those of its storage."""
    return 1 if element == "i1" else NARROW.get(element) or 8 * ITEMSIZE[element]


def is_float(element: str) -> bool:
    """Return whether elements are floats, other than narrow ones."""
    return element in ("f16", "bf16", "f32", "f64")


@cache
def lowest(element: str) -> float:
    """Return the lowest finite number of a float type."""
    import ml_dtypes  # NumPy does not know the limits of bf16

    return float(ml_dtypes.finfo(numpy_dtype(element)).min)


def is_unsigned(element: str) -> bool:
    return element.startswith("ui") or element == "i1"


def _static(dims: Sequence[DimLike]) -> list[int]:
    return [d if isinstance(d, int) else DYNAMIC_INDEX for d in dims]


def _dims_attr(dims: Sequence[DimLike]) -> DimsAttr | NoneAttr:
    if all(isinstance(d, int) for d in dims):
        return NoneAttr()
    return DimsAttr(ArrayAttr(StringAttr(str(d)) for d in dims))


def tensor(element: str, dims: Iterable[DimLike]) -> TensorType:
    """Return the tensor type of an element name and dimensions. Equal types are one object, as most types of a model
    repeat."""
    return _tensor(element, tuple(dims))


@lru_cache(maxsize=1 << 14)
def _tensor(element: str, dims: tuple[DimLike, ...]) -> TensorType:
    return TensorType(ELEMENTS[element], _static(dims), _dims_attr(dims))


def memref(element: str, dims: Iterable[DimLike]) -> MemRefType:
    """Return the row-major buffer type of an element name and dimensions. Equal types are one object."""
    return _memref(element, tuple(dims))


@lru_cache(maxsize=1 << 14)
def _memref(element: str, dims: tuple[DimLike, ...]) -> MemRefType:
    return MemRefType(ELEMENTS[element], _static(dims), _dims_attr(dims))


_Shaped = TensorType[Attribute] | MemRefType[Attribute]


def _shaped(value: SSAValue | Attribute) -> _Shaped:
    type_ = value.type if isinstance(value, SSAValue) else value
    assert isinstance(type_, TensorType | MemRefType), f"{type_} is not a tensor or a buffer"
    return type_


def _kept(value: SSAValue | Attribute, name: str, make: Callable[[_Shaped], Any]) -> Any:
    """Return a fact of a type, which is cached in the type itself: a dictionary by type would hash the whole type each
    time."""
    type_ = getattr(value, "type", value)  # of a value; isinstance is slow for classes of xDSL, which are abstract
    kept = type_.__dict__
    if name not in kept:
        kept[name] = make(_shaped(type_))
    return kept[name]


def shape_of(value: SSAValue | Attribute) -> Shape:
    """Return the dimensions of a tensor or buffer, given as a type or as a value.

    Raises:
        VerifyException: its #graph.dims differ from its shape, or are missing.
    """
    shape: Shape = _kept(value, "mlc_shape", _dims)
    return shape


def _dims(type_: _Shaped) -> Shape:
    attr = type_.encoding if isinstance(type_, TensorType) else type_.layout
    dims = tuple(parse_dim(d.data) for d in attr.dims) if isinstance(attr, DimsAttr) else type_.get_shape()
    if DYNAMIC_INDEX in dims:
        raise VerifyException(f"{type_}: its dimensions need names, #graph.dims<[…]>")
    if _static(dims) != list(type_.get_shape()):
        raise VerifyException(f"{type_}: its #graph.dims are not those of its shape")
    return dims


def element_of(value: SSAValue | Attribute) -> str:
    """Return the element name of a tensor or buffer, given as a type or as a value."""
    name: str = _kept(value, "mlc_element", lambda type_: element_name(type_.element_type))
    return name


def elements_in(value: SSAValue | Attribute) -> DimLike:
    return product(shape_of(value))


def bytes_of(value: SSAValue | Attribute) -> DimLike:
    return elements_in(value) * ITEMSIZE[element_of(value)]
