"""interleave-gates: the same values of slices of a product, and where it does not apply."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from graph_checks import GraphBuilder, check, ops
from xdsl.ir import SSAValue

from mlc.dialects.graph import ComputeOp, ContractOp, LayoutAttr, MapOp, SliceOp, layout
from mlc.passes.graph.fold_constants import FoldConstants
from mlc.passes.layout.blocking.blocked_layout import panels
from mlc.passes.layout.interleave_gates import InterleaveGates

TERMS, WIDTH, BLOCK = 5, 12, 8  # two columns of each of four gates in a panel
Slices = list[SSAValue]


def product(b: GraphBuilder, rows: int = 1, gates: int = 4) -> SSAValue:
    columns = gates * WIDTH
    packed = b.weight(columns // BLOCK, TERMS, BLOCK)
    return b.add(ContractOp("mk,kn->mn", b.input(rows, TERMS), packed, layouts=in_panels(columns)))


def in_panels(columns: int) -> list[LayoutAttr]:
    """The layouts of a product whose right operand is packed."""
    return [layout(2), panels(columns, BLOCK), layout(2)]


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


def test_two_steps_in_sequence() -> None:
    b = GraphBuilder()
    state = b.input(1, WIDTH)
    for _ in range(2):
        weight = b.weight(4 * WIDTH // BLOCK, WIDTH, BLOCK)
        q = b.add(ContractOp("mk,kn->mn", state, weight, layouts=in_panels(4 * WIDTH)))
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


def compiled(b: GraphBuilder, results: Slices, computed: int, contracts: int = 1) -> None:
    """Panels of two columns of each part, of a target with vectors of two."""
    module = check(b, results, InterleaveGates(), FoldConstants(), tolerance=1e-6, target="x86-64-v4:vector_bits=64")
    assert len(ops(module, ComputeOp)) == computed
    assert sum(o.equation.data == "mk,pkgl->pgml" for o in ops(module, ContractOp)) == contracts


def test_a_slice_is_a_result_too() -> None:
    b = GraphBuilder()
    parts = slices(b, total(b, product(b), b.input(1, 4 * WIDTH)))
    compiled(b, [*maps(b, *parts), parts[0], parts[2]], computed=4)


def test_a_step_of_a_gru() -> None:
    """The update gate waits for what a second product makes of the reset gate."""
    b, n = GraphBuilder(), 16
    h, w = b.input(1, n), b.weight(2 * n // BLOCK, n, BLOCK)
    z, r = slices(b, b.add(ContractOp("mk,kn->mn", h, w, layouts=in_panels(2 * n))), width=n, gates=2)
    reset = b.add(MapOp("sigmoid(x0 + x1)*x2", [b.input(1, n), r, h]))
    new = b.add(ContractOp("mk,kn->mn", reset, b.weight(n, n)))
    y = b.add(MapOp("(1 - sigmoid(x0 + x1))*tanh(x2) + sigmoid(x0 + x1)*x3", [b.input(1, n), z, new, h]))
    compiled(b, [y], computed=2)


@pytest.mark.parametrize(("gates", "width"), [(2, 16), (3, 16), (3, 10), (5, 16), (6, 16), (7, 10)])
def test_any_number_of_parts(gates: int, width: int) -> None:
    """Three do not divide a panel of eight columns: each has a vector of two in it."""
    b, columns = GraphBuilder(), gates * width
    packed = b.weight(-(-columns // BLOCK), TERMS, BLOCK)
    q = b.add(ContractOp("mk,kn->mn", b.input(1, TERMS), packed, layouts=in_panels(columns)))
    parts = slices(b, total(b, q, b.input(1, columns)), width=width, gates=gates)
    y = b.add(MapOp(" + ".join(f"{n + 1}*tanh(x{n})" for n in range(gates)), parts))
    compiled(b, [y], computed=1)


def test_an_operand_made_between_the_operators_of_a_cell() -> None:
    """What is computed stands together, and what it reads before it; a kernel between would wait for its own result."""
    b = GraphBuilder()
    x = b.add(MapOp("exp(x0)", [b.input(1, WIDTH)]))
    i, o, f, g = slices(b, total(b, product(b), b.input(1, 4 * WIDTH)))
    first = b.add(MapOp("x0*x1", [i, o]))
    between = b.add(MapOp("x0 - x1", [x, first]))
    late = b.add(MapOp("x0*x1", [x, b.input(1, WIDTH)]))
    last = b.add(MapOp("x0*x1 + x2", [f, g, late]))
    compiled(b, [between, last], computed=2)


def test_what_a_second_product_gives_is_left_to_its_kernel() -> None:
    b = GraphBuilder()
    i, o, *_ = slices(b, total(b, product(b), b.input(1, 4 * WIDTH)))
    more = b.add(ContractOp("mk,kn->mn", b.add(MapOp("sigmoid(x0)", [i])), b.weight(WIDTH, WIDTH)))
    compiled(b, [b.add(MapOp("x0*x1", [o, more]))], computed=2)


def two_rows(b: GraphBuilder) -> Slices:
    return [b.add(MapOp("tanh(x0)", [s])) for s in slices(b, total(b, product(b, 2), b.input(2, 4 * WIDTH)), 2)]


def too_few_panels(b: GraphBuilder) -> Slices:
    z = total(b, product(b), b.input(1, 4 * WIDTH))
    return [b.add(MapOp("tanh(x0)", [s])) for s in slices(b, z, width=16, gates=3)]


def read_elsewhere(b: GraphBuilder) -> Slices:
    z = total(b, product(b), b.input(1, 4 * WIDTH))
    return [*maps(b, *slices(b, z)), z]


def a_larger_map(b: GraphBuilder) -> Slices:
    i, *_ = slices(b, total(b, product(b), b.input(1, 4 * WIDTH)))
    return [b.add(MapOp("x0 + x1", [i, b.input(3, WIDTH)]))]


@pytest.mark.parametrize("make", [two_rows, too_few_panels, read_elsewhere, a_larger_map])
def test_what_stays(make: Callable[[GraphBuilder], Slices]) -> None:
    b = GraphBuilder()
    assert not ops(check(b, make(b), InterleaveGates(), tolerance=1e-6), ComputeOp)


def test_doubles() -> None:
    b = GraphBuilder()
    x, w = b.input(1, TERMS, element="f64"), b.stored(np.asarray(b.random.standard_normal((6, TERMS, BLOCK))))
    q = b.add(ContractOp("mk,kn->mn", x, w, layouts=in_panels(4 * WIDTH)))
    i, o, f, g = slices(b, total(b, q, b.input(1, 4 * WIDTH, element="f64")))
    y = b.add(MapOp("x0*x1 + x2*x3", [i, o, f, g]))
    assert len(ops(check(b, [y], InterleaveGates(), tolerance=1e-13), ComputeOp)) == 1
