"""The kernels of a GPU in an artifact: each ``.cu`` unit as a cubin for each architecture, in one array.

The array's format is that of ``runtime/c/cuda/mlc_cuda_images.h``. Cubins are cached as objects of the C compiler are.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from mlc.driver.cache.disk_cache import Cache
from mlc.driver.toolchain.c_compiler import Toolchain, allowed_cpus
from mlc.driver.toolchain.c_sources import CSource, object_key, runtime_sources
from mlc.driver.toolchain.cuda_compiler import CudaCompiler
from mlc.target import GpuTarget, Target

IMAGES = "mlc_cubins"
"""The array that generated code declares (``extern const unsigned char mlc_cubins[]``)."""
SECTION = ".mlc.cubins"
MAGIC, ALIGNMENT = b"MLCC", 64
_HEADER, _ROW = struct.Struct("<4sIQ"), struct.Struct("<IIQQQ")


class Image(NamedTuple):
    """The code of a unit for one architecture, ``sm_90a``."""

    unit: int
    architecture: str
    code: bytes


def with_cubins(
    sources: Mapping[str, CSource], target: Target, toolchain: Toolchain, cache: Cache
) -> dict[str, CSource]:
    """``sources`` with the array of cubins in place of the ``.cu`` units. ToolchainError if one does not compile."""
    rest = {name: text for name, text in sources.items() if not name.endswith(".cu")}
    if not isinstance(target, GpuTarget):
        return rest
    assert toolchain.cuda is not None
    compiler, units = toolchain.cuda, [name for name in sources if name.endswith(".cu")]
    wanted = [(n, unit, each) for n, unit in enumerate(units) for each in target.architectures]
    with ThreadPoolExecutor(allowed_cpus()) as pool:
        made = pool.map(lambda w: Image(w[0], w[2], _cubin(w[1], sources, w[2], compiler, cache)), wanted)
        table = pack(list(made), len(units))
    assembly = (
        f'.section {SECTION},"a",%progbits\n'
        f".balign {ALIGNMENT}\n.globl {IMAGES}\n.hidden {IMAGES}\n"
        f'{IMAGES}:\n.incbin "cubins.bin"\n.section .note.GNU-stack,"",%progbits\n'
    )
    return {**rest, "cubins.S": assembly, "cubins.bin": table}


def _cubin(unit: str, sources: Mapping[str, CSource], architecture: str, compiler: CudaCompiler, cache: Cache) -> bytes:
    headers = {name: text for name, text in runtime_sources().items() if name.startswith("mlc_cuda")}
    return cached_cubin(unit, {unit: sources[unit], **headers}, architecture, compiler, cache)


def cached_cubin(
    unit: str, files: Mapping[str, CSource], architecture: str, compiler: CudaCompiler, cache: Cache
) -> bytes:
    """Compile a unit of ``files``, or take its cubin from the cache. ToolchainError if it does not compile."""
    key = object_key(unit, files, compiler.flags(architecture), compiler.version)
    if (entry := cache.get("objects", key)) is not None:
        return (entry / "object.o").read_bytes()
    code = compiler.cubin(unit, files, architecture)
    with cache.stage("objects", key) as folder:
        (folder / "object.o").write_bytes(code)
        cache.commit(folder, "objects", key)
    return code


def pack(images: list[Image], units: int) -> bytes:
    """The array: a header, a row for each image, and the images."""
    at = _aligned(_HEADER.size + _ROW.size * len(images))
    rows, codes = [_HEADER.pack(MAGIC, len(images), units)], b""
    for unit, architecture, code in images:
        number = re.fullmatch(r"sm_(\d+)(a?)", architecture)
        assert number, architecture
        rows.append(_ROW.pack(int(number[1]), bool(number[2]), unit, at + len(codes), len(code)))
        codes += code.ljust(_aligned(len(code)), b"\0")
    return b"".join(rows).ljust(at, b"\0") + codes


def unpack(table: bytes) -> Iterator[Image]:
    """The images of an array. ValueError if it is none."""
    magic, count, _ = _HEADER.unpack_from(table)
    if magic != MAGIC:
        raise ValueError("this is no array of cubins")
    for n in range(count):
        number, exact, unit, offset, size = _ROW.unpack_from(table, _HEADER.size + n * _ROW.size)
        yield Image(unit, f"sm_{number}{'a' if exact else ''}", table[offset : offset + size])


def embedded_cubins(path: Path) -> list[Image]:
    """The images inside a library; none in one for a CPU."""
    from mlc.runtime import elf

    with elf.opened(path) as image:
        section = image.section(SECTION)
        return [] if section is None else list(unpack(image.bytes_of(section)))


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
