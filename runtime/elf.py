"""A reader of ELF files: it tells an artifact from another file and reads the artifact's description, before any of its
code is loaded.

Loading a truncated shared library kills the process (SIGBUS), so its extent is checked here first. Source: System V
ABI, "Object Files".
"""

from __future__ import annotations

import mmap
import platform
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from mlc.errors import ArtifactError

_MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64", 3: "i686", 40: "armv7l"}
_LOAD, _STRTAB, _DYNAMIC, _DYNSYM, _NOBITS = 1, 3, 6, 11, 8
OBJECT, SHARED = 1, 3  # what a file is: to be linked, or to be loaded
AGAIN = "Compile the model again, or copy the file again"
GIVE = "Give the .so file that 'mlc compile' wrote"
LINUX = "Artifacts are .so files, which run on Linux, also in WSL or a container: compile the model there"
_FOREIGN = {
    b"MZ": "a program or library of Windows",
    **dict.fromkeys((b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"), "a program or library of macOS"),
    b"!<arch>": "an archive, to be linked into a program",
}
"""What a file is, by the bytes that it begins with."""
_ALLOC = 2  # flag of a section that is part of the loaded library
_SONAME = 14
SEGMENT = "<IIQQQQQQ"
"""The format of a row of the program header table."""


class Section(NamedTuple):
    """A row of the section header table, with its name."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int

    @property
    def loaded(self) -> bool:
        """Whether the section's bytes are part of the loaded library."""
        return bool(self.flags & _ALLOC) and self.kind != _NOBITS


class Image(NamedTuple):
    """The bytes of a library, and its sections in the order of the table."""

    path: Path
    data: mmap.mmap
    sections: list[Section]

    def section(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.name == name), None)

    def bytes_of(self, section: Section) -> bytes:
        return self.data[section.offset : section.offset + section.size]


@contextmanager
def opened(path: Path, write: bool = False, kind: int = SHARED) -> Iterator[Image]:
    """Opens a library, or an object file, and yields its image. With ``write``, changes of its bytes are written in
    place.

    Raises ArtifactError if the file is no 64-bit little-endian one of that ``kind``, or is truncated.
    """
    try:
        access = mmap.ACCESS_WRITE if write else mmap.ACCESS_READ
        with open(path, "r+b" if write else "rb") as file, mmap.mmap(file.fileno(), 0, access=access) as data:
            _check_header(path, data, kind)
            image = Image(path, data, _sections(data))
            _check_extent(image)
            yield image
    except OSError as error:
        raise ArtifactError(f"Cannot read {path}: {error.strerror}") from None
    except (ValueError, struct.error, IndexError):  # mmap of an empty file, or offsets that lead nowhere
        raise ArtifactError(f"{path} is empty, truncated or damaged", hint=AGAIN) from None


def check_machine(image: Image) -> None:
    """Raises ArtifactError if a library is for another architecture than this machine's."""
    if machine(image) != platform.machine():
        message = f"{image.path} was compiled for {machine(image)}, but this machine is {platform.machine()}"
        raise ArtifactError(message, hint="Compile the model with this machine as the target")


def machine(image: Image) -> str:
    """Returns the architecture of a library's code, as `uname -m` prints it."""
    (number,) = struct.unpack_from("<H", image.data, 18)
    return _MACHINES.get(number, f"ELF machine {number}")


def exported_functions(image: Image) -> list[str]:
    """Returns the names that a library exports."""
    return list(_dynamic_symbols(image))


def soname(image: Image) -> tuple[int, int] | None:
    """Returns the file offset of the library's SONAME and the bytes that the name may have; None if there is none."""
    data = image.data
    for dynamic in (section for section in image.sections if section.kind == _DYNAMIC):
        strings = image.sections[dynamic.link]
        for tag, value in struct.iter_unpack("<QQ", image.bytes_of(dynamic)):
            if tag == _SONAME:
                start, end = strings.offset + value, strings.offset + strings.size
                stop = data.find(b"\0", start, end)
                while stop + 1 < end and data[stop + 1] == 0:
                    stop += 1
                return start, stop - start
    return None


def loading(image: Image) -> bytes:
    """Returns the bytes that the system's loader reads first: the file header and the table of segments. The header is
    without the machine, which another check covers, and without the offsets of the sections, which `strip` changes."""
    data, rows = image.data, _table(image.data, 0x20, 0x36, SEGMENT)
    return b"".join([data[:0x12], data[0x14:0x28], data[0x30:0x3A], *(struct.pack(SEGMENT, *row) for row in rows)])


def _check_header(path: Path, data: mmap.mmap, wanted: int) -> None:
    name = {OBJECT: "an object file", SHARED: "a shared library"}[wanted]
    if data[:4] != b"\x7fELF":
        of = next((f" of Linux but {what}" for start, what in _FOREIGN.items() if data[: len(start)] == start), "")
        raise ArtifactError(f"{path} is not {name}{of}", hint=LINUX if " of " in of[9:] else GIVE)
    if data[4:6] != b"\x02\x01":
        raise ArtifactError(f"{path} is not a 64-bit little-endian library", hint="Compile the model for this machine")
    (kind,) = struct.unpack_from("<H", data, 16)
    if kind != wanted:
        raise ArtifactError(f"{path} is not {name}", hint=GIVE)


def _sections(data: mmap.mmap) -> list[Section]:
    rows = _table(data, 0x28, 0x3A, "<IIQQQQIIQQ")
    (names,) = struct.unpack_from("<H", data, 0x3E)
    if rows and rows[names][1] != _STRTAB:
        raise ValueError
    strings = data[rows[names][4] : rows[names][4] + rows[names][5]] if rows else b""
    return [
        Section(strings[name : strings.find(b"\0", name)].decode(errors="replace"), *fields)
        for name, *fields, _, _, _ in rows
    ]


def _string(data: mmap.mmap, start: int) -> str:
    return data[start : data.find(b"\0", start)].decode(errors="replace")


def _dynamic_symbols(image: Image) -> Iterator[str]:
    for table in (section for section in image.sections if section.kind == _DYNSYM):
        strings = image.sections[table.link].offset
        for name, _, _, section, *_ in struct.iter_unpack("<IBBHQQ", image.bytes_of(table)):
            if section:
                yield _string(image.data, strings + name)


def _check_extent(image: Image) -> None:
    ends = [section.offset + section.size for section in image.sections if section.kind != _NOBITS]
    segments = _table(image.data, 0x20, 0x36, SEGMENT)
    ends += [offset + size for kind, _, offset, _, _, size, _, _ in segments if kind == _LOAD]
    if not ends or max(ends) > len(image.data):
        message = f"{image.path} is truncated: it has {len(image.data)} of {max(ends, default=0)} bytes"
        raise ArtifactError(message, hint=AGAIN)


def _table(data: mmap.mmap, offset_at: int, count_at: int, layout: str) -> list[tuple[int, ...]]:
    """Returns the section or program header table. Its file offset, entry size and count are in the file header."""
    (start,) = struct.unpack_from("<Q", data, offset_at)
    entry, count = struct.unpack_from("<HH", data, count_at)
    if start + entry * count > len(data) or (count and entry < struct.calcsize(layout)):
        raise ValueError
    return [struct.unpack_from(layout, data, start + i * entry) for i in range(count)]
