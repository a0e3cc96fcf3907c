"""Files of arrays, of compiled code and of schedules that are wrong: lengths, types, archives, pickles, links."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from mutate import damaged

ENDS = [0, -1, 3, 2**31, 2**40, 2**63 - 1, -(2**63), 2**64, 1.5, "3", None, True, [], {}]


def damaged_bytes(random: Random, data: bytes) -> bytes:
    return damaged(random, data, data)


# -- safetensors


def _header(random: Random) -> dict[str, Any]:
    """Two tensors of 16 bytes, of which one field is wrong."""
    made: dict[str, Any] = {
        "a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]},
        "b": {"dtype": "I64", "shape": [2], "data_offsets": [16, 32]},
    }
    kind = random.choice(["dtype", "shape", "data_offsets", "field", "name", "metadata", "none"])
    entry = made[random.choice("ab")]
    if kind == "dtype":
        entry[kind] = random.choice(["F8_E4M3", "X", "", 3, None, "BF16", "U64", "C64"])
    elif kind in ("shape", "data_offsets"):
        entry[kind] = random.choice(
            [[random.choice(ENDS)], [random.choice(ENDS), random.choice(ENDS)], "x", [1] * 5000, []]
        )
    elif kind == "field":
        entry.pop(random.choice(list(entry)))
    elif kind == "name":
        made[random.choice(["../x", "\x1b[2J", "\0", "n" * 9999, ""])] = made.pop("a")
    elif kind == "metadata":
        made["__metadata__"] = random.choice([[], 3, {"a": 1}, {"step": "\x1b[2J"}, {"sha256": "0"}, None])
    return made


def safetensors(random: Random, folder: Path) -> Path:
    """A file of safetensors with a wrong header, a wrong length of it, or damaged bytes."""
    header = json.dumps(_header(random)).encode()
    if random.random() < 0.15:
        header = random.choice([b"[" * 100_000, b'{"a":' * 5000, b"null", b"", b"\xff" * 9, b'{"a": NaN}', header * 2])
    size = len(header) if random.random() < 0.8 else random.choice([0, 2**31, 2**63, 2**64 - 1, len(header) - 1])
    data = struct.pack("<Q", size) + header + bytes(random.choice([32, 32, 32, 0, 31, 4096]))
    return _written(random, folder / "step-000000001.safetensors", data)


# -- .npy and .npz


def _array_bytes(random: Random) -> bytes:
    kind = random.choice(["header", "object", "dtype", "huge", "plain", "text"])
    if kind == "object":
        stream = io.BytesIO()
        np.save(stream, np.array([_Pickled()], object), allow_pickle=True)
        return stream.getvalue()
    if kind == "plain":
        stream = io.BytesIO()
        np.save(stream, np.zeros((2, 3), np.float32))
        return stream.getvalue()
    shape = {
        "huge": random.choice(["(1099511627776,)", "(-1,)", "(9223372036854775807, 2)", "(1,)*70", "('a',)", "(True,)"])
    }
    descr = {
        "dtype": random.choice(
            ["'<f9'", "'|V8'", "[('a', '<f4')]", "'<U999999999'", "'M8[s]'", "'>f4'", "'O'", "'\\x1b'"]
        )
    }
    text = f"{{'descr': {descr.get(kind, repr('<f4'))}, 'fortran_order': False, 'shape': {shape.get(kind, '(2, 3)')}}}"
    text = random.choice(["(" * 3000, "__import__('os')", "{}", "\0" * 9]) if kind == "text" else text
    encoded = text.encode().ljust(117) + b"\n"
    size = len(encoded) if kind != "header" else random.choice([0, 65535, len(encoded) - 9])
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", size) + encoded + bytes(24)


class _Pickled:
    """What writes a file where it is unpickled."""

    def __reduce__(self) -> Any:
        return os.mkdir, ("unpickled",)


def _archive(random: Random) -> bytes:
    """An archive with names that are twice there, lead elsewhere, or whose members are bombs."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for _ in range(random.choice([1, 1, 2])):
            name = random.choice(
                ["x.npy", "x.npy", "x.npy", "../x.npy", "/x.npy", "x", "\x1b[2J.npy", "a\\b.npy", ".npy"]
            )
            if random.random() < 0.15:
                header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (268435456,)}".ljust(117) + b"\n"
                data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(32 << 20)
            else:
                data = _array_bytes(random)
            archive.writestr(name, data)
    return stream.getvalue()


