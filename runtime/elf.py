"""Just enough of the ELF format to tell an artifact from another file before it is loaded into the process.

Loading a truncated shared library kills the process (SIGBUS), so its extent is checked here first. Source: System V
ABI, "Object Files".
"""

from __future__ import annotations

import mmap
import platform
import struct
from collections.abc import Iterator
from pathlib import Path

from mlc.runtime.errors import ArtifactError

_MACHINES = {62: "x86_64", 183: "aarch64", 243: "riscv64", 3: "i686", 40: "armv7l"}
_LOAD, _DYNSYM, _NOBITS = 1, 11, 8
_SHARED = 3


def exported_functions(path: Path) -> list[str]:
    """The names a 64-bit little-endian shared library exports.

    Raises ArtifactError where the file is no such library, is truncated, or is for another architecture.
    """
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            _check_header(path, data)
            return list(_dynamic_symbols(path, data))
    except OSError as error:
        raise ArtifactError(f"Cannot read {path}: {error.strerror}") from None
    except (ValueError, struct.error, UnicodeDecodeError):  # mmap of an empty file, or offsets that lead nowhere
        raise ArtifactError(f"{path} is empty, truncated or damaged", hint=_AGAIN) from None


_AGAIN = "Compile the model again, or copy the file again"


def _check_header(path: Path, data: mmap.mmap) -> None:
    if data[:4] != b"\x7fELF":
        raise ArtifactError(f"{path} is not a shared library", hint="Give the .so file that 'mlc compile' wrote")
    if data[4:6] != b"\x02\x01":
        raise ArtifactError(f"{path} is not a 64-bit little-endian library", hint="Compile the model for this machine")
    kind, number = struct.unpack_from("<HH", data, 16)
    if kind != _SHARED:
        raise ArtifactError(f"{path} is not a shared library", hint="Give the .so file that 'mlc compile' wrote")
    machine = _MACHINES.get(number, f"ELF machine {number}")
    if machine != platform.machine():
        message = f"{path} was compiled for {machine}, but this machine is {platform.machine()}"
        raise ArtifactError(message, hint="Compile the model with this machine as the target")


def _dynamic_symbols(path: Path, data: mmap.mmap) -> Iterator[str]:
    _check_segments(path, data)
    sections = _sections(data)
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind == _DYNSYM:
            strings = sections[link][4]
            for name, _, _, section, *_ in struct.iter_unpack("<IBBHQQ", data[offset : offset + size]):
                if section:
                    end = data.find(b"\0", strings + name)
                    yield data[strings + name : end].decode()


def _check_segments(path: Path, data: mmap.mmap) -> None:
    ends = [offset + size for _, kind, _, _, offset, size, *_ in _sections(data) if kind != _NOBITS]
    ends += [offset + size for kind, _, offset, _, _, size, _, _ in _segments(data) if kind == _LOAD]
    if not ends or max(ends) > len(data):
        raise ArtifactError(f"{path} is truncated: it has {len(data)} of {max(ends, default=0)} bytes", hint=_AGAIN)


def _sections(data: mmap.mmap) -> list[tuple[int, ...]]:
    return _table(data, 0x28, 0x3A, "<IIQQQQIIQQ")


def _segments(data: mmap.mmap) -> list[tuple[int, ...]]:
    return _table(data, 0x20, 0x36, "<IIQQQQQQ")


def _table(data: mmap.mmap, offset_at: int, count_at: int, layout: str) -> list[tuple[int, ...]]:
    """The section or program header table: its file offset and entry size and count stand in the file header."""
    (start,) = struct.unpack_from("<Q", data, offset_at)
    entry, count = struct.unpack_from("<HH", data, count_at)
    if start + entry * count > len(data) or (count and entry < struct.calcsize(layout)):
        raise ValueError
    return [struct.unpack_from(layout, data, start + i * entry) for i in range(count)]
