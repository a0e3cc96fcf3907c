"""fold-constants: what is known is computed, lazily and exactly; what is not, or would grow, stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graph_checks import EXTENTS, GraphBuilder, apply, check, ops
from xdsl.context import Context

from mlc.dialects.graph import (
    BroadcastOp,
    ComputeOp,
    ConcatOp,
    ConstantOp,
    ContractOp,
    ConvOp,
    GraphOp,
    MapOp,
    PadOp,
    PoolOp,
    ReduceOp,
    ReshapeOp,
    SliceOp,
    StructuredOp,
    TransposeOp,
    WeightOp,
    source_nodes,
)
from mlc.dialects.semantics.dims import Dim
from mlc.dialects.semantics.numpy_evaluators import kernel_of
from mlc.dialects.types import shape_of
from mlc.errors import InputError
from mlc.passes.graph.fold_constants import FoldConstants


def kernels() -> list[tuple[str, Any]]:
    return [
        ("reshape", lambda b: ReshapeOp(b.weight(2, 3, 4), [8, 3])),
        ("transpose", lambda b: TransposeOp(b.weight(2, 3, 4), [1, 2, 0])),
        ("broadcast", lambda b: BroadcastOp(b.weight(3, 1), [2, 3, 4])),
        ("slice", lambda b: SliceOp(b.weight(7, 5), [6, 1], [4, 2], [-2, 3])),
        ("slice to the start", lambda b: SliceOp(b.weight(4), [3], [4], [-1])),
        ("empty slice", lambda b: SliceOp(b.weight(4, 2), [0, 0], [0, 2], [1, 1])),
        ("pad", lambda b: PadOp(b.weight(2, 3), [1, 0], [2, 1], "-inf")),
        ("interior pad", lambda b: PadOp(b.weight(2, 3), [1, 0], [0, 2], "0", [2, 1])),
        ("concat", lambda b: ConcatOp([b.weight(2, 3), b.weight(2, 4)], 1)),
        ("map", lambda b: MapOp("where(x0 > x1, x0 / x1, 1.0)", [b.weight(2, 3), b.weight(3)])),
        ("map of shape alone", lambda b: MapOp("f32(3)", [b.weight(2, 3)])),
        ("sum", lambda b: ReduceOp("add", b.weight(2, 3, 4), [0, 2])),
        ("max, keepdims", lambda b: ReduceOp("max", b.weight(2, 3, 4), [1], keepdims=True)),
        ("contract", lambda b: ContractOp("mk,nk->mn", b.weight(2, 3), b.weight(4, 3))),
        ("conv", lambda b: ConvOp(b.weight(1, 2, 5, 6), b.weight(3, 2, 2, 3), [1, 2], [2, 1])),
        ("pool", lambda b: PoolOp("max", b.weight(1, 2, 5, 6), [2, 3], [1, 2], [1, 1])),
        ("gather", lambda b: ComputeOp("x0[x1[i0], i1]", [b.weight(5, 3), b.constant([4, 0], "int64")], [2, 3])),
        ("iota", lambda b: ComputeOp("f32(i0 * 3 + i1)", [], [2, 3])),
    ]


@pytest.mark.parametrize(("name", "make"), kernels(), ids=[n for n, _ in kernels()])
def test_a_kernel_is_what_the_operator_means(name: str, make: Any) -> None:
    b = GraphBuilder()
    op: StructuredOp = make(b)
    arrays = [b.weights[v.owner.entry.data] if isinstance(v.owner, WeightOp) else v.owner.array() for v in op.operands]
    expected, got = op.evaluate(arrays), kernel_of(op)(*arrays)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("name", "make"), kernels(), ids=[n for n, _ in kernels()])
def test_every_operator_folds(name: str, make: Any) -> None:
    b = GraphBuilder()
    value = b.add(make(b))
    result = b.add(MapOp("x0 + x1", [value, b.input(*shape_of(value))]))
    module = check(b, [result], FoldConstants(), tolerance=1e-6)
    assert [type(o) for o in ops(module, GraphOp)] == [MapOp]


def test_a_chain_becomes_one_weight_with_a_name_of_its_own() -> None:
    b = GraphBuilder()
    weight = b.stored(b.random.standard_normal((200, 100)).astype(np.float32), "fc.weight")
    panels = b.add(TransposeOp(b.add(ReshapeOp(weight, [200, 4, 25])), [1, 0, 2]))
    module = check(b, [b.add(MapOp("x0 * x1", [b.input(4, 200, 25), panels]))], FoldConstants())
    (left,) = ops(module, WeightOp)
    assert left.entry.data == "fc.weight.folded"
    assert source_nodes(left) == ("node2",)
    stored = b.weights["fc.weight.folded"]
    assert stored.flags.c_contiguous and stored.shape == (4, 200, 25)


def test_large_results_are_computed_when_asked_for() -> None:
    b = GraphBuilder()
    asked: list[str] = []
    large, small = np.ones((300, 100), np.float32), np.ones((30, 10), np.float32)
    for name, array in (("large", large), ("small", small)):
        b.weights.add_lazy(name, array.dtype, array.shape, lambda n=name, a=array: asked.append(n) or a)
    values = [b.add(TransposeOp(b.add(WeightOp(n, b.weights.entry(n).type)), [1, 0])) for n in ("large", "small")]
    apply(b, b.module(*values), [FoldConstants()])
    assert asked == ["small"]
    assert b.weights["large.folded"].shape == (100, 300) and asked == ["small", "large"]


def test_small_integers_and_scalars_are_inline() -> None:
    b = GraphBuilder()
    shape = b.add(ConcatOp([b.constant([2], "int64"), b.stored(np.array([3, 4]))], 0))
    scalar = b.stored(np.array(2.5, np.float32))
    module = check(b, [shape, b.add(MapOp("x0 * x1", [b.input(3), scalar]))], FoldConstants())
    assert [o.array().tolist() for o in ops(module, ConstantOp)] == [[2, 3, 4], 2.5]


def test_what_would_grow_stays() -> None:
    b = GraphBuilder()
    outer = b.add(MapOp("x0 * x1", [b.weight(300, 1), b.weight(1, 300)]))
    stretched = b.add(BroadcastOp(b.weight(300), [300, 300]))
    table = b.add(ComputeOp("f32(i0 - i1)", [], [300, 300]))
    module = check(b, [outer, stretched, table], FoldConstants())
    assert [type(o) for o in ops(module, GraphOp)] == [MapOp, BroadcastOp, ComputeOp]
    apply(b, module, [FoldConstants(limit=1 << 20)])
    assert not ops(module, GraphOp)


def test_symbols_and_inputs_stay() -> None:
    b = GraphBuilder()
    n = Dim.symbol("n")
    x = b.input("n", 4)
    reads = b.add(ComputeOp("i64(n) + i0", [], [2]))
    window = b.add(SliceOp(b.weight(9, 2), [n, 0], [2, 2], [1, 1]))
    wide = b.add(BroadcastOp(b.weight(4), [n, 4]))
    module = check(b, [reads, window, wide, b.add(MapOp("x0 * 2", [x]))], FoldConstants())
    assert [type(o) for o in ops(module, GraphOp)] == [ComputeOp, SliceOp, BroadcastOp, MapOp]
    assert EXTENTS["n"] + 2 <= 9


def test_without_the_weights_nothing_folds() -> None:
    b = GraphBuilder()
    module = b.module(b.add(TransposeOp(b.weight(30, 40), [1, 0])))
    FoldConstants().apply(Context(), module)
    assert len(ops(module, TransposeOp)) == 1


def test_a_constant_read_out_of_bounds_is_an_input_error() -> None:
    b = GraphBuilder()
    value = b.add(ComputeOp("x0[x1[i0]]", [b.weight(5), b.constant([7], "int64")], [1]))
    with pytest.raises(InputError, match=r"out of its bounds.*node2.*graph.compute"):
        apply(b, b.module(value), [FoldConstants()])


def test_shared_values_are_not_computed_again_and_again() -> None:
    b = GraphBuilder()
    value = b.weight(10)
    for _ in range(60):  # 2^60 evaluations if each use computed its operand anew
        value = b.add(MapOp("(x0 + x1) / 2", [b.add(MapOp("x0 + 1", [value])), b.add(MapOp("x0 - 1", [value]))]))
    module = check(b, [value], FoldConstants(), tolerance=1e-5)
    assert not ops(module, GraphOp)


def test_weights_may_be_made_out_of_little() -> None:
    b = GraphBuilder()
    stretched = b.add(BroadcastOp(b.constant(0.5), [200, 300]))
    y = b.add(ContractOp("mk,kn->mn", b.input(3, 200), b.add(MapOp("x0 * 2", [stretched]))))
    module = check(b, [y], FoldConstants(), tolerance=1e-6)
    assert [type(o) for o in ops(module, GraphOp)] == [ContractOp]
