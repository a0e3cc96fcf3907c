"""The C representation of values of the loops level: scalars, and register tiles as several vector variables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import IndexType, MemRefType, VectorType
from xdsl.ir import Attribute

from mlc.dialects.types import element_name

SCALARS = {
    "f16": "_Float16", "bf16": "uint16_t", "f32": "float", "f64": "double", "i1": "uint8_t", "i8": "int8_t",
    "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "ui8": "uint8_t", "ui16": "uint16_t", "ui32": "uint32_t", "ui64": "uint64_t",
}  # fmt: skip
WIDTHS = (4, 8, 16)  # lanes of the vector types that mlc_vec.h has for every target
TRANSPOSABLE = ("f32x16", "i32x16", "i8x16")  # vectors that mlc_vec.h can transpose, exchanging lanes


class CodegenError(Exception):
    """An operation or type has no C code."""


def element(type_: Attribute) -> str:
    """Return the element name of a scalar, vector or buffer type; ``i64`` for index."""
    if type(type_) is VectorType or type(type_) is MemRefType:  # isinstance asks a metaclass
        type_ = type_.element_type
    return "i64" if type(type_) is IndexType else element_name(type_)


def c_scalar(name: str) -> str:
    if name not in SCALARS:
        raise CodegenError(f"no C type for elements of type {name}")
    return SCALARS[name]


def register_element(name: str) -> str:
    """Return the element type of a vector variable: predicates are 32-bit masks (0 or -1), unsigned types are
    signed."""
    return {"i1": "i32", "bf16": "u16"}.get(name) or name.replace("ui", "i")


def vector_name(name: str, width: int) -> str:
    return f"{register_element(name)}x{width}"


@dataclass(frozen=True)
class Chunk:
    """The part of the last axis in one vector variable: the first ``valid`` of ``width`` lanes, from ``start`` on.
    Width 1 is a scalar."""

    start: int
    width: int
    valid: int


@dataclass(frozen=True)
class Layout:
    """The variables of a value: one for each point of the leading axes and each chunk of the last axis."""

    element: str
    shape: tuple[int, ...]
    chunks: tuple[Chunk, ...]

    @property
    def scalar(self) -> bool:
        return self.chunks[0].width == 1

    def positions(self) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yield (leading index, chunk number) of each variable, in order."""
        leading = itertools.product(*(range(n) for n in self.shape[:-1]))
        return itertools.product(leading, range(len(self.chunks)))

    def position(self, leading: tuple[int, ...], chunk: int) -> int:
        """Return the number of the variable at ``leading``; indices of axes of extent 1 are ignored."""
        at = 0
        for i, n in zip(leading, self.shape[:-1], strict=True):
            at = at * n + (i if n > 1 else 0)
        return at * len(self.chunks) + chunk

    def c_type(self, chunk: Chunk) -> str:
        if chunk.width > 1:
            return vector_name(self.element, chunk.width)
        return c_scalar(self.element)


def layout(type_: Attribute, lanes: int) -> Layout:
    """Return the layout of a value for vectors of ``lanes`` 4-byte elements."""
    shape = type_.get_shape() if isinstance(type_, VectorType) else (1,)
    return Layout(element(type_), shape, _chunks(shape[-1], lanes))


def is_scalar(type_: Attribute) -> bool:
    """Return whether a value has one variable for each point of its leading axes."""
    return not isinstance(type_, VectorType) or type_.get_shape()[-1] == 1


def _chunks(extent: int, lanes: int) -> tuple[Chunk, ...]:
    if extent == 1:
        return (Chunk(0, 1, 1),)
    chunks = [Chunk(start, lanes, lanes) for start in range(0, extent - extent % lanes, lanes)]
    rest = extent % lanes
    if rest:
        width = next(w for w in WIDTHS if w >= rest)
        chunks.append(Chunk(extent - rest, width, rest))
    return tuple(chunks)


@dataclass(frozen=True)
class CTile:
    """The C expressions of the variables of a value, in the order of its layout."""

    layout: Layout
    names: tuple[str, ...]

    def at(self, leading: tuple[int, ...], chunk: int) -> str:
        return self.names[self.layout.position(leading, chunk)]


def count(layout_: Layout) -> int:
    return prod(layout_.shape[:-1]) * len(layout_.chunks)
