"""What the CUDA compiler has decided about kernels: registers, shared memory and stack, read from their cubins.

A cubin is an ELF file. The section ``.nv.info`` has records of the numbers by the index of a kernel's symbol, as
``cuobjdump --dump-resource-usage`` prints them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import NamedTuple

_SYMTAB, _INFO = 2, 0x70000000
_REGISTERS, _STACK = 0x2F, 0x12  # EIATTR_REGCOUNT, EIATTR_MIN_STACK_SIZE
_BY_VALUE = 4  # a record: format, attribute, size of what follows
_SECTION, _SYMBOL = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ")


class Resources(NamedTuple):
    """Registers of a thread, and bytes of its stack, which spilled registers are in."""

    registers: int
    stack: int


def resources(images: Iterable[bytes]) -> dict[str, Resources]:
    """The resources of each kernel by symbol; those of images that are no cubins are left out."""
    found: dict[str, Resources] = {}
    for image in images:
        try:
            found |= _of_image(image)
        except (struct.error, IndexError, ValueError):
            continue
    return found


def _of_image(image: bytes) -> dict[str, Resources]:
    if image[:4] != b"\x7fELF" or struct.unpack_from("<H", image, 18)[0] != 190:  # EM_CUDA
        return {}
    (start,), (count,) = struct.unpack_from("<Q", image, 0x28), struct.unpack_from("<H", image, 0x3C)
    sections = [_SECTION.unpack_from(image, start + n * _SECTION.size) for n in range(count)]
    names = next(_symbols(image, sections, section) for section in sections if section[1] == _SYMTAB)
    numbers: dict[int, dict[int, int]] = {_REGISTERS: {}, _STACK: {}}
    for _, kind, _, _, offset, size, _, info, *_ in sections:
        if kind == _INFO and info == 0:  # of all kernels; those of one have its section's number
            _read_records(image[offset : offset + size], numbers)
    return {
        names[symbol]: Resources(registers, numbers[_STACK].get(symbol, 0))
        for symbol, registers in numbers[_REGISTERS].items()
        if names[symbol]
    }


def _symbols(image: bytes, sections: list[tuple[int, ...]], table: tuple[int, ...]) -> list[str]:
    strings = sections[table[6]][4]
    rows = _SYMBOL.iter_unpack(image[table[4] : table[4] + table[5]])
    return [image[strings + row[0] : image.index(b"\0", strings + row[0])].decode() for row in rows]


def _read_records(data: bytes, numbers: dict[int, dict[int, int]]) -> None:
    at = 0
    while at + 4 <= len(data):
        form, attribute, size = struct.unpack_from("<BBH", data, at)
        if form == _BY_VALUE and attribute in numbers:
            symbol, value = struct.unpack_from("<II", data, at + 4)
            numbers[attribute][symbol] = value
        at += 4 + (size if form == _BY_VALUE else 0)
