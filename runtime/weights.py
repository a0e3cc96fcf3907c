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


INDEX = ".weights.json"
"""The suffix of the index of the weights files of ranks."""


def header(payload_bytes: int, sha256: bytes, rank: int = 0, ranks: int = 0) -> bytes:
    """Returns the 64 bytes before a payload: magic, u32 version, u64 size, SHA-256 digest, u32 rank and ranks (0: the
    file is that of all ranks), zeros (all little-endian)."""
    return struct.pack("<4sIQ32sII8x", b"MLCW", VERSION, payload_bytes, sha256, rank, ranks)


def of_rank(path: Path, rank: int, ranks: int) -> Path:
    """Returns the weights file of a rank: ``net.0of2.weights`` for ``net.weights``."""
    return path.with_suffix(f".{rank}of{ranks}.weights")


def files_of_ranks(path: Path, ranks: int) -> list[Path]:
    """Returns the weights files of all ranks, then their index."""
    return [*(of_rank(path, rank, ranks) for rank in range(ranks)), path.with_suffix(INDEX)]


def check_weights(library: Path, file: Path | None, signature: Mapping[str, Any]) -> None:
    """Raises ArtifactError if the weights, in ``file`` or inside the library, have another digest than when
    compiled."""
    expected = signature.get("weights") or {}
    if (ranks := expected.get("ranks")) and file is not None:
        place = file.name.split(".")[-2]  # 0of2
        expected = expected | {"sha256": ranks[int(place.split("of")[0])]}
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
