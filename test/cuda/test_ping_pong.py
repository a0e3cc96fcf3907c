"""Ping-pong: two warpgroups of a block have a tile each and alternate; emulated, against float64."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator, needed
from test_cuda_operators import model_of
from test_tensor_cores import PLAIN, made, reals
from test_tma import assert_products, even

from mlc import target

pytestmark = needed

FEW = {"target": replace(target.get("cuda:sm_90"), multiprocessors=3)}  # type: ignore[type-var]
PINGPONG = [
    "{m}/64p {n}/64vp | {k}/64 | warps=4 copy=tma depth=2 persist pingpong",
    "{m}/64p {n}/128vp | {k}/32 | warps=4 copy=tma depth=3 raster=2 persist pingpong",
    "{m}/64p {n}/128vp | {k}/64 | warps=4 copy=tma cluster=2x1 persist pingpong",
]


@pytest.mark.parametrize("band", PINGPONG)
def test_two_warpgroups_alternate(band: str, units: Path) -> None:
    """Of 12 or 8 tiles a block has 3 or 4: its first warpgroup may have one more than the other."""
    program, printed = made(model_of(even(PLAIN)), units, band, **FEW)
    (fn,) = program.functions.values()
    assert fn.launch.launched == 384 and "mlc_bulk_store(" in printed
    assert_products(program)


ORDERS = [
    (r"mlc_mbarrier_wait\((?=ORDER)[^;]*;", "", "different steps|what is being read|in flight|without a wait|too many"),
    (r"mlc_mbarrier_arrive\((?=ORDER)[^;]*;", "", "different steps"),
    (r"mlc_mbarrier_wait\((ORDER \+ \w+), (\w+)\);", r"mlc_mbarrier_wait(\1, 1 - \2);",
     "different steps|what is being read|in flight|an arrival too many"),
    (r"(mlc_mbarrier_init\(ORDER, 2, )4", r"\g<1>8", "different steps"),
    (r"(mlc_mbarrier_arrive\(ORDER \+ \w+), \w+\);", r"\1);", "different steps|too many|in flight|being read"),
    (r"mlc_warpgroup_barrier\(group\)", "mlc_warpgroup_barrier(0)", "different steps|a read of a write|no fence"),
    (r"\(group \* 2 \+ ", "(0 * 2 + ", "two writes"),
]  # fmt: skip


@pytest.mark.parametrize("pattern, fault, message", ORDERS)
def test_faults_of_their_order_are_found(pattern: str, fault: str, message: str, units: Path) -> None:
    program, printed = made(model_of(even(PLAIN)), units, PINGPONG[1], **FEW)
    order = re.findall(r"mlc_mbarrier_init\((\w+)", printed)[2]
    wrong, count = re.subn(pattern.replace("ORDER", order), fault, printed)
    assert count
    program.emulator = Emulator([wrong], units)
    with pytest.raises(AssertionError, match=message):
        program.run({"a": reals(200, 136, dtype=np.float16), "b": reals(136, 152, dtype=np.float16)})
