"""The format of weights files, as ``c/mlc_weights.c`` reads it."""

from __future__ import annotations

import struct

HEADER_BYTES = 64
VERSION = 1
ALIGNMENT = 64


def header(payload_bytes: int, sha256: bytes) -> bytes:
    """The 64 bytes before a payload: magic, u32 version, u64 size, SHA-256 digest, zeros (all little-endian)."""
    return struct.pack("<4sIQ32s16x", b"MLCW", VERSION, payload_bytes, sha256)
