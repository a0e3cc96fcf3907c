"""Weights: the format of their file, as ``c/core/mlc_weights.c`` reads it, and a check of their contents."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlc.errors import ArtifactError
from mlc.runtime import elf, sealed

HEADER_BYTES = 64
VERSION = 1


def header(payload_bytes: int, sha256: bytes) -> bytes:
    """Returns the 64 bytes before a payload: magic, u32 version, u64 size, SHA-256 digest, zeros (all
    little-endian)."""
    return struct.pack("<4sIQ32s16x", b"MLCW", VERSION, payload_bytes, sha256)


def check_weights(library: Path, file: Path | None, signature: Mapping[str, Any]) -> None:
    """Raises ArtifactError if the weights, in ``file`` or inside the library, have another digest than when
    compiled."""
    expected = signature.get("weights") or {}
    found = sealed.embedded_weights(library) if file is None else _digest_of(file)
    if found is not None and expected.get("bytes") and found != expected["sha256"]:
        message = f"The weights {file or f'in {library}'} are damaged: their contents do not match the digest in model"
        raise ArtifactError(f"{message} '{signature['name']}'", hint=elf.AGAIN)


def _digest_of(file: Path) -> str | None:
    """Returns the digest of the payload; None if it cannot be read: the library then reports the cause."""
    try:
        with file.open("rb") as stream:
            stream.seek(HEADER_BYTES)
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None
