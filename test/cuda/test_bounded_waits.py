"""The build whose waits at barriers end (``-DMLC_BOUNDED_WAITS``), which a hang on a GPU is examined by: its cubin."""

from __future__ import annotations

import shlex
import shutil
from typing import Any

import pytest

from benchmarks.gpu import examine
from mlc.driver.toolchain.c_sources import runtime_sources
from mlc.driver.toolchain.cuda_compiler import find_cuda
from mlc.tools.cubin import resources

SOURCE = """#include "mlc_cuda_tma.h"
extern "C" __global__ void k(int64_t *out) {
  __shared__ int64_t full[2];
  mlc_mbarrier_init(full, 2, 1);
  mlc_mbarrier_wait(full + 1, 0);
  out[0] = full[0];
}
"""
needs_nvcc = pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")


@needs_nvcc
def test_the_assertion_names_the_barrier(monkeypatch: pytest.MonkeyPatch) -> None:
    nvcc, headers = shutil.which("nvcc"), {n: t for n, t in runtime_sources().items() if n.startswith("mlc_cuda")}
    images = []
    for command in (nvcc, f"{nvcc} {examine.BOUNDED}"):
        monkeypatch.setenv("MLC_NVCC", command)
        images.append(find_cuda().cubin("k.cu", {"k.cu": SOURCE, **headers}, "sm_90a"))
        assert resources(images[-1:]).keys() == {"k"}
    plain, bounded = (b"barrier full + 1\0" in image for image in images)
    assert bounded and not plain


def test_what_a_failed_row_is_examined_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hang by a build whose waits end, with a cache of its own; a wrong result by a sanitizer and single launches."""
    asked: list[tuple[list[str], Any]] = []
    says = {"sanitizer": "========= Invalid __global__ read\nx", "first_wrong": '{"first wrong": "launch of a"}',
            "--smoke": "k.cu:3: k: block: [0], thread: [0] Assertion `barrier v6` failed."}  # fmt: skip

    def said(command: list[str], more: Any = None) -> str:
        asked.append((command, more))
        return next(text for word, text in says.items() if word in " ".join(command))

    monkeypatch.setattr(examine, "_said", said)
    monkeypatch.setattr(examine.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(examine, "find_cuda", lambda: type("", (), {"command": ("nvcc", "-v")}))
    found = examine.examined("TMA", "cuda:sm_90", hung=True)
    assert "Assertion `barrier v6` failed" in found["barrier"] and found.keys() == {"barrier"}
    assert shlex.split(asked[0][1]["MLC_NVCC"]) == ["nvcc", "-v", "-DMLC_BOUNDED_WAITS"]
    assert asked[0][1]["MLC_CACHE_DIR"]
    found = examine.examined("TMA", "cuda:sm_90", hung=False)
    assert found == {"memcheck": "========= Invalid __global__ read", "first wrong": "launch of a"}


def test_an_examination_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "SECONDS", 0.5)
    assert examine._said(["sh", "-c", "echo begun; sleep 60"]) == "begun\n\nit took longer than 0.5 s"
