"""Which slices and concatenations are runs of memory: those that NumPy, too, sees as contiguous."""

from __future__ import annotations

import itertools
from typing import cast

import numpy as np
import pytest
from graph_checks import GraphBuilder
from xdsl.dialects import test as unregistered

from mlc.dialects.graph import ConcatOp, MapOp, SliceOp
from mlc.dialects.semantics.dims import Dim
from mlc.dialects.types import tensor
from mlc.passes.fuse.grouping.views import part_offsets, slice_offset, views

CUTS = [(0, 1, 1), (0, 3, 1), (1, 2, 1), (2, 1, 1), (0, 2, 2)]  # start, size, step in a dimension of extent 3


def value(*dims: int | Dim):  # type: ignore[no-untyped-def]
    return unregistered.TestOp(result_types=[tensor("f32", dims)]).results[0]


@pytest.mark.parametrize("cuts", list(itertools.product(CUTS, repeat=3)))
def test_a_slice_is_a_view_where_its_elements_follow_each_other(cuts: tuple[tuple[int, int, int], ...]) -> None:
    starts, sizes, steps = zip(*cuts, strict=True)
    numbers = np.arange(27).reshape(3, 3, 3)
    taken = numbers[tuple(slice(a, a + (n - 1) * s + 1, s) for a, n, s in cuts)].ravel()
    offset = slice_offset(SliceOp(value(3, 3, 3), starts, sizes, steps))
    run = bool((np.diff(taken) == 1).all())
    assert offset == (taken[0] if run else None)


@pytest.mark.parametrize(
    ("lead", "axis", "view"), [((), 0, True), ((1,), 1, True), ((2,), 1, False), ((1, 1), 2, True)]
)
def test_parts_follow_each_other(lead: tuple[int, ...], axis: int, view: bool) -> None:
    op = ConcatOp([value(*lead, n, 4) for n in (3, 1, 2)], axis)
    assert part_offsets(op) == ([0, 12, 16] if view else None)


def test_symbolic_offsets() -> None:
    batch = cast(Dim, Dim.symbol("batch"))
    assert slice_offset(SliceOp(value(9, batch, 4), [5, 0, 0], [1, batch, 4], [1, 1, 1])) == 20 * batch
    assert part_offsets(ConcatOp([value(batch, 4), value(3, 4)], 0)) == [0, 4 * batch]


def test_a_value_is_part_of_one_result_and_once() -> None:
    b = GraphBuilder()
    x, y, z = (b.add(MapOp("x0 * 2.0", [b.input(2, 3)])) for _ in range(3))
    first = b.add(ConcatOp([x, y], 0))
    b.module(first, *(b.add(ConcatOp(parts, 0)) for parts in ([y, z], [z, z])))
    assert views(list(b.block.ops)) == {first.owner}
