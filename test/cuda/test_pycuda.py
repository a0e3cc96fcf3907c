"""pycuda's own contexts, streams and arrays on the driver of the tests; skipped where pycuda is not installed."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_gpu import HERE, ROOT, Gpu, random
from test_host_program import TARGET, mlp

import mlc
from mlc.errors import RunError

needs_pycuda = pytest.mark.skipif(find_spec("pycuda") is None, reason="needs pycuda")
NOT_SUPPORTED = 801


def symbols(library: Path, kind: str) -> set[str]:
    """The functions of the driver that a library defines or needs."""
    listing = subprocess.run(["nm", "-D", f"--{kind}", library], capture_output=True, text=True, check=True).stdout
    return {word for line in listing.splitlines() if (word := line.split()[-1]).startswith("cu")}


@pytest.fixture(scope="session")
def driver(built: Gpu) -> Any:
    """pycuda.driver on the driver of the tests; what that lacks is not supported."""
    spec = find_spec("pycuda")
    assert spec is not None and spec.origin is not None
    (extension,) = Path(spec.origin).parent.glob("_driver*.so")
    missing = symbols(extension, "undefined-only") - symbols(built.folder / "libcuda.so.1", "defined-only")
    source = built.folder / "rest.c"
    source.write_text("".join(f"int {name}(void) {{ return {NOT_SUPPORTED}; }}\n" for name in sorted(missing)))
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", built.folder / "rest.so", source], check=True)
    for library in ("libcuda.so.1", "rest.so"):
        ctypes.CDLL(str(built.folder / library), mode=ctypes.RTLD_GLOBAL)
    import pycuda.driver

    pycuda.driver.init()
    return pycuda.driver


@pytest.fixture
def contexts(driver: Any, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Two contexts of the first device, and one of the second; none is current."""
    monkeypatch.setenv("FAKE_CUDA_DEVICES", "2")
    made = [driver.Device(n).make_context() for n in (0, 0, 1)]
    for context in reversed(made):
        context.pop()
    yield made
    for context in made:
        context.push()
        context.detach()


@needs_pycuda
def test_arrays_of_pycuda_go_in_and_out(contexts: list[Any]) -> None:
    from pycuda.gpuarray import GPUArray, to_gpu

    data = random(5, 8)
    with mlc.compile(mlp(), target=TARGET) as net:
        wanted = net(data)
        for context in contexts:
            context.push()
            x, y = to_gpu(data), GPUArray((5, 4), np.float32)
            assert net.run_device({"x": x}, {"y": y})["y"] is y
            np.testing.assert_array_equal(y.get(), wanted)
            made = net.run_device({"x": x})["y"]
            again = GPUArray(made.shape, made.dtype, gpudata=made.address, base=made)
            np.testing.assert_array_equal(again.get(), wanted)
            del x, y, made, again
            context.pop()


@needs_pycuda
def test_a_model_is_loaded_in_a_context_of_pycuda_and_runs_in_its_streams(contexts: list[Any], driver: Any) -> None:
    from pycuda.gpuarray import GPUArray, to_gpu_async

    data = random(5, 8)
    with mlc.compile(mlp(), target=TARGET) as net:
        wanted, path = net(data), net.path
    with mlc.load(path, context=contexts[2]) as net:
        contexts[2].push()
        stream = driver.Stream()
        x, y = to_gpu_async(data, stream=stream), GPUArray((5, 4), np.float32)
        net.run_device({"x": x}, {"y": y}, stream=stream)
        found = y.get_async(stream=stream)
        stream.synchronize()
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(net(data), wanted)
        with pytest.raises(RunError, match="must be contiguous"):
            net.run_device({"x": x}, {"y": GPUArray((5, 4), np.float32, order="F")}, stream=stream)
        del x, y, stream
        contexts[2].pop()


@needs_pycuda
def test_arrays_of_two_contexts_are_refused(contexts: list[Any]) -> None:
    from pycuda.gpuarray import GPUArray, to_gpu

    with mlc.compile(mlp(), target=TARGET) as net:
        contexts[0].push()
        x = to_gpu(random(5, 8))
        contexts[1].push()
        y = GPUArray((5, 4), np.float32)
        with pytest.raises(RunError, match="in a CUDA context, of device 0, and input 0 in another"):
            net.run_device({"x": x}, {"y": y})
        del y
        contexts[1].pop()
        del x
        contexts[0].pop()


@needs_pycuda
def test_the_example_on_the_driver_of_the_tests(driver: Any, gpu: Gpu, tmp_path: Path) -> None:
    from examples.pycuda import arrays

    path = arrays.compiled(tmp_path)
    context = arrays.context_of_pycuda()
    assert arrays.run(path, context) < 1e-5
    context.pop()
    context.detach()


def test_the_example_says_what_is_missing() -> None:
    """It compiles, and names pycuda, the driver or the GPU."""
    environment = {**os.environ, "MLC_NVCC": str(HERE / "fake_nvcc.py"), "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "examples.pycuda.arrays"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert done.returncode == 1, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "compiled for GPUs: network.h, network.so"
    assert "There is no pycuda" in second or "There is no GPU that pycuda can use" in second
