"""Schedules as text: what is written is read back, and what cannot be read is named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlc.dialects.poly import LoopNest, Partition, ScheduleError, TiledLoop, groups_of, parse_schedule, schedule_text

NAMES = st.sampled_from(["i", "y0", "fi", "batch"])
SIZES = st.lists(st.tuples(st.integers(1, 99), st.none() | st.integers(1, 99)), min_size=1, max_size=3).map(tuple)
BLOCKS = st.builds(Partition, NAMES, st.integers(1, 99), st.booleans())
SPLITS = st.lists(BLOCKS, max_size=2, unique_by=lambda split: split.iterator).map(tuple)
PADDED = st.builds(TiledLoop, NAMES, st.just(((7, None),)), st.booleans(), padded=st.just(True))
BAND = st.lists(st.builds(TiledLoop, NAMES, SIZES, vectorized=st.booleans()) | PADDED, max_size=4).map(tuple)
VECTORS = st.builds(TiledLoop, NAMES, st.just(((7, None),)), st.just(True))
SUMS = st.builds(TiledLoop, NAMES, st.just(((7, None),)), st.just(False), st.just(True))
INNER = st.lists(st.builds(TiledLoop, NAMES) | VECTORS | SUMS, max_size=3).map(tuple)


@st.composite
def schedules(draw: st.DrawFn) -> tuple[LoopNest, ...]:
    words, statements = st.sampled_from(["contraction", "serial"]), st.sampled_from([("S0",), ("S1", "S12")])
    nest = st.builds(LoopNest, words, statements, BAND, INNER, SPLITS)
    later = st.builds(LoopNest, words, statements, BAND, INNER, SPLITS, st.booleans())
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
    ],
)
def test_what_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(ScheduleError) as caught:
        parse_schedule(text)
    assert words in str(caught.value)
