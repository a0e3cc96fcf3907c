"""partition-parallel-loops: how an axis divides an array, and what a candidate takes from the chosen schedule."""

from __future__ import annotations

import pytest
from graph_checks import GraphBuilder, ops
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mlc.dialects.graph import ConvOp, ReshapeOp, TransposeOp, layout
from mlc.dialects.kernel import FuncOp
from mlc.dialects.poly import ScheduleAttr, TiledLoop, schedule_of, schedule_text
from mlc.dialects.semantics.dims import DimLike, parse_dim
from mlc.passes.context import MlcContext
from mlc.passes.cost.load_imbalance import load_imbalance
from mlc.passes.cost.partitioned_kernel import Period, period
from mlc.passes.fuse.form_kernels import FormKernels
from mlc.passes.kernel.count_work import CountWork
from mlc.passes.kernel.lower_kernels import LowerKernels
from mlc.passes.layout.blocking.blocked_layout import blocked, blocked_conv
from mlc.passes.schedule.apply_schedules import ApplySchedules
from mlc.passes.schedule.choose_schedule import ChooseSchedule
from mlc.passes.schedule.partition_parallel_loops import PartitionParallelLoops, split_like
from mlc.passes.schedule.polyhedral.statement_view import Access

IMAGE, PLANE = (1, 4, 56, 56, 16), 56 * 56 * 16


def access(index: str, *shape: int | str) -> Access:
    return Access("b0", tuple(map(parse_dim, index.split())), tuple(parse_dim(str(d)) for d in shape))


@pytest.mark.parametrize(
    ("read", "iterator", "extent", "expected"),
    [
        (access("0 f y x fi", *IMAGE), "f", 4, 4 * PLANE),
        (access("0 f y x fi", *IMAGE), "y", 56, PLANE),
        (access("0 f y x fi", *IMAGE), "x", 56, 56 * 16),
        (access("0 f y x fi", *IMAGE), "c", 9, None),  # all of it is read at each point
        (access("0 f y fi", 1, 4, 56 * 56, 16), "y", 56 * 56, PLANE),  # as the rows of a plane
        (access("0 c y+k x fi", *IMAGE), "y", 54, PLANE),  # a window
        (access("0 c 2*y+k x fi", *IMAGE), "y", 27, PLANE),  # a stride
        (access("0 c y//2 x fi", *IMAGE), "y", 112, PLANE),  # no constant one
        (access("8*y+t", 64), "y", 8, 64),
        (access("8*y+t", 64), "t", 8, 8),  # divided anew in each of the eights
        (access("f y", 4, "n"), "y", 16, None),
        (access("f y", "n", 7), "y", 7, 7),
    ],
)
def test_after_how_many_elements_the_shares_repeat(read: Access, iterator: str, extent: int, expected: Period) -> None:
    assert period(read, iterator, extent) == expected


@pytest.mark.parametrize(
    ("candidate", "chosen", "expected"),
    [
        ("x: S0 | f y/7 | c", "x: S0 | y@4 f y/14 | c", "x: S0 | y@4 f y/7 | c"),
        ("x: S0 | f y/7 | c", "x: S0 | f y/14 | c", "x: S0 | f y/7 | c"),
        ("x: S0 | y@2 f y/7 | c", "x: S0 | y@4 f y/14 | c", "x: S0 | y@2 f y/7 | c"),
        ("x: S0 | i | ; x: S1 | j | ", "x: S1 | j@4 j | ; x: S0 | i | ", "x: S0 | i | ; x: S1 | j@4 j | "),
        ("x: S0 S1 | i | ", "x: S0 | i@4 i | ; x: S1 | i@4 i | ", "x: S0 S1 | i | "),
        ("x: S0 | i@2 i | & x: S1 | j@2 j | ", "x: S0 S1 | i@4 i | ", "x: S0 | i@2 i |  & x: S1 | j@2 j | "),
    ],
)
def test_a_candidate_is_shared_out_as_the_chosen_schedule_is(candidate: str, chosen: str, expected: str) -> None:
    parsed = ScheduleAttr.parsed
    assert split_like(parsed(candidate), parsed(chosen)).text == expected


@pytest.mark.parametrize(
    ("item", "extent", "blocks", "expected"),
    [
        (TiledLoop("y", ((2, None),)), 8, 4, 0),
        (TiledLoop("y", ((2, 3), (1, 1))), 7, 4, 1 / 7),  # 4 rows and 3
        (TiledLoop("y"), 9, 9, 1 / 9),
        (TiledLoop("y", ((14, None),)), 196, 4, 0),
        (TiledLoop("y", ((14, None),)), 42, 3, 1 / 3),
        (TiledLoop("y"), 5, 1, 1),  # one block: the other has nothing
        (TiledLoop("y"), parse_dim("n"), 4, 0),
    ],
)
def test_the_thread_with_less_waits(item: TiledLoop, extent: DimLike, blocks: int, expected: float) -> None:
    assert load_imbalance(item, extent, blocks) == pytest.approx(expected)


def _run(module: ModuleOp, *passes: ModulePass) -> None:
    for each in passes:
        each.apply(MlcContext(), module)


def split(mine: str) -> list[str]:
    """The schedules of a convolution, given as ``mine``, and of a depthwise one after it."""
    b = GraphBuilder()
    first = b.add(
        ConvOp(b.input(1, 2, 56 * 56, 16), b.weight(4, 2, 1, 16, 16), [1], [1], layouts=blocked_conv(1, 16, 16))
    )
    image = b.add(ReshapeOp(first, (1, 4, 56, 56, 16)))
    layouts = [blocked(4, 16), layout(4, [(0, 16)]), blocked(4, 16)]
    module = b.module(b.add(ConvOp(image, b.weight(4, 1, 3, 3, 16), [1, 1], [1, 1], 64, layouts=layouts)))
    _run(module, FormKernels(), LowerKernels())
    name = ops(module, FuncOp)[0].sym_name.data
    given = ApplySchedules(f"{name}: {mine}" if mine else "")
    _run(module, given, ChooseSchedule(), PartitionParallelLoops())
    return [schedule_text(schedule_of(fn)) for fn in ops(module, FuncOp)]


def test_a_schedule_of_the_user_s_stays() -> None:
    mine = "contraction: S0 | f/2*2 fi/16v y0/14*224 | c ci"
    assert all("y0@16" in schedule for schedule in split(""))
    assert split(mine)[0] == mine


def test_rows_where_all_weights_cost_less_than_what_changes_hands() -> None:
    """The transposition before a 1x1 convolution of 1024 channels, and the convolution, divide the rows."""
    b = GraphBuilder()
    image = b.add(ReshapeOp(b.input(1, 1024, 14, 14), (1, 64, 16, 14, 14)))
    blocks = b.add(TransposeOp(image, (0, 1, 3, 4, 2)))
    flat = b.add(ReshapeOp(blocks, (1, 64, 196, 16)))
    module = b.module(b.add(ConvOp(flat, b.weight(16, 64, 1, 16, 16), [1], [1], layouts=blocked_conv(1, 16, 16))))
    _run(module, FormKernels(), LowerKernels(), CountWork(), ChooseSchedule(), PartitionParallelLoops())
    assert ["@" in schedule_text(schedule_of(fn)) for fn in ops(module, FuncOp)] == [True, True]
