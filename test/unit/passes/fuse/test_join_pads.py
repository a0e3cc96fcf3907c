"""Which paddings go into the kernel that computes what they surround, and which into that of a window."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from graph_checks import GraphBuilder
from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph import ConcatOp, ConvOp, MapOp, PadOp, PoolOp, ReduceOp, TransposeOp
from mlc.dialects.semantics.dims import Dim
from mlc.passes.fuse.grouping.groups import form_groups
from mlc.passes.schedule.polyhedral.dependences import components
from mlc.target import DEFAULT

Body = Callable[[GraphBuilder, SSAValue], SSAValue]


def kernels(*bodies: Body) -> list[list[str]]:
    """Operators of each kernel of a convolution and, each on its result, ``bodies``."""
    builder = GraphBuilder()
    x = builder.input("n", 2, "h", 7)
    y = builder.add(ConvOp(x, builder.weight(3, 2, 1, 1), [1, 1], [1, 1]))
    module = builder.module(*(body(builder, y) for body in bodies))
    ops: list[Operation] = list(next(iter(module.ops)).regions[0].block.ops)
    return [[op.name.removeprefix("graph.") for op in group.ops] for group in form_groups(ops, DEFAULT)]


def pad(low: object = 1, high: object = 2, value: str = "0", interior: int = 0) -> Body:
    return lambda b, y: b.add(PadOp(y, [0, 0, low, 0], [0, 0, high, 1], value, [0, 0, interior, 0]))  # type: ignore[list-item]


def relu(b: GraphBuilder, y: SSAValue) -> SSAValue:
    return b.add(MapOp("max(x0, 0)", [y]))


def then(*bodies: Body) -> Body:
    def run(builder: GraphBuilder, value: SSAValue) -> SSAValue:
        for body in bodies:
            value = body(builder, value)
        return value

    return run


@pytest.mark.parametrize("value", ["0", "-inf", "1.5"])
def test_a_padding_goes_last_into_the_kernel_of_its_operand(value: str) -> None:
    assert kernels(then(relu, pad(value=value))) == [["conv", "map", "pad"]]


def test_one_padding_joins_and_others_join_before_it() -> None:
    assert kernels(pad(), pad(0, 1), relu) == [["conv", "map", "pad"], ["pad"]]


def test_nothing_joins_after_a_padding() -> None:
    assert kernels(then(pad(), relu)) == [["conv", "pad"], ["map"]]
    assert kernels(then(pad(), pad())) == [["conv", "pad"], ["pad"]]


@pytest.mark.parametrize("other", [pad(interior=1), pad(low=Dim.symbol("h")), pad(high=Dim.symbol("n"))])
def test_what_is_no_constant_shift_stays_apart(other: Body) -> None:
    assert kernels(other) == [["conv"], ["pad"]]


def test_other_kinds_of_kernels() -> None:
    def transposed(b: GraphBuilder, y: SSAValue) -> SSAValue:
        return b.add(TransposeOp(y, [0, 1, 3, 2]))

    def twice(b: GraphBuilder, y: SSAValue) -> SSAValue:
        return b.add(ConcatOp([y, y], 2))

    def normal(b: GraphBuilder, y: SSAValue) -> SSAValue:
        return b.add(MapOp("x0 - x1", [y, b.add(ReduceOp("max", y, (3,), True))]))

    def sums(b: GraphBuilder, y: SSAValue) -> SSAValue:
        return b.add(ReduceOp("add", y, (3,), True))

    assert kernels(then(transposed, pad())) == [["conv"], ["transpose", "pad"]]
    assert kernels(then(twice, pad())) == [["conv"], ["concat"], ["pad"]]
    assert kernels(then(normal, pad())) == [["conv"], ["reduce", "map", "pad"]]
    assert kernels(then(sums, pad())) == [["conv"], ["reduce"], ["pad"]]


def test_a_residual_does_not_close_a_cycle() -> None:
    """conv → pad → second → sum, and conv → sum: the sum belongs to the second convolution."""

    def residual(b: GraphBuilder, y: SSAValue) -> SSAValue:
        inner = b.add(PadOp(y, [0, 0, 1, 0], [0, 0, 1, 0]))
        return b.add(MapOp("x0 + x1", [y, b.add(ConvOp(inner, b.weight(3, 3, 3, 1), [1, 1], [1, 1]))]))

    assert kernels(residual) == [["conv", "pad"], ["conv", "map"]]


def window(planes: int = 9, side: int = 7, *more: Body, readers: int = 1) -> list[list[str]]:
    """Operators of each kernel of a padding of an input and ``readers`` maxima over it, the last read by ``more``."""
    builder = GraphBuilder()
    y = builder.add(PadOp(builder.input(1, planes, side, side), [0, 0, 1, 0], [0, 0, 0, 1]))
    pools = [builder.add(PoolOp("max", y, [2, 2], [1, 1], [1, 1])) for _ in range(readers)]
    module = builder.module(*pools[:-1], then(*more)(builder, pools[-1]))
    ops: list[Operation] = list(next(iter(module.ops)).regions[0].block.ops)
    return [[op.name.removeprefix("graph.") for op in group.ops] for group in form_groups(ops, DEFAULT)]


def test_a_padding_goes_first_into_the_kernel_of_the_window_that_reads_it() -> None:
    assert window() == [["pad", "pool"]]
    assert window(9, 7, relu) == [["pad", "pool", "map"]]


def test_what_several_windows_read_is_padded_once() -> None:
    assert window(readers=2) == [["pad"], ["pool"], ["pool"]]


def test_large_or_few_planes_are_padded_apart() -> None:
    assert window(9, 255) == [["pad", "pool"]]
    assert window(9, 256) == [["pad"], ["pool"]]
    assert window(7, 7) == [["pad"], ["pool"]]


def test_a_dense_convolution_reads_all_planes_of_a_padding() -> None:
    builder = GraphBuilder()
    y = builder.add(PadOp(builder.input(1, 8, 7, 7), [0, 0, 1, 1], [0, 0, 1, 1]))
    module = builder.module(builder.add(ConvOp(y, builder.weight(8, 8, 3, 3), [1, 1], [1, 1])))
    assert [len(g.ops) for g in form_groups(list(next(iter(module.ops)).regions[0].block.ops), DEFAULT)] == [1, 1]


def test_components(monkeypatch: pytest.MonkeyPatch) -> None:
    """0 → 2 → 3 and 1 → 4 in statement order."""
    edges = {("S0", "S2"), ("S2", "S3"), ("S1", "S4")}
    statements = [SimpleNamespace(name=f"S{n}") for n in range(5)]

    def depend(a: SimpleNamespace, b: SimpleNamespace) -> bool:
        return (a.name, b.name) in edges

    monkeypatch.setattr("mlc.passes.schedule.polyhedral.dependences.depend", depend)
    parts = components(statements)  # type: ignore[arg-type]
    assert [[s.name for s in part] for part in parts] == [["S0", "S2", "S3"], ["S1", "S4"]]
