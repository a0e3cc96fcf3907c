"""interleave-gates: the same values of slices of a product, and where it does not apply."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from graph_checks import GraphBuilder, check, ops
from xdsl.ir import SSAValue

from mlc.dialects.graph import ComputeOp, ContractOp, MapOp, SliceOp
from mlc.passes.graph.fold_constants import FoldConstants
from mlc.passes.graph.interleave_gates import InterleaveGates

TERMS, WIDTH, BLOCK = 5, 12, 8  # two columns of each of four gates in a panel
Slices = list[SSAValue]


def product(b: GraphBuilder, rows: int = 1, gates: int = 4) -> SSAValue:
    columns = gates * WIDTH
    packed = b.weight(columns // BLOCK, TERMS, BLOCK)
    return b.add(ContractOp("mk,kn->mn", b.input(rows, TERMS), packed, (columns, BLOCK)))


def slices(b: GraphBuilder, z: SSAValue, rows: int = 1, width: int = WIDTH, gates: int = 4) -> Slices:
    return [b.add(SliceOp(z, [0, n * width], [rows, width], [1, 1])) for n in range(gates)]


def maps(b: GraphBuilder, i: SSAValue, o: SSAValue, f: SSAValue, g: SSAValue) -> Slices:
    """The cell and the output of an LSTM."""
    cell = b.add(MapOp("sigmoid(x1)*x0 + sigmoid(x2)*tanh(x3)", [b.input(1, WIDTH), f, i, g]))
    return [cell, b.add(MapOp("sigmoid(x0)*tanh(x1)", [o, cell]))]


def total(b: GraphBuilder, q: SSAValue, *others: SSAValue) -> SSAValue:
    return b.add(MapOp(" + ".join(f"x{n}" for n in range(1 + len(others))), [*others, q]))


def test_a_step_of_an_lstm() -> None:
    b = GraphBuilder()
    z = total(b, product(b), b.input(1, 4 * WIDTH))
    module = check(b, maps(b, *slices(b, z)), InterleaveGates(), FoldConstants(), tolerance=1e-6)
    assert len(ops(module, ComputeOp)) == 2 and not ops(module, MapOp) and not ops(module, SliceOp)
    assert [o.equation.data for o in ops(module, ContractOp)] == ["mk,pkgl->pgml"]


def test_one_step_behind_another() -> None:
    b = GraphBuilder()
    state = b.input(1, WIDTH)
    for _ in range(2):
        q = b.add(ContractOp("mk,kn->mn", state, b.weight(4 * WIDTH // BLOCK, WIDTH, BLOCK), (4 * WIDTH, BLOCK)))
        cell, state = maps(b, *slices(b, total(b, q, b.input(1, 4 * WIDTH))))
    assert len(ops(check(b, [cell, state], InterleaveGates(), tolerance=1e-6), ComputeOp)) == 4


@pytest.mark.parametrize("shape", [(4 * WIDTH,), (1, 1), ()])
def test_what_broadcasts(shape: tuple[int, ...]) -> None:
    b = GraphBuilder()
    i, o, f, g = slices(b, total(b, product(b), b.weight(*shape) if shape else b.constant(0.5), b.input(1, 4 * WIDTH)))
    y = b.add(MapOp("(x0 - x1)*x2 + x3*x4", [i, o, f, g, b.weight(WIDTH)]))
    assert len(ops(check(b, [y], InterleaveGates(), tolerance=1e-6), ComputeOp)) == 1


def test_slices_in_another_order_and_one_that_is_not_read() -> None:
    b = GraphBuilder()
    parts = slices(b, total(b, product(b), b.input(1, 4 * WIDTH)))
    y = b.add(MapOp("x0 - 2*x1 + x0*x2", [parts[3], parts[0], parts[1]]))
    assert len(ops(check(b, [y], InterleaveGates(), tolerance=1e-6), ComputeOp)) == 1


def two_rows(b: GraphBuilder) -> Slices:
    return [b.add(MapOp("tanh(x0)", [s])) for s in slices(b, total(b, product(b, 2), b.input(2, 4 * WIDTH)), 2)]


def three_gates(b: GraphBuilder) -> Slices:
    z = total(b, product(b, gates=3 * 4 // 4 + 1), b.input(1, 4 * WIDTH))
    return [b.add(MapOp("tanh(x0)", [s])) for s in slices(b, z, width=16, gates=3)]


def read_elsewhere(b: GraphBuilder) -> Slices:
    z = total(b, product(b), b.input(1, 4 * WIDTH))
    return [*maps(b, *slices(b, z)), z]


def a_slice_is_a_result(b: GraphBuilder) -> Slices:
    parts = slices(b, total(b, product(b), b.input(1, 4 * WIDTH)))
    return [*maps(b, *parts), parts[0]]


def needs_what_comes_later(b: GraphBuilder) -> Slices:
    """One gate is made with what another product computes of the first gates, as in a GRU."""
    i, o, *_ = slices(b, total(b, product(b), b.input(1, 4 * WIDTH)))
    more = b.add(ContractOp("mk,kn->mn", b.add(MapOp("sigmoid(x0)", [i])), b.weight(WIDTH, WIDTH)))
    return [b.add(MapOp("x0*x1", [o, more]))]


def a_larger_map(b: GraphBuilder) -> Slices:
    i, *_ = slices(b, total(b, product(b), b.input(1, 4 * WIDTH)))
    return [b.add(MapOp("x0 + x1", [i, b.input(3, WIDTH)]))]


@pytest.mark.parametrize(
    "make", [two_rows, three_gates, read_elsewhere, a_slice_is_a_result, needs_what_comes_later, a_larger_map]
)
def test_what_stays(make: Callable[[GraphBuilder], Slices]) -> None:
    b = GraphBuilder()
    assert not ops(check(b, make(b), InterleaveGates(), tolerance=1e-6), ComputeOp)


def test_doubles() -> None:
    b = GraphBuilder()
    x, w = b.input(1, TERMS, element="f64"), b.stored(np.asarray(b.random.standard_normal((6, TERMS, BLOCK))))
    q = b.add(ContractOp("mk,kn->mn", x, w, (4 * WIDTH, BLOCK)))
    i, o, f, g = slices(b, total(b, q, b.input(1, 4 * WIDTH, element="f64")))
    y = b.add(MapOp("x0*x1 + x2*x3", [i, o, f, g]))
    assert len(ops(check(b, [y], InterleaveGates(), tolerance=1e-13), ComputeOp)) == 1
