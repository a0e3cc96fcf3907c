"""assign-layout: the blocked network computes the same, in as few layout changes as it takes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from graph_checks import GraphBuilder, check, ops
from xdsl.ir import SSAValue

from mlc.dialects.graph import (
    ComputeOp,
    ConcatOp,
    ConvOp,
    MapOp,
    PadOp,
    PoolOp,
    ReduceOp,
    SliceOp,
    TransposeOp,
    dims_of,
    source_nodes,
)
from mlc.dialects.semantics.expr import parse
from mlc.dialects.types import shape_of
from mlc.passes.graph import graph_pipeline
from mlc.passes.graph.canonicalize_graph import CanonicalizeGraph
from mlc.passes.graph.fold_constants import FoldConstants
from mlc.passes.layout import layout_pipeline
from mlc.passes.layout.assign_layout import AssignLayout
from mlc.passes.layout.blocking.padding_values import ANY, ZERO, after_combine, after_map
from mlc.passes.layout.decompose_pack import DecomposePack

Step = Callable[[GraphBuilder, SSAValue], SSAValue]
PASSES = (AssignLayout(), DecomposePack(), FoldConstants(), CanonicalizeGraph())
FOUR = "x86-64-v4:vector_bits=128"  # blocks of 4, so that small channels make several


def conv(
    features: int, kernel: tuple[int, ...] = (3, 2), strides: tuple[int, ...] = (), groups: int = 1, dilation: int = 1
) -> Step:
    def step(b: GraphBuilder, x: SSAValue) -> SSAValue:
        weight = b.weight(features, shape_of(x)[1] // groups, *kernel)  # type: ignore[operator]
        return b.add(ConvOp(x, weight, strides or [1] * len(kernel), [dilation] * len(kernel), groups))

    return step


def pointwise(features: int) -> Step:
    return conv(features, (1, 1))


def depthwise(b: GraphBuilder, x: SSAValue) -> SSAValue:
    return conv(shape_of(x)[1], (2, 3), groups=shape_of(x)[1])(b, x)  # type: ignore[arg-type]


def biased(text: str = "max(x0 + x1, 0)") -> Step:
    return lambda b, x: b.add(MapOp(text, [x, b.weight(shape_of(x)[1], 1, 1)]))  # type: ignore[arg-type]


def mapped(text: str) -> Step:
    return lambda b, x: b.add(MapOp(text, [x]))


def pad(value: str = "0", amount: int = 1) -> Step:
    return lambda b, x: b.add(PadOp(x, [0, 0, amount, 0], [0, 0, 0, amount], value))


def pool(fn: str) -> Step:
    return lambda b, x: b.add(PoolOp(fn, x, [2, 2], [2, 1], [1, 1]))


def mean(keep: bool) -> Step:
    return lambda b, x: b.add(ReduceOp("add", x, [2, 3], keep))


def sequence(*steps: Step) -> Step:
    def run(b: GraphBuilder, x: SSAValue) -> SSAValue:
        for step in steps:
            x = step(b, x)
        return x

    return run


def gated(b: GraphBuilder, x: SSAValue) -> SSAValue:
    """Squeeze and excitation."""
    gate = sequence(mean(True), pointwise(4), biased(), pointwise(int(shape_of(x)[1])), mapped("sigmoid(x0)"))(b, x)  # type: ignore
    return b.add(MapOp("x0 * x1", [x, gate]))


def joined(*parts: Step) -> Step:
    return lambda b, x: b.add(ConcatOp([p(b, x) for p in parts], 1))


def channels(start: int, size: int) -> Step:
    def step(b: GraphBuilder, x: SSAValue) -> SSAValue:
        shape = shape_of(x)
        return b.add(SliceOp(x, [0, start, 1, 0], [shape[0], size, 3, shape[3]], [1, 1, 2, 1]))

    return step


def resize(b: GraphBuilder, x: SSAValue) -> SSAValue:
    n, c, h, w = shape_of(x)
    return b.add(ComputeOp("x0[i0, i1, i2 // 2, i3 // 3]", [x], (n, c, h * 2, w * 3)))


def residual(*steps: Step) -> Step:
    def step(b: GraphBuilder, x: SSAValue) -> SSAValue:
        return b.add(MapOp("max(x0 + x1, 0)", [sequence(*steps)(b, x), x]))

    return step


def stretched(b: GraphBuilder, x: SSAValue) -> SSAValue:
    return b.add(MapOp("x0 * x1", [x, b.weight(8, 1, 1)]))


POLE = "where(x0 == 0, inf, x0)"
NETWORKS: dict[str, tuple[Step, int]] = {
    # name: (network, transpositions of activations that are left with 8 input channels)
    "dense": (conv(8), 2),
    "strided, dilated": (conv(12, strides=(2, 1), dilation=2), 2),
    "grouped in whole blocks": (sequence(conv(8), conv(16, groups=2), conv(8)), 2),
    "grouped otherwise": (sequence(conv(8), conv(16, groups=4), conv(8)), 4),
    "bias and activation": (sequence(conv(8), biased(), conv(4), biased()), 2),
    "pointwise after pointwise": (sequence(pointwise(8), biased(), pointwise(12), biased()), 2),
    "pointwise, padded, dense": (sequence(pointwise(8), biased(), pad(), conv(8), biased(), pointwise(4)), 2),
    "strided pointwise": (conv(8, (1, 1), (2, 2)), 2),
    "depthwise": (sequence(pointwise(12), biased(), pad(), depthwise, biased(), pointwise(8)), 2),
    "residual": (sequence(pointwise(8), residual(pad("0", 2), conv(8, (3, 3)), biased())), 2),
    "channels that are no whole blocks": (sequence(conv(6), biased(), depthwise, biased("x0 * x1"), conv(5)), 2),
    "exponentials in unused lanes": (sequence(conv(6), mapped("exp(x0 * 0.05)"), conv(8)), 2),
    "infinities in unused lanes": (sequence(conv(6), mapped(POLE), conv(8)), 4),
    "undefined in unused lanes": (sequence(conv(6), biased("x0 / x1"), conv(8)), 4),
    "poles in whole blocks": (sequence(conv(8), biased("x0 / x1"), mapped(POLE), conv(8)), 2),
    "padded maximum pooling": (sequence(conv(6), pad("-inf"), pool("max"), conv(8)), 2),
    "padded sum pooling": (sequence(conv(6), biased(), pad("0"), pool("add"), conv(8)), 2),
    "global pooling": (sequence(conv(8), mean(False)), 1),
    "global pooling, keepdims": (sequence(pointwise(8), mean(True), pointwise(8)), 1),
    "squeeze and excitation": (sequence(conv(8), gated, conv(4)), 2),
    "squeeze and excitation of 6": (sequence(conv(6), gated, conv(4)), 2),
    "concat": (sequence(joined(conv(8), conv(4)), conv(4)), 2),
    "flat concat": (sequence(joined(pointwise(8), pointwise(4)), pointwise(4)), 2),
    "concat of 6": (sequence(conv(8), joined(conv(6), conv(4)), conv(4)), 5),
    "slice of blocks": (sequence(conv(12), channels(4, 8), conv(4)), 2),
    "slice across blocks": (sequence(conv(12), channels(3, 8), conv(4)), 4),
    "resize": (sequence(conv(8), resize, conv(4)), 2),
    "resize of 6": (sequence(conv(6), resize, conv(4)), 4),
    "spatial operand": (sequence(conv(8), lambda b, x: b.add(MapOp("x0 * x1", [x, b.weight(7, 1)])), conv(4)), 2),
    "spatial operand, flat": (sequence(pointwise(8), lambda b, x: b.add(MapOp("x0 * x1", [x, b.weight(9, 1)]))), 2),
    "one output channel": (sequence(conv(1), mapped("sigmoid(x0)")), 2),
    "a stretched channel": (sequence(conv(1), stretched, conv(4)), 4),
}  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("batch", [2, "n"])
def test_network(name: str, batch: int | str) -> None:
    network, transposes = NETWORKS[name]
    b = GraphBuilder()
    module = check(b, [network(b, b.input(batch, 8, 9, 10))], *PASSES, target=FOUR, tolerance=2e-6)
    plain = [c for c in ops(module, ConvOp) if c.layouts is None]
    assert len(plain) == (name == "grouped otherwise")
    assert len(ops(module, TransposeOp)) == transposes, str(module)


@pytest.mark.parametrize(("positions", "blocked"), [(16, True), (15, False)])
def test_weights_of_run_time_are_packed_for_many_positions(positions: int, blocked: bool) -> None:
    b = GraphBuilder()
    y = b.add(ConvOp(b.input(8, 6, positions + 2), b.input(5, 6, 3), [1], [1]))
    module = check(b, [y], *PASSES, target=FOUR, tolerance=2e-6)
    assert (ops(module, ConvOp)[0].layouts is not None) == blocked


def swapped(b: GraphBuilder, x: SSAValue) -> SSAValue:
    return b.add(TransposeOp(x, [1, 0, *range(2, len(shape_of(x)))]))


@pytest.mark.parametrize("channels_", [3, 4, 6, 8])
@pytest.mark.parametrize("features", [2, 5, 8])
@pytest.mark.parametrize(("strides", "dilations"), [((1, 1), (1, 1)), ((1, 2), (2, 1))])
def test_convolutions_over_the_batch(
    channels_: int, features: int, strides: tuple[int, ...], dilations: tuple[int, ...]
) -> None:
    """The derivative of a convolution by its filters reads images and adjoints in the blocks that they have."""
    b = GraphBuilder()
    x, y = b.input(3, channels_, 9, 8), conv(features, (3, 2))(b, b.input(3, 8, 7, 4))
    z = b.add(ConvOp(swapped(b, x), swapped(b, y), strides, dilations))
    module = check(b, [z], *PASSES, target=FOUR, tolerance=2e-6)
    assert all(c.layouts for c in ops(module, ConvOp))
    assert all(shape_of(t.input)[0] != 3 or t.input.owner != y.owner for t in ops(module, TransposeOp))


def test_convolutions_over_the_batch_that_stay() -> None:
    b = GraphBuilder()
    x, y, doubles = b.input(3, 4, 6, 5), b.input(3, 8, 2, 2), b.input("n", 4, 6, 5)
    turned = b.add(TransposeOp(x, [1, 0, 3, 2]))
    results = [
        b.add(ConvOp(turned, swapped(b, y), [1, 1], [1, 1])),  # positions exchanged as well
        b.add(ConvOp(x, swapped(b, b.input(4, 8, 2, 2)), [1, 1], [1, 1])),  # an image as it is
        b.add(ConvOp(swapped(b, doubles), swapped(b, b.input("n", 8, 2, 2)), [1, 1], [1, 1])),  # a symbolic batch
    ]
    module = check(b, results, AssignLayout(), target=FOUR, tolerance=2e-6)
    assert not any(c.layouts for c in ops(module, ConvOp))


@pytest.mark.parametrize("features", [6, 8])
@pytest.mark.parametrize("axes", [[0, 2, 3], [0, 2], [0, 1, 2, 3]])
def test_reductions_of_the_batch(features: int, axes: list[int]) -> None:
    b = GraphBuilder()
    y = conv(features)(b, b.input(3, 8, 9, 10))
    module = check(b, [b.add(ReduceOp("add", y, axes, False))], *PASSES, target=FOUR, tolerance=2e-6)
    (reduce,) = ops(module, ReduceOp)
    assert (shape_of(reduce.input)[-1] == 4) == (axes == [0, 2, 3])  # in blocks


@pytest.mark.parametrize("channels_", [1, 2, 3, 4, 5, 7, 9])
@pytest.mark.parametrize("features", [1, 3, 4, 6])
def test_any_number_of_channels(channels_: int, features: int) -> None:
    b = GraphBuilder()
    y = sequence(conv(features), biased(), conv(3), biased())(b, b.input("n", channels_, "h", 6))
    check(b, [y], *PASSES, target=FOUR, tolerance=2e-6)


@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("kernel", [1, 2])
def test_other_ranks(rank: int, kernel: int) -> None:
    b = GraphBuilder()
    x = b.input("n", 8, *[5, 4, 3][:rank])
    y = conv(6, (kernel,) * rank)(b, x)
    y = b.add(MapOp("max(x0 + x1, 0)", [y, b.weight(6, *[1] * rank)]))
    y = b.add(PoolOp("max", conv(8, (1,) * rank)(b, y), [2] * rank, [1] * rank, [1] * rank))
    module = check(b, [y], *PASSES, target=FOUR, tolerance=2e-6)
    assert all(c.layouts for c in ops(module, ConvOp))


@pytest.mark.parametrize("features", [6, 8])
@pytest.mark.parametrize("text", ["x0 / f32(h - 2)", "x0 * f32(w)", "x0 + f32(h)"])
def test_the_value_of_a_symbol_in_unused_lanes(features: int, text: str) -> None:
    """A mean over a symbolic dimension is a sum divided by it."""
    b = GraphBuilder()
    y = conv(features, (3, 1))(b, b.input("n", 8, "h", "w"))
    y = sequence(mapped(text), conv(4, (1, 2)))(b, b.add(ReduceOp("add", y, [2], True)))
    check(b, [y], *PASSES, target=FOUR, tolerance=2e-6)


def test_few_input_channels_make_one_short_block() -> None:
    b = GraphBuilder()
    module = check(b, [conv(8)(b, b.input("n", 3, 5, 6))], *PASSES, target=FOUR, tolerance=1e-6)
    (op,) = ops(module, ConvOp)
    assert [str(d) for d in shape_of(op.input)] == ["n", "1", "5", "6", "3"]
    assert shape_of(op.weight) == (2, 1, 3, 2, 3, 4)


@pytest.mark.parametrize("channels_", [3, 5, 8])
@pytest.mark.parametrize("value", ["0", "1.5"])
def test_a_padding_moves_after_packing(channels_: int, value: str) -> None:
    b = GraphBuilder()
    pad = b.add(PadOp(b.input("n", channels_, "h", 6), [0, 0, 1, 2], [0, 0, 2, 0], value))
    module = check(b, [conv(6)(b, pad)], *PASSES, target=FOUR, tolerance=1e-6)
    (padded,) = (op for op in ops(module, PadOp) if dims_of(op.high)[2] == 2)  # the others fill blocks
    assert len(shape_of(padded.input)) == (5 if value == "0" else 4)


def test_pointwise_works_on_one_dimension() -> None:
    b = GraphBuilder()
    module = check(b, [pointwise(8)(b, b.input("n", 8, "h", "w"))], *PASSES, target=FOUR, tolerance=1e-6)
    (op,) = ops(module, ConvOp)
    assert str(shape_of(op.input)[2]) == "h*w" and shape_of(op.weight) == (2, 2, 1, 4, 4)


@pytest.mark.parametrize("epilogue", ["max(x0, 0)", "x0 / (1 + exp(neg(x0)))"])
def test_pointwise_into_a_padding_keeps_its_rows(epilogue: str) -> None:
    b = GraphBuilder()
    y = sequence(pointwise(8), mapped(epilogue), pad(), conv(8))(b, b.input("n", 8, 5, 6))
    module = check(b, [y], *PASSES, target=FOUR, tolerance=1e-6)
    assert [len(o.strides) for o in ops(module, ConvOp)] == [2, 2]


def test_doubles_have_half_the_block() -> None:
    b = GraphBuilder()
    weight = b.stored(b.random.standard_normal((8, 4, 2, 2)))
    y = b.add(ConvOp(b.input(1, 4, 3, 3, element="f64"), weight, [1, 1], [1, 1]))
    module = check(b, [y], *PASSES, target=FOUR, tolerance=1e-14)
    assert shape_of(ops(module, ConvOp)[0].weight)[-2:] == (2, 2)


def test_weights_that_are_not_constant_and_integers_stay_plain() -> None:
    b = GraphBuilder()
    y = b.add(ConvOp(b.input(1, 8, 5, 5), b.input(8, 8, 2, 2), [1, 1], [1, 1]))
    z = b.add(ConvOp(b.input(1, 8, 5, 5, element="i32"), b.stored(np.ones((8, 8, 2, 2), np.int32)), [1, 1], [1, 1]))
    module = check(b, [y, z], *PASSES, target=FOUR, tolerance=1e-6)
    assert [c.layouts for c in ops(module, ConvOp)] == [None, None]


def test_a_value_read_plain_and_blocked_is_unblocked_once() -> None:
    b = GraphBuilder()
    y = conv(8)(b, b.input("n", 8, 6, 7))
    plain = [b.add(ReduceOp("max", y, [1])), b.add(ReduceOp("add", y, [1])), y]
    module = check(b, [*plain, conv(4)(b, y)], *PASSES, target=FOUR, tolerance=2e-6)
    assert len(ops(module, TransposeOp)) == 3


def test_layout_changes_name_their_nodes() -> None:
    b = GraphBuilder()
    module = check(b, [conv(8)(b, b.input("n", 8, 6, 7))], *PASSES, target=FOUR, tolerance=1e-6)
    assert all(source_nodes(o) == ("node1",) for o in ops(module, TransposeOp))


def random_network(b: GraphBuilder, random: np.random.Generator) -> SSAValue:
    x = b.input("n", int(random.integers(1, 12)), int(random.integers(7, 12)), int(random.integers(7, 12)))
    for _ in range(7):
        features = int(random.integers(1, 14))
        small = min(d for d in shape_of(x)[2:] if isinstance(d, int)) < 3
        choices: list[Step] = [pointwise(features), biased(), mapped("sigmoid(x0)"), mapped("exp(-x0)"), pad(), gated]
        choices += [pad("-inf"), joined(pointwise(features), pointwise(4)), residual(biased("x0 * x1"))]
        if not small:
            choices += [conv(features, (2, 3)), conv(features, strides=(2, 1)), depthwise, pool("max"), pool("add")]
        x = choices[random.integers(len(choices))](b, x)
        if isinstance(x.owner, PadOp) and x.owner.value.data == "-inf":
            x = b.add(PoolOp("max", x, [2, 2], [1, 1], [1, 1]))
    return x


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("seed", range(25))
def test_random_networks_through_graph_and_layout(seed: int) -> None:
    b = GraphBuilder(seed)
    y = random_network(b, np.random.default_rng(seed))
    check(b, [y], *graph_pipeline(), *layout_pipeline(), target=FOUR, tolerance=2e-5)


@pytest.mark.parametrize(
    ("text", "lanes", "finite", "after"),
    [
        ("max(x0, 0)", [ZERO], True, ZERO),
        ("exp(x0)", [ZERO], True, frozenset([1.0])),
        ("1 / x0", [ZERO], False, None),
        ("log(x0 + 1)", [ZERO], True, ZERO),
        ("x0 * x1", [ZERO, ANY], True, ZERO),
        ("x0 + x1", [ZERO, ANY], True, ANY),
        ("exp(x1) * x0", [ZERO, ANY], False, None),
        ("x0 / x1", [ZERO, ANY], False, None),
        ("max(x0, 1)", [frozenset([0.0, 2.0])], True, frozenset([1.0, 2.0])),
        ("x0 * f32(s)", [ZERO], True, ZERO),
        ("x0 + f32(s)", [ZERO], True, ANY),
        ("x0 / f32(s)", [ZERO], False, None),
    ],
)  # fmt: skip
def test_lanes_after_a_map(text: str, lanes: list, finite: bool, after: object) -> None:
    got = after_map(parse(text), lanes, ["f32"] * len(lanes))
    assert got[0] == finite
    assert not finite or got[1] == after


def test_lanes_of_predicates_after_a_map() -> None:
    assert after_map(parse("where(x0 | x1, x2, 1)"), [ZERO, frozenset([1.0]), ZERO], ["i1", "i1", "f32"]) == (
        True,
        ZERO,
    )
    assert after_map(parse("x0 ^ 3"), [frozenset([1.0])], ["i32"]) == (True, frozenset([2.0]))


def test_lanes_after_a_reduction() -> None:
    assert after_combine("max", frozenset([0.0, -np.inf])) == (True, ZERO)
    assert after_combine("min", frozenset([0.0, -np.inf]))[0] is False
    assert after_combine("add", ZERO) == (True, ZERO)
    assert after_combine("add", frozenset([1.0])) == (True, ANY)
    assert after_combine("mul", ANY)[0] is False
