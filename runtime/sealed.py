"""The sections in which a library describes itself, which are read and checked before any of its code runs: the
signature, the checksum of all that is loaded, and embedded weights."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from pathlib import Path
from typing import Any

from mlc.errors import ArtifactError
from mlc.runtime import elf
from mlc.runtime.elf import Image

SIGNATURE, CHECKSUM, WEIGHTS = ".mlc.signature", ".mlc.checksum", ".mlc.weights"
CHECKSUM_BYTES = 8
MARK = b"MLCT"  # before a checksum
OLDER = b"MLCS"  # before one of sections alone, without what the system's loader reads first
CHECKED = 1 << 20  # bytes: larger embedded weights are checked on request, as that takes longer than loading
SONAME_BYTES = 255  # that a file name may have
SONAME_ROOM = "%" * SONAME_BYTES
"""The library's name for the linker, a placeholder that ``seal`` overwrites with the real name."""


def read_signature(path: Path) -> dict[str, Any]:
    """Returns the signature of an artifact for any architecture. Raises ArtifactError if the file is none, or is
    damaged."""
    with elf.opened(path) as image:
        section = image.section(SIGNATURE)
        if section is None:
            raise ArtifactError(f"{path} is not an mlc artifact", hint=elf.GIVE)
        check(image)
        try:
            signature: dict[str, Any] = json.loads(image.bytes_of(section).partition(b"\0")[0])
        except ValueError:
            raise ArtifactError(f"{path} is damaged: its signature is not valid JSON", hint=elf.AGAIN) from None
    return signature


def seal(path: Path, name: str) -> None:
    """Writes into a library that has just been linked or copied the ``name`` of its file, by which programs find it at
    run time, and then the checksum."""
    with elf.opened(path, write=True) as image:
        place, wanted = elf.soname(image), name.encode(errors="surrogateescape")
        if place is not None and len(wanted) <= place[1]:
            start, room = place
            image.data[start : start + room] = wanted.ljust(room, b"\0")
        if (section := image.section(CHECKSUM)) is not None:
            image.data[section.offset : section.offset + CHECKSUM_BYTES] = _checksum(image)


def check(image: Image) -> None:
    """Raises ArtifactError if a library has changed since it was sealed. A library without a checksum counts as
    intact."""
    section = image.section(CHECKSUM)
    kept = b"" if section is None else image.bytes_of(section)[:CHECKSUM_BYTES]
    if any(kept) and kept != _checksum(image, kept[:4] == OLDER):
        raise ArtifactError(f"{image.path} is damaged: its contents do not match its checksum", hint=elf.AGAIN)


def embedded_weights(path: Path) -> str | None:
    """Returns the SHA-256 of the weights inside a library, as hex; None if it has none."""
    with elf.opened(path) as image:
        section = image.section(WEIGHTS)
        return None if section is None else hashlib.sha256(image.bytes_of(section)).hexdigest()


def _checksum(image: Image, older: bool = False) -> bytes:
    """Returns the CRC-32 of the sections that are loaded, as `strip` removes others; large weights have a digest of
    their own. CRC-32 is as fast as reading. It finds damage, but is no protection against an attacker."""
    crc, extents = 0 if older else zlib.crc32(elf.loading(image)), []
    with memoryview(image.data) as view:
        for name, _, _, address, offset, size, _ in (section for section in image.sections if section.loaded):
            if name != CHECKSUM and (name != WEIGHTS or size <= CHECKED):
                with view[offset : offset + size] as piece:
                    crc = zlib.crc32(piece, crc)
                extents += [address, size]
    return struct.pack("<4sI", OLDER if older else MARK, zlib.crc32(struct.pack(f"<{len(extents)}Q", *extents), crc))
