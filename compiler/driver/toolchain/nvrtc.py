"""NVRTC, NVIDIA's CUDA compiler as a library: found in the wheel ``nvidia-cuda-nvrtc`` or by the dynamic loader.

Source: NVRTC, "User Interface". It knows no system headers, and kernels include none.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p
from functools import cache
from pathlib import Path

from mlc.driver.toolchain.c_sources import CSource, encoded
from mlc.errors import ToolchainError

NAMES = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")


def flags(architecture: str) -> tuple[str, ...]:
    """Options to compile for one architecture."""
    return (f"--gpu-architecture={architecture}", "--std=c++17", "--device-as-default-execution-space")


@cache
def _library() -> ctypes.CDLL | None:
    wheels = (path for root in sys.path for path in sorted(Path(root).glob("nvidia/*/lib/libnvrtc.so.1?")))
    for name in (*wheels, *map(Path, NAMES)):
        with suppress(OSError):
            for needed in name.parent.glob("libnvrtc-builtins.so.*") if name.is_absolute() else ():
                ctypes.CDLL(str(needed))  # which it opens by its bare name
            library = ctypes.CDLL(str(name))
            library.nvrtcGetErrorString.restype = c_char_p
            return library
    return None


def version() -> str | None:
    """The version of NVRTC; None if it is not installed."""
    library, major, minor = _library(), c_int(), c_int()
    if library is None or library.nvrtcVersion(byref(major), byref(minor)):
        return None
    return f"{major.value}.{minor.value}"


def compiled(unit: str, sources: Mapping[str, CSource], options: Sequence[str], ptx: bool) -> tuple[bytes, bytes]:
    """The cubin of a unit of ``sources``, the rest of which are headers, and its PTX if asked for. ToolchainError if it
    does not compile."""
    library = _library()
    assert library is not None
    headers = {name: encoded(text) for name, text in sources.items() if name != unit}
    program = c_void_p()
    names = (c_char_p * len(headers))(*(name.encode() for name in headers))
    contents = (c_char_p * len(headers))(*headers.values())
    made = library.nvrtcCreateProgram(
        byref(program), encoded(sources[unit]), unit.encode(), c_int(len(headers)), contents, names
    )
    if made:
        raise ToolchainError(f"NVRTC failed: {library.nvrtcGetErrorString(made).decode()}", stage="code")
    try:
        given = (c_char_p * len(options))(*(option.encode() for option in options))
        if library.nvrtcCompileProgram(program, c_int(len(options)), given):
            log = _text(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, program).decode(errors="replace")
            says = [line for line in log.splitlines() if "error" in line][:3]
            raise ToolchainError(f"NVRTC failed: {'; '.join(says) or log[:200]}", stage="code")
        text = _text(library.nvrtcGetPTXSize, library.nvrtcGetPTX, program) if ptx else b""
        return _text(library.nvrtcGetCUBINSize, library.nvrtcGetCUBIN, program), text.rstrip(b"\0")
    finally:
        library.nvrtcDestroyProgram(byref(program))


def _text(size_of: ctypes._NamedFuncPointer, read: ctypes._NamedFuncPointer, program: c_void_p) -> bytes:
    size = c_size_t()
    size_of.argtypes = [c_void_p, POINTER(c_size_t)]
    size_of(program, byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    read(program, buffer)
    return buffer.raw
