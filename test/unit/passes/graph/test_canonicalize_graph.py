"""canonicalize-graph: each pattern does what it says, and none changes a bit of the results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from graph_checks import GraphBuilder, check, ops
from xdsl.ir import BlockArgument, SSAValue

from mlc.dialects.graph import (
    BroadcastOp,
    ConcatOp,
    ConstantOp,
    ContractOp,
    ConvOp,
    GraphOp,
    MapOp,
    PadOp,
    ReduceOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
    source_nodes,
)
from mlc.dialects.semantics.dims import parse_dim
from mlc.dialects.semantics.evaluate import evaluate_expr
from mlc.dialects.semantics.expr import element_type, parse
from mlc.dialects.types import shape_of
from mlc.passes.graph.canonicalize_graph import CanonicalizeGraph
from mlc.passes.graph.patterns.regroup import runs
from mlc.passes.graph.patterns.scalar_algebra import simplify

Build = Callable[[GraphBuilder], SSAValue]


def left(build: Build) -> list[str]:
    """Names of the operators that are left, with the results checked."""
    b = GraphBuilder()
    module = check(b, [build(b)], CanonicalizeGraph())
    return [o.name.removeprefix("graph.") for o in ops(module, GraphOp)]


def chain(*steps: Callable[[SSAValue], GraphOp]) -> Build:
    def build(b: GraphBuilder) -> SSAValue:
        value = b.input("n", 1, 4, 6)
        for step in steps:
            value = b.add(step(value))
        return value

    return build


def reshape(*shape: object) -> Callable[[SSAValue], GraphOp]:
    return lambda x: ReshapeOp(x, [parse_dim(str(d)) for d in shape])


def transpose(*perm: int) -> Callable[[SSAValue], GraphOp]:
    return lambda x: TransposeOp(x, perm)


def spread(x: SSAValue) -> GraphOp:
    return PadOp(x, [0] * 4, [1] * 4, "0", [1] * 4)


def stretch(extent: int) -> Callable[[SSAValue], GraphOp]:
    return lambda x: BroadcastOp(x, (extent, *shape_of(x)))


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (chain(reshape("n", 1, 4, 6)), []),
        (chain(reshape("n", 24), reshape("n*4", 6)), ["reshape"]),
        (chain(reshape("n", 24), reshape("n", 1, 4, 6)), []),
        (chain(transpose(0, 1, 2, 3)), []),
        (chain(transpose(1, 0, 2, 3)), ["reshape"]),
        (chain(transpose(0, 2, 1, 3), transpose(0, 2, 1, 3)), []),
        (chain(transpose(3, 2, 1, 0), transpose(1, 0, 3, 2)), ["transpose"]),
        (chain(transpose(0, 3, 1, 2), reshape("n", 6, 4), transpose(0, 2, 1)), ["reshape"]),
        (chain(transpose(2, 0, 1, 3), reshape(4, "6*n"), transpose(1, 0)), ["reshape", "transpose", "reshape"]),
        (chain(reshape("n", 4, 2, 3), transpose(0, 2, 3, 1), reshape("n", 6, 4), transpose(0, 2, 1)), ["reshape"]),
        (chain(reshape("n", 4, 1, 6), transpose(3, 1, 2, 0), reshape(6, 1, 4, "n")), ["transpose"]),
        (chain(reshape("n", 4, 6), transpose(2, 1, 0), reshape(1, 6, 4, "n")), ["transpose"]),
        (chain(reshape("n", 4, 6), transpose(2, 1, 0), reshape(1, 24, 1, "n")), ["reshape", "transpose", "reshape"]),
        (chain(reshape("n", 4, 6), transpose(2, 1, 0), reshape(6, 4, "n")), ["reshape", "transpose"]),
        (chain(reshape("n", 24), transpose(1, 0), reshape(1, 24, 1, "n")), ["reshape", "transpose", "reshape"]),
        (chain(lambda x: BroadcastOp(x, shape_of(x))), []),
        (chain(stretch(2), stretch(5)), ["broadcast"]),
        (chain(lambda x: SliceOp(x, [0] * 4, shape_of(x), [1] * 4)), []),
        (chain(lambda x: SliceOp(x, [0] * 4, shape_of(x), [1, -1, 1, 1])), []),
        (chain(lambda x: PadOp(x, [0] * 4, [0] * 4)), []),
        (chain(lambda x: PadOp(x, [0, 1, 0, 2], [0] * 4), lambda x: PadOp(x, [0, 0, 3, 1], [2, 1, 0, 1])), ["pad"]),
        (chain(lambda x: PadOp(x, [0, 1, 0, 2], [0] * 4), lambda x: PadOp(x, [1] * 4, [1] * 4, "1")), ["pad", "pad"]),
        (chain(spread, lambda x: PadOp(x, [1] * 4, [0] * 4)), ["pad", "pad"]),
        (chain(lambda x: ConcatOp([x], 1)), []),
        (chain(lambda x: ReduceOp("add", x, [1], keepdims=True)), []),
        (chain(lambda x: ReduceOp("max", x, [1])), ["reshape"]),
        (chain(lambda x: ReduceOp("add", x, [])), []),
        (chain(lambda x: MapOp("x0", [x])), []),
        (chain(lambda x: MapOp("f32(x0) * 1", [x])), []),
    ],
)  # fmt: skip
def test_moves(build: Build, expected: list[str]) -> None:
    assert left(build) == expected


def test_a_transposition_with_another_reader_stays() -> None:
    b = GraphBuilder()
    moved = b.add(transpose(2, 1, 0)(b.add(reshape("n", 4, 6)(b.input("n", 1, 4, 6)))))
    module = check(b, [moved, b.add(reshape(6, 1, 4, "n")(moved))], CanonicalizeGraph())
    assert len(ops(module, TransposeOp)) == 1


def test_slices_of_slices_and_negative_steps() -> None:
    b = GraphBuilder()
    x = b.input(11, "n")
    one = b.add(SliceOp(x, [9, 0], [5, shape_of(x)[1]], [-2, 1]))
    two = b.add(SliceOp(one, [1, 0], [2, shape_of(x)[1]], [2, 1]))
    module = check(b, [two], CanonicalizeGraph())
    (only,) = ops(module, SliceOp)
    assert only.input is module.ops.first.body.block.args[0]  # type: ignore[union-attr]


def test_a_constant_of_two_zeros_is_not_uniform() -> None:
    b = GraphBuilder()
    y = b.add(MapOp("x0 * x1", [b.input(3, 2), b.constant([0.0, -0.0])]))
    assert len(ops(check(b, [y], CanonicalizeGraph()), ConstantOp)) == 1


def test_a_slice_of_one_part_of_a_concat() -> None:
    b = GraphBuilder()
    joined = b.add(ConcatOp([b.input(3, 2), b.input(3, 5), b.input(3, 4)], 1))
    inside = b.add(SliceOp(joined, [0, 3], [3, 2], [1, 2]))
    across = b.add(SliceOp(joined, [0, 1], [3, 2], [1, 1]))
    steps = b.add(SliceOp(joined, [0, 3], [3, 3], [1, 2]))  # of which the last is in the next part
    module = check(b, [inside, across, steps], CanonicalizeGraph())
    assert [isinstance(s.input.owner, ConcatOp) for s in ops(module, SliceOp)] == [False, True, True]


@pytest.mark.parametrize(
    ("starts", "sizes", "pads"),
    [
        ([1, 0], [4, 6], 1),  # within the padding at both ends of the first dimension
        ([2, 1], [3, 4], 0),  # no padding is left
        ([1, 2], [2, 4], 1),
        ([3, 0], [4, 3], 1),
    ],
)
def test_a_slice_of_a_padding(starts: list[int], sizes: list[int], pads: int) -> None:
    b = GraphBuilder()
    padded = b.add(PadOp(b.input(3, 4), [2, 1], [2, 1], "7"))
    module = check(b, [b.add(SliceOp(padded, starts, sizes, [1, 1]))], CanonicalizeGraph())
    assert len(ops(module, PadOp)) == pads
    assert all(isinstance(o.input, BlockArgument) for o in ops(module, SliceOp))


@pytest.mark.parametrize("case", ["all padding", "between", "steps", "symbolic"])
def test_slices_of_paddings_that_stay(case: str) -> None:
    b = GraphBuilder()
    x = b.input("n", 4) if case == "symbolic" else b.input(3, 4)
    padded = b.add(PadOp(x, [2, 1], [2, 1], "7", [int(case == "between"), 0]))
    size, step = (1 if case == "all padding" else 3), 2 if case == "steps" else 1
    module = check(b, [b.add(SliceOp(padded, [1, 0], [size, 2], [step, 1]))], CanonicalizeGraph())
    assert isinstance(ops(module, SliceOp)[-1].input.owner, PadOp)


def test_a_convolution_of_what_a_slice_takes() -> None:
    b = GraphBuilder()
    x, w = b.input(3, 4, 11, 9), b.weight(6, 2, 3, 2)
    y = b.add(ConvOp(x, w, [2, 1], [1, 3], 2))
    module = check(b, [b.add(SliceOp(y, [1, 0, 1, 2], [2, 6, 3, 4], [1] * 4))], CanonicalizeGraph(), tolerance=1e-6)
    (conv,) = ops(module, ConvOp)
    assert shape_of(conv.result) == (2, 6, 3, 4) and shape_of(conv.input) == (2, 4, 7, 7)


@pytest.mark.parametrize("case", ["filters", "steps", "another reader"])
def test_slices_of_convolutions_that_stay(case: str) -> None:
    b = GraphBuilder()
    y = b.add(ConvOp(b.input(2, 4, 9), b.weight(6, 4, 3), [1], [1]))
    cut = b.add(SliceOp(y, [0, int(case == "filters"), 1], [2, 5, 3], [1, 1, 1 + (case == "steps")]))
    module = check(b, [cut, *([y] if case == "another reader" else [])], CanonicalizeGraph())
    assert shape_of(ops(module, ConvOp)[0].result) == (2, 6, 7)


def test_nested_concats_and_empty_parts() -> None:
    b = GraphBuilder()
    inner = b.add(ConcatOp([b.input(2, 3), b.input(2, 0)], 1))
    outer = b.add(ConcatOp([inner, b.input(2, 4)], 1))
    module = check(b, [outer], CanonicalizeGraph())
    (concat,) = ops(module, ConcatOp)
    assert [shape_of(a) for a in concat.args] == [(2, 3), (2, 4)]


def test_maps_and_contractions_read_unstretched_operands() -> None:
    b = GraphBuilder()
    x = b.input("n", 4, 6)
    bias = b.add(BroadcastOp(b.input(6), shape_of(x)))
    lifted = b.add(ReshapeOp(b.input(4, 6), [1, 4, 6]))
    y = b.add(MapOp("x0 * x1 + x2", [x, bias, lifted]))
    z = b.add(ContractOp("bmk,bkn->bmn", y, b.add(BroadcastOp(b.input(1, 6, 5), (shape_of(x)[0], 6, 5)))))
    module = check(b, [z], CanonicalizeGraph(), tolerance=1e-6)
    assert not ops(module, BroadcastOp) and not ops(module, ReshapeOp)


def test_a_broadcast_that_makes_the_shape_stays() -> None:
    b = GraphBuilder()
    module = check(b, [b.add(MapOp("exp(x0)", [b.add(BroadcastOp(b.input(6), (4, 6)))]))], CanonicalizeGraph())
    assert len(ops(module, BroadcastOp)) == 1


def test_uniform_constants_become_literals() -> None:
    b = GraphBuilder()
    x = b.input("n", 3)
    scaled = b.add(MapOp("x0 * x1 + x2", [x, b.constant(0.1), b.constant([[2, 2, 2]])]))
    chosen = b.add(MapOp("where(x0 > x1, x2, x3)", [scaled, b.constant(0), b.constant(1), b.constant(0)]))
    stretched = b.add(MapOp("x0 + x1", [x, b.constant(np.ones((2, 1, 1)))]))
    table = b.add(MapOp("x0 + x1", [x, b.constant([1, 2, 3])]))
    module = check(b, [scaled, chosen, stretched, table], CanonicalizeGraph())
    assert [m.expr.data for m in ops(module, MapOp)] == [
        f"((x0 * {float(np.float32(0.1))!r}) + 2.0)",
        "where((x0 > 0.0), f32(1.0), 0.0)",
        "(x0 + 1.0)",
        "(x0 + x1)",
    ]
    assert [len(m.args) for m in ops(module, MapOp)] == [1, 1, 2, 2]  # the stretching constant keeps the shape


def test_integer_and_boolean_constants() -> None:
    b = GraphBuilder()
    x, mask = b.input("n", 3, element="i64"), b.input("n", 3, element="i1")
    y = b.add(MapOp("f32(x0 / x1) + f32(x2)", [x, b.constant(2, "int64"), b.constant(7, "int32")]))
    z = b.add(MapOp("and_(x0, x1)", [mask, b.constant(True, "bool")]))
    module = check(b, [y, z], CanonicalizeGraph())
    assert [len(m.args) for m in ops(module, MapOp)] == [1, 1]


def test_what_is_computed_twice_or_not_read_goes() -> None:
    b = GraphBuilder()
    x = b.input(4)
    one, two = b.add(MapOp("exp(x0)", [x])), b.add(MapOp("exp(x0)", [x]))
    b.add(MapOp("log(x0)", [one]))
    total = b.add(MapOp("x0 + x1", [one, two]))
    module = check(b, [total], CanonicalizeGraph())
    first, last = ops(module, MapOp)
    assert (first.expr.data, last.expr.data, len(last.args)) == ("exp(x0)", "(x0 + x0)", 1)
    assert source_nodes(first) == ("node0", "node1")


SPECIAL = np.array([0.0, -0.0, 1.5, -2.25, 3e38, -1e-42, np.inf, -np.inf, np.nan], np.float32)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x0 * 1", "x0"), ("1 * x0", "x0"), ("x0 - 0.0", "x0"), ("x0 / 1", "x0"), ("-(-x0)", "x0"), ("f32(x0)", "x0"),
        ("max(x0, -inf)", "x0"), ("min(x0, inf)", "x0"), ("x0 / 8.0", "(x0 * 0.125)"), ("x0 / 3.0", "(x0 / 3.0)"),
        ("x0 + 0.0", "(x0 + 0.0)"), ("x0 * 0.0", "(x0 * 0.0)"), ("x0 - x0", "(x0 - x0)"),
        ("x0 / 1e-40", "(x0 / 1e-40)"),
        ("x0 - (-0.0)", "(x0 - -0.0)"), ("where(True, x0, 1.0)", "x0"), ("x0 ** 2", "(x0 * x0)"), ("x0 ** 1", "x0"),
        ("max(x0, 0) * 1", "max(x0, 0)"), ("x0 ** -1", "(1 / x0)"),
    ],
)  # fmt: skip
def test_scalar_algebra_keeps_every_bit(text: str, expected: str) -> None:
    simple = simplify(parse(text), ["f32"])
    assert str(simple) == expected
    with np.errstate(all="ignore"):
        before, after = (np.asarray(evaluate_expr(e, [SPECIAL], {})) for e in (parse(text), simple))
    assert before.astype(np.float32).tobytes() == after.astype(np.float32).tobytes()


@pytest.mark.parametrize("exponent", [3, 4])
def test_small_powers_are_products(exponent: int) -> None:
    simple = simplify(parse(f"x0 ** {exponent}"), ["f32"])
    assert "**" not in str(simple)
    x = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    np.testing.assert_allclose(evaluate_expr(simple, [x], {}), x.astype(np.float64) ** exponent, rtol=3e-7)


@pytest.mark.parametrize("text", ["x0 * (x1 + 2)", "where(x0 > x1, x1, x1 - 1)", "x1 / 3", "x0 == x1", "sqrt(x1) + x0"])
@pytest.mark.parametrize("element", ["f32", "f64", "f16"])
def test_literals_keep_value_and_type(text: str, element: str) -> None:
    dtype = {"f32": np.float32, "f64": np.float64, "f16": np.float16}[element]
    x, literal = np.random.default_rng(1).standard_normal(50).astype(dtype), dtype(0.3)
    simple = simplify(parse(text), [element, element], {1: literal.item()})
    assert element_type(simple, [element]) == element_type(parse(text), [element, element])
    expected = np.broadcast_to(evaluate_expr(parse(text), [x, np.asarray(literal)], {}), x.shape)
    got = np.broadcast_to(evaluate_expr(simple, [x], {}), x.shape)
    np.testing.assert_array_equal(got.astype(expected.dtype), expected)


def test_runs_are_the_finest() -> None:
    found = runs((2, 3, 1, 20), (6, 4, 5, 1))
    assert [(r.source, r.target) for r in found] == [((0, 1), (0,)), ((3,), (1, 2))]


@pytest.mark.parametrize("seed", range(20))
def test_random_moves(seed: int) -> None:
    """Transpositions, splits, merges, slices and pads in any order, with a symbolic dimension."""
    b, random = GraphBuilder(seed), np.random.default_rng(seed)
    value = b.input("n", 4, 6, 1)
    for _ in range(8):
        shape = shape_of(value)
        axis = int(random.integers(len(shape)))
        match random.integers(4):
            case 0:
                value = b.add(TransposeOp(value, [int(p) for p in random.permutation(len(shape))]))
            case 1 if axis + 1 < len(shape):
                value = b.add(ReshapeOp(value, (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])))
            case 2 if isinstance(shape[axis], int) and shape[axis] % 2 == 0:
                value = b.add(ReshapeOp(value, (*shape[:axis], 2, shape[axis] // 2, *shape[axis + 1 :])))  # type: ignore
            case 3:
                value = b.add(PadOp(value, [int(n == axis) for n in range(len(shape))], [0] * len(shape)))
    module = check(b, [value], CanonicalizeGraph())
    transposes = ops(module, TransposeOp)
    assert not any(isinstance(t.input.owner, TransposeOp) for t in transposes)
