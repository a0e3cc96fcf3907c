"""Schedules as text: what is written is read back, and what cannot be read is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlc.dialects.poly import (
    LoopNest,
    Partition,
    ScheduleError,
    ThreadBlock,
    TiledLoop,
    groups_of,
    parse_schedule,
    schedule_text,
    thread_block_of,
)

NAMES = st.sampled_from(["i", "y0", "fi", "batch"])
SIZES = st.lists(st.tuples(st.integers(1, 99), st.none() | st.integers(1, 99)), min_size=1, max_size=3).map(tuple)
BLOCKS = st.builds(Partition, NAMES, st.integers(1, 99), st.booleans())
BLOCKS |= st.builds(Partition, NAMES, st.just(0), st.booleans(), points=st.integers(1, 99))
SPLITS = st.lists(BLOCKS, max_size=2, unique_by=lambda split: split.iterator).map(tuple)
PADDED = st.builds(TiledLoop, NAMES, st.just(((7, None),)), st.booleans(), padded=st.just(True))
BAND = st.lists(st.builds(TiledLoop, NAMES, SIZES, vectorized=st.booleans()) | PADDED, max_size=4).map(tuple)
VECTORS = st.builds(TiledLoop, NAMES, st.just(((7, None),)), st.just(True))
SUMS = st.builds(TiledLoop, NAMES, st.just(((7, None),)), st.just(False), st.just(True))
INNER = st.lists(st.builds(TiledLoop, NAMES) | VECTORS | SUMS, max_size=3).map(tuple)
WARPS = st.none() | st.sampled_from([(8,), (2, 4), (1, 1)])
THREAD_BLOCKS = st.builds(ThreadBlock, WARPS, mma=st.none() | st.just("m16n8k16"))
STAGED = st.builds(TiledLoop, NAMES, st.just(((7, None),)))


@st.composite
def schedules(draw: st.DrawFn) -> tuple[LoopNest, ...]:
    words, statements = st.sampled_from(["contraction", "serial"]), st.sampled_from([("S0",), ("S1", "S12")])
    nest = st.builds(LoopNest, words, statements, BAND, INNER, SPLITS)
    later = st.builds(LoopNest, words, statements, BAND, INNER, SPLITS, st.booleans())
    inner = st.lists(STAGED, max_size=2).map(tuple)
    later |= st.builds(LoopNest, words, statements, BAND, inner, SPLITS, st.booleans(), THREAD_BLOCKS)
    return (draw(nest), *draw(st.lists(later, max_size=3)))


@given(schedules())
def test_what_is_written_is_read_back(nests: tuple[LoopNest, ...]) -> None:
    assert parse_schedule(schedule_text(nests)) == nests


def test_a_split_and_what_follows_in_its_blocks() -> None:
    text = "stages: S0 | y@4 c y | w & contraction: S1 | z@4 f/8v z | c; serial: S2 | i | "
    nests = parse_schedule(text)
    assert [n.partitions for n in nests] == [(Partition("y", 4),), (Partition("z", 4),), ()]
    assert [n.joined for n in nests] == [False, True, False]
    assert [[n.statements for n in g] for g in groups_of(nests)] == [[("S0",), ("S1",)], [("S2",)]]
    assert schedule_text(nests) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x: S0 | y@0 y | k", "schedule item 'y@0': blocks, as in y@4, must be first in the band"),
        ("x: S0 | y@ y | k", "schedule item 'y@'"),
        ("x: S0 | y@-4 y | k", "schedule item 'y@-4'"),
        ("x: S0 | y@4tt y | k", "schedule item 'y@4tt'"),
        ("x: S0 | y@2*2 y | k", "schedule item 'y@2*2'"),
        ("x: S0 | y y@4 | k", "schedule item 'y@4'"),
        ("x: S0 | y@4 y@4 y | k", "schedule item 'y@4': an iterator has blocks once"),
        ("x: S0 | y | k@4 k", "schedule item 'k@4'"),
        ("x: S0 | y/8*2p | k", "schedule item 'y/8*2p': padded tiles (p) have one size, without a count"),
        ("x: S0 | y/8+4p | k", "schedule item 'y/8+4p': padded tiles (p) have one size"),
        ("x: S0 | y/8pv | k", "schedule item 'y/8pv' is not"),
        ("x: S0 | y | k/8p", "inner item 'k/8p': padded tiles (p) must be in the band"),
        ("& x: S0 | y | k", "schedule '' is not 'rule: statements | band | inner'"),
        ("x: S0 | y@4 y | k &", "schedule '' is not"),
        ("x: S0 | y@4 y | k & & x: S1 | y@4 y |", "schedule '' is not"),
        ("x: S0 | y@4 y | k; & x: S1 | y@4 y |", "schedule '' is not"),
        ("x: S0 | y@4 y | k & S1", "schedule 'S1' is not"),
        ("x: S0 | y | k | warps=8 | 3", "schedule 'x: S0 | y | k | warps=8 | 3' is not"),
        ("x: S0 | y | k | wraps=8", "block item 'wraps=8' is not one of warps=2x4 or 8, mma=m16n8k16, copy=tma"),
        ("x: S0 | y | k | persist=1", "block item 'persist=1': write persist"),
        ("x: S0 | y | k | persist=", "block item 'persist=': write persist"),
        ("x: S0 | y | k | copy=dma", "block item 'copy=dma': write copy=tma"),
        ("x: S0 | y | k | depth=0", "block item 'depth=0': write depth=4"),
        ("x: S0 | y | k | warps=2x", "block item 'warps=2x': write warps=2x4 or 8"),
        ("x: S0 | y | k | mma=16x8x16", "block item 'mma=16x8x16': write mma=m16n8k16"),
        ("x: S0 | y | k | warps=8 warps=4", "block item 'warps=4': warps is given twice"),
        ("x: S0 | y | k | warps=3x2", "block item 'warps=3x2': numbers of warps are powers of two"),
        ("x: S0 | y | k/32", "inner item 'k/32' is not"),
    ],
)
def test_what_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        parse_schedule(text)
    assert words in str(caught.value)


def test_the_nests_of_a_kernel_share_its_thread_blocks() -> None:
    nests = parse_schedule("x: S0 | y | k/32 | warps=2x4 mma=m16n8k16 depth=3; y: S1 | y | ")
    assert thread_block_of(nests) == ThreadBlock((2, 4), "m16n8k16", depth=3) and nests[0].inner[0].staged == 32
    with pytest.raises(ScheduleError, match="share its thread blocks: 'warps=8' is not 'warps=4'"):
        thread_block_of(parse_schedule("x: S0 | y | k | warps=8; y: S1 | y | | warps=4"))
