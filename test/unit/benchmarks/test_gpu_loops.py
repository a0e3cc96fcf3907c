"""Main loops are found in machine code, and their instructions counted by kind."""

from __future__ import annotations

import pytest

from benchmarks.gpu.loops import product
from benchmarks.gpu.sass import instructions, loops, mix
from mlc.driver.toolchain.cuda_compiler import toolkit

SASS = """
        /*0000*/                   MOV R1, c[0x0][0x28] ;                 /* 0x00000a0000017a02 */
                                                                          /* 0x000fe20000000f00 */
        /*0010*/                   IADD3 R4, R4, 0x1, RZ ;
        /*0020*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3 ;
        /*0030*/              @!P0 BRA 0xc0 ;
        /*0040*/                   LDSM.16.M88.4 R8, [R5] ;
        /*0050*/                   HMMA.16816.F32 R12, R8, R16, R12 ;
        /*0060*/                   HMMA.16816.F32 R20, R8, R18, R20 ;
        /*0070*/               @P1 LDGSTS.E.BYPASS.128 [R6], [R30.64] ;
        /*0080*/                   UISETP.NE.AND UP0, UPT, UR4, 0x4, UPT ;
        /*0090*/               @P2 BRA 0x10 ;
        /*00a0*/               @P3 BRA 0x0 ;
        /*00b0*/                   EXIT ;
        /*00c0*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3 ;
        /*00d0*/              @!P0 BRA 0xc0 ;
        /*00e0*/                   BRA 0x40 ;
"""


def test_a_loop_is_the_innermost_and_a_wait_after_it_is_none() -> None:
    (body,) = loops(instructions(SASS))
    assert [body[0].at, body[-1].at] == [0x10, 0x90]
    assert mix(body) == {
        "products": 2, "copies": 1, "shared": 1, "waits": 1, "branches": 2, "arithmetic": 2, "beside products": 7
    }  # fmt: skip


needed = pytest.mark.skipif(
    next(toolkit("nvcc"), None) is None or next(toolkit("cuobjdump"), None) is None, reason="needs nvcc and cuobjdump"
)


@needed
def test_a_product_has_a_loop_that_multiplies() -> None:
    schedule, found = product((4096, 4096, 4096), "cuda:sm_80", tiles="m/128p n/128vp | k/32 | warps=2x4")
    assert "m/128p n/128vp" in schedule
    assert [(row["products"], row["copies"], row["stack"]) for row in found] == [(32, 4, 0)]
