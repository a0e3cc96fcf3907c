"""Index arithmetic: the values of random dimension expressions, and the loops in which they are computed."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from mlc.dialects import kernel
from mlc.dialects.semantics.dims import Dim, DimLike, dim_max, dim_min, evaluate, floordiv
from mlc.passes.loops.index.index_builder import IndexBuilder

SYMBOLS, LOOPS = ("h", "w"), ("y", "x", "k")
COMPUTED: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: operator.add, arith.MuliOp: operator.mul, arith.MinSIOp: min, arith.MaxSIOp: max,
    arith.FloorDivSIOp: lambda a, b: a // b if b else 0,
}  # fmt: skip


def nest(hoists: bool) -> list[IndexBuilder]:
    """The builders of a block and of the loops in it, over y, x and k."""
    builders = [IndexBuilder(Block(), {}, hoists=hoists)]
    for name in LOOPS:
        outer, inner = builders[-1], Block(arg_types=[IndexType()])
        bound = outer.constant(4)
        outer.block.add_op(scf.ForOp(bound, bound, bound, [], Region(inner)))
        outer.env[name] = inner.args[0]
        builders.append(outer.at(inner))
    return builders


def random_dim(random: np.random.Generator, depth: int = 2) -> DimLike:
    def pick() -> DimLike:
        if depth and random.random() < 0.15:
            kind = [dim_max, dim_min, lambda a, b: floordiv(a, int(random.integers(2, 9)))][random.integers(3)]
            return kind(random_dim(random, depth - 1), random_dim(random, depth - 1))
        return Dim.symbol(str(random.choice([*SYMBOLS, *LOOPS])))

    total: DimLike = int(random.integers(-9, 9))
    for _ in range(random.integers(1, 6)):
        term: DimLike = int(random.integers(-20, 20))
        for _ in range(random.integers(1, 4)):
            term = term * pick()
        total = total + term
    return total


def value_of(value: SSAValue, known: dict[SSAValue, int], sizes: dict[str, int]) -> int:
    op = value.owner
    if value not in known and isinstance(op, Operation):
        if isinstance(op, kernel.SymbolOp):
            known[value] = sizes[op.dim.data]
        elif isinstance(op, arith.ConstantOp):
            assert isinstance(op.value, IntegerAttr)
            known[value] = op.value.value.data
        else:
            known[value] = COMPUTED[type(op)](*(value_of(v, known, sizes) for v in op.operands))
    return known[value]


@pytest.mark.parametrize("hoists", [False, True])
def test_random_expressions(hoists: bool) -> None:
    random = np.random.default_rng()
    for _ in range(60):
        builders = nest(hoists)
        dims = [random_dim(random) for _ in range(4)]
        made = [builders[-1].dim(dim) for dim in dims]
        for _ in range(3):
            sizes = {name: int(random.integers(0, 30)) for name in (*SYMBOLS, *LOOPS)}
            known = {builders[0].env[name]: sizes[name] for name in LOOPS}
            assert [value_of(v, known, sizes) for v in made] == [evaluate(dim, sizes) for dim in dims]


def test_arithmetic_is_in_the_outermost_loop_that_has_its_operands() -> None:
    random = np.random.default_rng()
    for _ in range(40):
        builders = nest(hoists=True)
        for _ in range(4):
            builders[-1].dim(random_dim(random))
        for n, builder in enumerate(builders[1:]):
            outside = {
                v for b in builders[: n + 1] for v in (*b.block.args, *(r for o in b.block.ops for r in o.results))
            }
            moved = [op for op in builder.block.ops if type(op) in COMPUTED and outside.issuperset(op.operands)]
            constant = [op for op in moved if any(isinstance(v.owner, arith.ConstantOp) for v in op.operands)]
            assert moved == constant == []


def test_points_of_a_window_with_a_symbolic_width_share_all_but_a_constant() -> None:
    h, w, y, x, k = (Dim.symbol(name) for name in (*SYMBOLS, *LOOPS))
    builders = nest(hoists=True)
    for point in range(8):
        builders[-1].dim((y * (h + 2) * (w + 2) + (x + 1) * (w + 2)) * 8 + k * 8 + point)
    inner = [op for op in builders[-1].block.ops if type(op) in COMPUTED]
    assert len(inner) == 2 + 8  # k * 8 and its sum, and a constant for each point
    assert sum(1 for op in builders[0].block.ops if type(op) in COMPUTED) <= 6
