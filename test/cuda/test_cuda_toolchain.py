"""The CUDA compiler: cubins of real kernels where one is, how it is found, and errors where none is."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from fake_gpu import Gpu, random
from test_host_program import mlp, transformer

import mlc
from mlc.api import make_options
from mlc.cli import app_of
from mlc.driver.artifact.cubins import Image, embedded_cubins, embedded_images, newest, pack, unpack
from mlc.driver.artifact.source_folder import SourceFolder
from mlc.driver.compile import compile_source, lower_source
from mlc.driver.sources import source_of
from mlc.driver.toolchain import cuda_compiler, nvrtc
from mlc.driver.toolchain.c_sources import runtime_sources
from mlc.driver.toolchain.cuda_compiler import CudaCompiler, find_cuda
from mlc.errors import ArtifactError, ToolchainError
from mlc.tools.cubin import resources

NVCC = next(cuda_compiler.toolkit("nvcc"), None)
needs_nvcc = pytest.mark.skipif(NVCC is None, reason="needs nvcc")
needs_nvrtc = pytest.mark.skipif(nvrtc.version() is None, reason="needs NVRTC")


def test_the_array_of_cubins_is_read_as_it_was_written() -> None:
    names = ("sm_80", "compute_80", "sm_90a")
    images = [Image(n, name, os.urandom(100 + n)) for n in range(2) for name in names]
    table = pack(images, 2)
    assert list(unpack(table)) == images
    with pytest.raises(ValueError, match="no array of cubins"):
        list(unpack(b"\0" * 64))


@needs_nvcc
def test_nvcc_compiles_each_unit_for_each_architecture() -> None:
    found = compile_source(source_of(transformer()), make_options("cuda"))
    images = embedded_cubins(found.artifact.library)
    assert {image.architecture for image in images} == {"sm_80", "sm_90a"}
    used = resources(image.code for image in images)
    symbols = {kernel["symbol"] for kernel in mlc.runtime.sealed.read_signature(found.artifact.library)["kernels"]}
    assert used.keys() == symbols
    assert all(1 <= each.registers <= 255 for each in used.values())
    ptx = [image for image in embedded_images(found.artifact.library) if image.architecture == "compute_80"]
    assert sum(image.code.count(b".entry") for image in ptx) == len(symbols)
    assert all(b".target sm_80" in image.code and image.code.endswith(b"\0") for image in ptx)


@pytest.mark.parametrize("architectures, expected", [
    (("sm_80", "sm_90a"), "sm_80"), (("sm_80", "sm_100", "sm_90"), "sm_100"), (("sm_90a",), None),
])  # fmt: skip
def test_the_architecture_whose_ptx_is_kept(architectures: tuple[str, ...], expected: str | None) -> None:
    assert newest(architectures) == expected


@pytest.mark.parametrize("architecture, code", [
    (75, None), (80, "sm_80"), (86, "sm_80"), (90, "sm_90a"), (100, "compute_80"), (120, "compute_80"),
])  # fmt: skip
def test_a_device_takes_its_cubin_or_else_ptx(
    architecture: int, code: str | None, gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, source = random(3, 8), mlp()
    library = compile_source(source_of(source), make_options("cuda")).artifact.library
    monkeypatch.setenv("FAKE_CUDA_ARCHITECTURE", str(architecture))
    if code is None:
        with pytest.raises(ArtifactError, match="has code for sm_80, compute_80, sm_90a, which the device .*sm_75"):
            mlc.load(library)
        return
    before = gpu.counts()
    with mlc.load(library) as net, mlc.compile(source) as other:
        assert gpu.since(before).get("compiled", 0) == (code == "compute_80")
        np.testing.assert_allclose(net(x), other(x), rtol=1e-4, atol=1e-5)


@needs_nvcc
def test_registers_are_those_that_the_compiler_reports(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        'extern "C" __global__ void k(float *x) { float s = 0;\n#pragma unroll\n'
        "for (int i = 0; i < 24; i++) s += x[i * 7 + threadIdx.x] * x[i]; x[threadIdx.x] = s; }"
    )
    command = [str(NVCC), "-cubin", "-arch=sm_90a", "-Xptxas", "-v", "k.cu", "-o", "k.cubin"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    (found,) = resources([(tmp_path / "k.cubin").read_bytes()]).values()
    assert f"Used {found.registers} registers" in said and f"{found.stack} bytes stack frame" in said


@needs_nvrtc
def test_nvrtc_compiles_what_nvcc_does() -> None:
    sources = lower_source(source_of(mlp()), make_options("cuda")).sources
    headers = {name: text for name, text in runtime_sources().items() if name.startswith("mlc_cuda")}
    files = {"kernels_0.cu": sources["kernels_0.cu"], **headers}
    code = CudaCompiler((), "").cubin("kernels_0.cu", files, "sm_90a")
    assert len(resources([code])) == sources["kernels_0.cu"].count("__global__")
    with pytest.raises(ToolchainError, match="NVRTC failed: .*error"):
        CudaCompiler((), "").cubin("k.cu", {"k.cu": "nonsense;"}, "sm_90a")


def test_without_a_compiler_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLC_NVCC", raising=False)
    monkeypatch.setattr(cuda_compiler, "toolkit", lambda program: iter(()))
    monkeypatch.setattr(nvrtc, "version", lambda: None)
    with pytest.raises(ToolchainError, match=r"There is no CUDA compiler.*pip install 'mlc\[cuda\]'"):
        mlc.compile(mlp(), target="cuda")


def test_a_compiler_that_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLC_NVCC", "/nowhere/nvcc")
    with pytest.raises(ToolchainError, match="The CUDA compiler '/nowhere/nvcc' does not run"):
        find_cuda()


def test_a_compiler_that_makes_nothing(tmp_path: Path) -> None:
    script = tmp_path / "nvcc"
    script.write_text("#!/bin/sh\necho fake 1\n")
    script.chmod(0o755)
    with pytest.raises(ToolchainError, match="failed: exit status 0, and no cubin"):
        CudaCompiler((str(script),), "").cubin("k.cu", {"k.cu": "int x;"}, "sm_80")


def test_a_unit_that_does_not_compile_leaves_its_sources(gpu: Gpu, tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match="run.sh` repeats it"):
        find_cuda().cubin("k.cu", {"k.cu": "nonsense"}, "sm_80")


def test_the_folder_of_sources_needs_a_c_compiler_alone(gpu: Gpu, tmp_path: Path) -> None:
    options, out, source = make_options("cuda:sm_90"), tmp_path / "net.c", mlp()
    SourceFolder(lower_source(source_of(source), options), options).install(out)
    assert not list(out.glob("*.cu"))
    subprocess.run(["make", "-s", "-C", out], check=True, env={**os.environ, "MLC_NVCC": "/nowhere"})
    (library,) = out.glob("*.so")
    x = random(3, 8)
    with mlc.load(library) as net, mlc.compile(source, target="cuda:sm_90") as other:
        assert (net(x) == other(x)).all()


def test_commands_take_the_target(gpu: Gpu, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import onnx

    onnx.save(mlp(), tmp_path / "net.onnx")
    model, library = str(tmp_path / "net.onnx"), str(tmp_path / "net.so")
    app = app_of()
    app(["compile", model, "--target", "cuda:sm_90", "-o", library], standalone_mode=False)
    app(["inspect", library], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "registers" in shown and "blocks" in shown and "cuda:sm_90" in shown
    app(["inspect", library, "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["kernels"][0]["threads"] >= 32
    app(["run", model, "--target", "cuda:sm_90", "--random", "0"], standalone_mode=False)
    assert "y: float32[1, 4]" in capsys.readouterr().out
    app(["bench", library, "--iterations", "5", "--warmup", "0", "--profile"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "GFLOP/s" in shown and "measured" in shown
