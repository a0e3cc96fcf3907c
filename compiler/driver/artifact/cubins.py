"""The kernels of a GPU in an artifact: each ``.cu`` unit as a cubin for each architecture, in one array.

The PTX of the newest architecture that has successors (``sm_80``, not ``sm_90a``) is there too: the driver of a later
GPU compiles it when the model is loaded. The array's format is that of ``runtime/c/cuda/mlc_cuda_images.h``. Cubins
are cached as objects of the C compiler are.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain.c_compiler import allowed_cpus
from mlc.driver.toolchain.c_sources import CSource, object_key, runtime_sources
from mlc.driver.toolchain.cuda_compiler import Compiled, CudaCompiler

IMAGES = "mlc_cubins"
"""The array that generated code declares (``extern const unsigned char mlc_cubins[]``)."""
SECTION = ".mlc.cubins"
MAGIC, ALIGNMENT = b"MLCC", 64
_PTX = 2  # kinds of code: 0 of sm_80, 1 of sm_90a
_HEADER, _ROW = struct.Struct("<4sIQ"), struct.Struct("<IIQQQ")


class Image(NamedTuple):
    """The code of a unit for one architecture: a cubin for ``sm_90a``, PTX for ``compute_80``."""

    unit: int
    architecture: str
    code: bytes


def with_cubins(
    sources: Mapping[str, CSource], architectures: Sequence[str], compiler: CudaCompiler, cache: Cache
) -> dict[str, CSource]:
    """``sources`` with an array of cubins in place of the ``.cu`` units. Raises ToolchainError if one does not
    compile.
    """
    rest = {name: text for name, text in sources.items() if not name.endswith(".cu")}
    units = [name for name in sources if name.endswith(".cu")]
    wanted = [(n, unit, each) for n, unit in enumerate(units) for each in architectures]
    virtual = newest(architectures)
    with ThreadPoolExecutor(allowed_cpus()) as pool:
        made = pool.map(lambda w: (w, _compiled(w[1], sources, w[2], w[2] == virtual, compiler, cache)), wanted)
        table = pack([image for (n, _, each), code in made for image in _images(n, each, code)], len(units))
    assembly = (
        f'.section {SECTION},"a",%progbits\n'
        f".balign {ALIGNMENT}\n.globl {IMAGES}\n.hidden {IMAGES}\n"
        f'{IMAGES}:\n.incbin "cubins.bin"\n.section .note.GNU-stack,"",%progbits\n'
    )
    return {**rest, "cubins.S": assembly, "cubins.bin": table}


def newest(architectures: Sequence[str]) -> str | None:
    """The newest architecture whose PTX later GPUs run. None where every architecture has instructions of its own."""
    return max((each for each in architectures if not each.endswith("a")), default=None, key=lambda each: int(each[3:]))


def _images(unit: int, architecture: str, code: Compiled) -> Iterator[Image]:
    yield Image(unit, architecture, code.cubin)
    if code.ptx:
        yield Image(unit, architecture.replace("sm_", "compute_"), code.ptx + b"\0")  # the driver reads a C string


def _compiled(
    unit: str, sources: Mapping[str, CSource], architecture: str, ptx: bool, compiler: CudaCompiler, cache: Cache
) -> Compiled:
    headers = {name: text for name, text in runtime_sources().items() if name.startswith("mlc_cuda")}
    return _cached(unit, {unit: sources[unit], **headers}, architecture, ptx, compiler, cache)


def cached_cubin(
    unit: str, files: Mapping[str, CSource], architecture: str, compiler: CudaCompiler, cache: Cache
) -> bytes:
    """Compile a unit of ``files``, or take its cubin from the cache. ToolchainError if it does not compile."""
    return _cached(unit, files, architecture, False, compiler, cache).cubin


def _cached(
    unit: str, files: Mapping[str, CSource], architecture: str, ptx: bool, compiler: CudaCompiler, cache: Cache
) -> Compiled:
    version = f"{compiler.version}, with PTX" if ptx else compiler.version
    key = object_key(unit, files, compiler.flags(architecture), version)
    if (entry := cache.get("objects", key)) is not None:
        return Compiled((entry / "object.o").read_bytes(), (entry / "object.ptx").read_bytes() if ptx else b"")
    code = compiler.compile(unit, files, architecture, ptx)
    with cache.stage("objects", key) as folder:
        (folder / "object.o").write_bytes(code.cubin)
        if ptx:
            (folder / "object.ptx").write_bytes(code.ptx)
        cache.commit(folder, "objects", key)
    return code


def pack(images: list[Image], units: int) -> bytes:
    """The array: a header, a row for each image, and the images."""
    at = _aligned(_HEADER.size + _ROW.size * len(images))
    rows, codes = [_HEADER.pack(MAGIC, len(images), units)], b""
    for unit, architecture, code in images:
        parts = re.fullmatch(r"(sm|compute)_(\d+)(a?)", architecture)
        assert parts, architecture
        kind = _PTX if parts[1] == "compute" else bool(parts[3])
        rows.append(_ROW.pack(int(parts[2]), kind, unit, at + len(codes), len(code)))
        codes += code.ljust(_aligned(len(code)), b"\0")
    return b"".join(rows).ljust(at, b"\0") + codes


def unpack(table: bytes) -> Iterator[Image]:
    """The images in an array. Raises ValueError if the bytes are no such array."""
    magic, count, _ = _HEADER.unpack_from(table)
    if magic != MAGIC:
        raise ValueError("this is no array of cubins")
    for n in range(count):
        number, kind, unit, offset, size = _ROW.unpack_from(table, _HEADER.size + n * _ROW.size)
        name = f"compute_{number}" if kind == _PTX else f"sm_{number}{'a' if kind else ''}"
        yield Image(unit, name, table[offset : offset + size])


def embedded_cubins(path: Path) -> list[Image]:
    """The cubins inside a library; none in one for a CPU."""
    return [image for image in embedded_images(path) if image.architecture.startswith("sm_")]


def embedded_images(path: Path) -> list[Image]:
    """The cubins and PTX inside a library; none in one for a CPU."""
    from mlc.runtime import elf

    with elf.opened(path) as image:
        section = image.section(SECTION)
        return [] if section is None else list(unpack(image.bytes_of(section)))


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
