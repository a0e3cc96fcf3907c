"""Minimum vertex cuts are as cheap as the cheapest of all, and separate the sinks from the sources."""

from __future__ import annotations

import itertools
from collections.abc import Collection

from hypothesis import given
from hypothesis import strategies as st

from mlc.passes.fuse.autodiff.saving.min_cut import min_cut

NODES = range(8)
NUMBERS = st.sets(st.sampled_from(NODES))


def reached(edges: Collection[tuple[int, int]], sources: Collection[int], without: Collection[int]) -> set[int]:
    """What paths from the sources reach that avoid some nodes."""
    found = set(sources) - set(without)
    while more := {b for a, b in edges if a in found} - found - set(without):
        found |= more
    return found


@given(
    st.lists(st.integers(0, 20), min_size=len(NODES), max_size=len(NODES)),
    st.sets(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=20),
    NUMBERS,
    NUMBERS,
)
def test_no_set_of_nodes_is_cheaper(
    costs: list[int], edges: set[tuple[int, int]], sources: set[int], sinks: set[int]
) -> None:
    cut = min_cut(dict(enumerate(costs)), edges, sources, sinks)
    assert not reached(edges, sources, cut) & sinks
    every = (set(nodes) for count in range(len(NODES) + 1) for nodes in itertools.combinations(NODES, count))
    valid = (nodes for nodes in every if not reached(edges, sources, nodes) & sinks)
    assert sum(costs[n] for n in cut) == min(sum(costs[n] for n in nodes) for nodes in valid)


def test_of_equal_cuts_the_nearest_to_the_sinks() -> None:
    """What is recomputed is as little as possible."""
    assert min_cut({"x": 4, "y": 4, "z": 4}, [("x", "y"), ("y", "z")], ["x"], ["z"]) == {"z"}
    assert min_cut({"x": 3, "y": 4, "z": 4}, [("x", "y"), ("y", "z")], ["x"], ["z"]) == {"x"}


def test_nothing_to_cut() -> None:
    assert min_cut({"x": 1, "y": 2}, [], ["x"], ["y"]) == set()
    assert min_cut({}, [], [], []) == set()


def test_a_free_node_is_cut() -> None:
    assert min_cut({"x": 0, "y": 2}, [("x", "y")], ["x"], ["y"]) == {"x"}
