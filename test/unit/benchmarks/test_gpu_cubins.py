"""The facts of cubins: of models where a CUDA compiler is, and how rows of two runs are compared."""

from __future__ import annotations

import pytest

from benchmarks.gpu.cubins import OPCODE, cubins_of, differences
from benchmarks.models import build, small
from mlc.driver.toolchain.cuda_compiler import toolkit
from mlc.target import GpuTarget, get

SASS = """
        /*0010*/              @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;   /* 0x0000000402048981 */
                                                                       /* 0x000fe2000c1e1d00 */
        /*0020*/                   HMMA.1688.F32.TF32 R8, R4, R6, R8 ;
        /*1230*/             @P1   LDGSTS.E.BYPASS.128 [R5], desc[UR4][R2.64] ;
        /*1240*/             @UP0  UIADD3 UR4, UR4, 0x1, URZ ;
"""


def test_opcodes_are_read_from_sass() -> None:
    assert OPCODE.findall(SASS) == ["LDG", "HMMA", "LDGSTS", "UIADD3"]


def test_rows_that_differ_are_named() -> None:
    old = [{"model": "mlp", "size": "small", "architecture": "sm_80", "registers": 40, "compiler s": 1.0}]
    new = [{**old[0], "registers": 48, "compiler s": 2.0}, {**old[0], "size": "real"}]
    assert differences(old, new) == ["mlp small sm_80: registers 40 -> 48"]
    assert differences(old, old) == []


@pytest.mark.skipif(next(toolkit("nvcc"), None) is None, reason="needs nvcc")
@pytest.mark.parametrize("name", ["mobilenet_v2", "llama_decode"])
def test_kernels_of_small_models_spill_nothing(name: str) -> None:
    target = get("cuda")
    assert isinstance(target, GpuTarget)
    rows = list(cubins_of(build(name, **small.OPTIONS[name]), "cuda"))
    assert [row["architecture"] for row in rows] == list(target.architectures)
    for row in rows:
        assert row["kernels"] > 5 and (row["with stack"], row["stack"]) == (0, 0)
        assert row["registers"] <= target.thread_registers and row["shared"] <= target.shared_optin
