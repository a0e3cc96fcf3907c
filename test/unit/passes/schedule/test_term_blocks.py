"""Blocks of terms: long sums of products that outgrow the caches run block after block of their terms."""

from __future__ import annotations

from dataclasses import replace

import pytest
from graph_checks import GraphBuilder, ops

from mlc import target as targets
from mlc.dialects.graph import ConvOp, MapOp
from mlc.dialects.kernel import FuncOp
from mlc.dialects.poly import schedule_of, schedule_text
from mlc.passes.context import MlcContext
from mlc.passes.cost.cache_blocks import Product
from mlc.passes.fuse.form_kernels import FormKernels
from mlc.passes.kernel.lower_kernels import LowerKernels
from mlc.passes.layout.blocking.blocked_layout import blocked_conv
from mlc.passes.schedule.choose_schedule import ChooseSchedule
from mlc.target import CpuTarget

AVX2 = "x86-64-v3"
PRODUCT = Product(1, 14, 14, panels=32, width=8, terms=1024, block=128, reads=1024.0, tile=(6, 2))


def cpu(name: str) -> CpuTarget:
    found = targets.get(name)
    assert isinstance(found, CpuTarget)
    return found


def schedule(channels: int, filters: int, points: int, target: str = AVX2, numerics: str = "default") -> str:
    """The schedule of a 1x1 convolution with a Relu."""
    b, lanes = GraphBuilder(), cpu(target).lanes
    image = b.input(1, channels // lanes, points, lanes)
    weight = b.weight(filters // lanes, channels // lanes, 1, lanes, lanes)
    y = b.add(ConvOp(image, weight, [1], [1], layouts=blocked_conv(1, lanes, lanes)))
    module = b.module(b.add(MapOp("max(x0, 0)", [y])))
    for step in (FormKernels(), LowerKernels(), ChooseSchedule(numerics)):
        step.apply(MlcContext(target=cpu(target)), module)
    return schedule_text(schedule_of(ops(module, FuncOp)[0]))


def test_a_panel_of_1024_channels_outgrows_l1() -> None:
    sums, _, after = schedule(1024, 256, 196).partition(" & ")
    assert "c@8s" in sums and sums.endswith("| c ci"), sums
    assert after.startswith("elementwise: S1 | y0@2t f@2t"), after


@pytest.mark.parametrize(
    ("channels", "points"),
    [
        (256, 196),  # a panel stays in L1, the image in L2
        (1024, 12),  # two tiles of rows: little is read again
    ],
)
def test_what_stays_in_the_caches_has_no_blocks(channels: int, points: int) -> None:
    assert "@" not in schedule(channels, 256, points)


def test_large_register_tiles_read_panels_seldom() -> None:
    assert "@" not in schedule(1024, 256, 196, "x86-64-v4")


def test_strict_sums_keep_their_blocks() -> None:
    assert "c@32s" in schedule(1024, 256, 196, numerics="strict")


def test_a_block_of_sums_and_operands_stays_in_l2() -> None:
    target = cpu(AVX2)
    blocks = PRODUCT.blocks(target)
    assert blocks and min(blocks)[1:] == (7, 16)
    for _, rows, panels in blocks:
        points, columns = rows * 14, panels * 8
        assert 4 * (points * columns + 128 * (points + columns)) <= target.l2.size * 3 / 4


def test_every_thread_has_a_block() -> None:
    many = replace(cpu(AVX2), threads=32)
    assert all((14 // rows) * (32 // panels) >= 32 for _, rows, panels in PRODUCT.blocks(many))
