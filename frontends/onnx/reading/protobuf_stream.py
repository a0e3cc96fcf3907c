"""The bytes of large tensors, left in the file.

A model of half a gigabyte is mostly initializers. :func:`skeleton` walks the protobuf wire format of a mapped file, and
copies it without the payload of large tensors: each such tensor gets an external-data entry that has its offset.
Reference: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnx import StringStringEntryProto, TensorProto

LARGE = 1 << 16  # bytes
INSIDE = "mlc.offset"  # key of the external-data entry of a tensor in the model's own file
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_TENSOR: dict[int, Any] = {
    TensorProto.RAW_DATA_FIELD_NUMBER: "raw_data",
    TensorProto.FLOAT_DATA_FIELD_NUMBER: "float_data",  # packed floats are little-endian, as raw data is
    TensorProto.DOUBLE_DATA_FIELD_NUMBER: "double_data",
}
_ATTRIBUTE: dict[int, Any] = {5: _TENSOR, 10: _TENSOR}  # AttributeProto.t, .tensors
_LISTS = frozenset((7, 8, 9))  # AttributeProto.floats, .ints, .strings: a field for each of millions of elements
_NODE = {5: _ATTRIBUTE}  # NodeProto.attribute
_GRAPH = {1: _NODE, 5: _TENSOR}  # GraphProto.node, .initializer
MODEL = {7: _GRAPH}  # ModelProto.graph


class WireError(ValueError):
    """The bytes are not a protobuf message."""


def skeleton(data: memoryview) -> bytes:
    """The message in ``data`` without the payload of large tensors.

    Raises:
        WireError: truncated, or not protobuf.
    """
    return _strip(data, 0, len(data), MODEL)


def _strip(data: memoryview, begin: int, end: int, schema: dict[int, Any]) -> bytes:
    """Copy a message: runs of fields that stay as they are in one piece, large fields of interest rewritten.

    An attribute that is a list has no tensor, so the rest of it is one run: a large forest is not walked.
    """
    pieces: list[bytes] = []
    run = begin
    for number, wire, start, content, stop in _fields(data, begin, end):
        if schema is _ATTRIBUTE and number in _LISTS:
            break
        if wire != BYTES or stop - content < LARGE or number not in schema:
            continue
        pieces.append(bytes(data[run:start]))
        pieces.append(_rewritten(data, number, content, stop, schema))
        run = stop
    pieces.append(bytes(data[run:end]))
    return b"".join(pieces)


def _rewritten(data: memoryview, number: int, content: int, stop: int, schema: dict[int, Any]) -> bytes:
    if schema is _TENSOR:
        return _marker(content, stop - content)
    inner = _strip(data, content, stop, schema[number])
    return _varint(number << 3 | BYTES) + _varint(len(inner)) + inner


def _marker(offset: int, length: int) -> bytes:
    """External-data entries of a tensor that stays in the file."""
    out = b""
    for key, value in ((INSIDE, offset), ("length", length)):
        entry = StringStringEntryProto(key=key, value=str(value)).SerializeToString()
        out += _varint(TensorProto.EXTERNAL_DATA_FIELD_NUMBER << 3 | BYTES) + _varint(len(entry)) + entry
    return out


def _fields(data: memoryview, at: int, end: int) -> Iterator[tuple[int, int, int, int, int]]:
    """(field number, wire type, start of the field, start and end of its content) of a message."""
    while at < end:
        start = at
        tag, at = _read_varint(data, at, end)
        wire = tag & 7
        if wire == BYTES:
            length, at = _read_varint(data, at, end)
            stop = at + length
        elif wire == VARINT:
            stop = _read_varint(data, at, end)[1]
        elif wire in (FIXED32, FIXED64):
            stop = at + (4 if wire == FIXED32 else 8)
        else:
            raise WireError(f"wire type {wire} at byte {start}")
        if stop > end:
            raise WireError(f"a field at byte {start} ends {stop - end} bytes after its message")
        yield tag >> 3, wire, start, at, stop
        at = stop


def _read_varint(data: memoryview, at: int, end: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            raise WireError(f"the bytes end inside a number at byte {at}")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise WireError(f"a number at byte {at} is too long")


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))