def npz(random: Random, folder: Path) -> Path:
    """An .npz archive, a .npy file, or bytes of one under the name of the other."""
    is_archive = random.random() < 0.5
    data = _archive(random) if is_archive else _array_bytes(random)
    return _written(random, folder / ("x.npz" if is_archive != (random.random() < 0.1) else "x.npy"), data)


def pickled(random: Random, folder: Path) -> Path:
    """A pickle under the name of a checkpoint, of arrays, of a program."""
    name = random.choice(["step-000000001.safetensors", "x.npz", "x.npy", "model.pt2", "model.onnx", "model.so"])
    return _written(random, folder / name, pickle.dumps(_Pickled()))


# -- compiled code


def library(valid: bytes) -> Callable[[Random, Path], Path]:
    """A compiled model whose headers, sections and signature are changed; with a right checksum it would be loaded,
    which no file of an attacker may be: code is trusted as any library is."""

    def made(random: Random, folder: Path) -> Path:
        data = bytearray(valid)
        for _ in range(random.choice([1, 1, 3])):
            if random.random() < 0.6:  # the tables of the file
                start = random.choice([0x10, 0x12, 0x20, 0x28, 0x34, 0x36, 0x38, 0x3A, 0x3C, 0x3E, 0x40, 0x48, 0x60])
                value = random.choice([0, 1, 0xFFFF, 2**31, 2**63, 2**64 - 1, len(data), len(data) - 1])
                size = random.choice([2, 4, 8])
                data[start : start + size] = (value % 256**size).to_bytes(size, "little")
            else:
                table = int.from_bytes(data[0x28:0x30], "little")
                at = table + random.randrange(max(1, min(4096, len(data) - table)))
                if at + 8 <= len(data):
                    data[at : at + 8] = random.choice([0, 1, 2**31, 2**63, 2**64 - 1]).to_bytes(8, "little")
        return _written(random, folder / "model.so", bytes(data))

    return made


# -- schedules


def schedule(valid: str) -> Callable[[Random, Path], Path]:
    """Schedules of kernels that are not there, with loops, factors and words that are none."""

    def made(random: Random, folder: Path) -> Path:
        line = random.choice(valid.splitlines() or ["kernel: tile(i, 4)"])
        words = [str(each) for each in ENDS] + [
            "tile",
            "vector",
            "\x1b[2J",
            "\0",
            "i" * 9999,
            "(" * 3000,
            "unroll",
            ":",
            ",",
        ]
        parts = line.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split(" ")
        for _ in range(random.choice([1, 2, 4])):
            parts[random.randrange(len(parts)) :][:1] = [random.choice(words)]
            parts[random.randrange(len(parts))] = random.choice(words)
        text = random.choice([" ".join(parts), "\n".join([line] * 3), line * 500, "", "\ufeff" + line])
        return _written(random, folder / "model.schedules", text.encode())

    return made


def _written(random: Random, path: Path, data: bytes) -> Path:
    """The data, at times damaged; at times as a link to it, to itself, or as a folder of that name."""
    if random.random() < 0.25:
        data = damaged_bytes(random, data)
    form = random.random()
    if form < 0.03:
        path.symlink_to(path)
    elif form < 0.05:
        path.mkdir()
    elif form < 0.07:
        (path.parent / "target").write_bytes(data)
        path.symlink_to(path.parent / "target")
    else:
        path.write_bytes(data)
    return path


assert zlib
