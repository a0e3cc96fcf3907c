"""A machine with a GPU, for tests: the fake driver in the process, and the compiler of emulated kernels."""

from __future__ import annotations

import ctypes
import gc
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_size_t, c_ulonglong, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LIVE = ("context", "current", "event", "exec", "graph", "memory", "module", "stream")

needed = pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")


def build(folder: Path) -> tuple[Path, Path]:
    """libcuda.so.1 and the object of the emulation, compiled into ``folder``."""
    driver, emulation = folder / "libcuda.so.1", folder / "emulation.o"
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC"]
    shared = ["-shared", "-Wl,-soname,libcuda.so.1", f"-I{ROOT / 'runtime/c/cuda'}"]
    _run("g++", *flags, *shared, HERE / "fake_driver.cpp", "-o", driver, "-ldl")
    _run("g++", "-std=c++17", "-O2", "-fPIC", "-c", HERE / "emulation/emulation.cpp", "-o", emulation)
    return driver, emulation


def _run(*command: object) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert not done.returncode, done.stderr[:2000]


class Gpu:
    """The counters of the fake driver, and the call at which it fails."""

    def __init__(self, driver: Path, emulation: Path) -> None:
        self.folder, self.emulation = driver.parent, emulation
        ctypes.CDLL("libstdc++.so.6", mode=ctypes.RTLD_GLOBAL)  # for libraries of kernels
        self.library = ctypes.CDLL(str(driver))  # the dynamic loader then finds libcuda.so.1 by this name
        self.library.fake_cuda_counts.restype = ctypes.c_char_p
        self.library.fake_cuda_primary.restype = ctypes.c_void_p

    def counts(self) -> dict[str, int]:
        return json.loads(self.library.fake_cuda_counts())

    def since(self, before: dict[str, int]) -> dict[str, int]:
        """Return the driver calls since an earlier count."""
        now = self.counts()
        return {name: count - before.get(name, 0) for name, count in now.items() if count != before.get(name, 0)}

    def live(self) -> dict[str, int]:
        """Return the number of live objects by kind, without zeros."""
        gc.collect()
        return {name: count for name, count in self.counts().items() if name in LIVE and count}

    def fail_at(self, call: int) -> None:
        """Let the n-th call from now on fail; 0: no call."""
        self.library.fake_cuda_fail(ctypes.c_long(call))

    @contextmanager
    def inside(self, context: int | None = None) -> Iterator[None]:
        """Make a context the thread's current one; None: the primary context of device 0."""
        context = context or self.library.fake_cuda_primary(0)
        assert self.library.cuCtxPushCurrent_v2(ctypes.c_void_p(context)) == 0
        yield
        assert self.library.cuCtxPopCurrent_v2(None) == 0

    def new_context(self, device: int = 0) -> int:
        """Create a context as pycuda does, without leaving it current."""
        made = ctypes.c_void_p()
        assert self.library.cuInit(0) == 0
        assert self.library.cuCtxCreate_v2(ctypes.byref(made), 0, device) == 0
        assert self.library.cuCtxPopCurrent_v2(None) == 0
        assert made.value
        return made.value

    def allocate(self, size: int) -> int:
        address = ctypes.c_ulonglong()
        assert self.library.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) == 0
        return address.value


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Gpu:
    if not shutil.which("g++"):
        pytest.skip("needs g++")
    return Gpu(*build(tmp_path_factory.mktemp("gpu")))


@pytest.fixture
def gpu(built: Gpu, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpu]:
    """The machine with a fake GPU. At the end of a test no object of it may be live."""
    monkeypatch.setenv("MLC_NVCC", str(HERE / "fake_nvcc.py"))
    monkeypatch.setenv("FAKE_EMULATION", str(built.emulation))
    built.fail_at(0)
    yield built
    built.fail_at(0)
    assert built.live() == {}


class OnDevice:
    """An array in the fake device's memory, of a context (None: the primary one of device 0)."""

    def __init__(self, gpu: Gpu, array: np.ndarray[Any, Any], context: int | None = None, **interface: Any) -> None:
        self.gpu, self.array, self.context = gpu, np.ascontiguousarray(array), context
        with gpu.inside(context):
            self.address = gpu.allocate(max(array.nbytes, 1))
        self.copy("cuMemcpyHtoDAsync_v2", self.address, self.array.ctypes.data)
        self.__cuda_array_interface__ = {
            "data": (self.address, False), "shape": array.shape, "typestr": array.dtype.str, "version": 3, **interface,
        }  # fmt: skip

    def copy(self, call: str, target: int, source: int) -> None:
        function = getattr(self.gpu.library, call)
        with self.gpu.inside(self.context):
            assert self.gpu.library.cuStreamSynchronize(None) == 0  # the driver of the tests does all work
            assert function(c_void_p(target), c_void_p(source), c_size_t(self.array.nbytes), None) == 0
            assert self.gpu.library.cuStreamSynchronize(None) == 0

    def numpy(self) -> np.ndarray[Any, Any]:
        found = np.empty_like(self.array)
        self.copy("cuMemcpyDtoHAsync_v2", found.ctypes.data, self.address)
        return found

    def free(self) -> None:
        with self.gpu.inside(self.context):
            assert self.gpu.library.cuMemFree_v2(c_ulonglong(self.address)) == 0


def model(text: str, **weights: np.ndarray[Any, Any]) -> onnx.ModelProto:
    """An ONNX model from a graph's text and its weights."""
    made = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 20]>\n{text}')
    made.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())
    return made


def random(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng().normal(size=shape).astype(np.float32)
