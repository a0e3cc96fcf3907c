"""Data layouts: shapes, indices and statements of packed operands; graph.pack, graph.unpack and decompose-pack."""

from __future__ import annotations

import numpy as np
import pytest
from graph_checks import GraphBuilder, check, ops, packing
from xdsl.context import Context
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph import ContractOp, ConvOp, LayoutAttr, PackOp, UnpackOp, layout
from mlc.dialects.semantics.interpreter import interpret
from mlc.errors import MlcError
from mlc.passes.layout.blocking.blocked_layout import panels
from mlc.passes.layout.decompose_pack import DecomposePack
from mlc.passes.layout.pack_operands import PackOperands
from mlc.passes.layout.verify_layout import VerifyLayout

TAGS = ["abcd", "aBcd4b", "ABcd4b3a", "cBda2b", "Abcd5a", "dcBA3b2a"]


@pytest.mark.parametrize("tag", TAGS)
def test_packing_holds_every_element_where_the_layout_says(tag: str) -> None:
    b = GraphBuilder()
    x, held = b.input(5, 6, 3, 2), LayoutAttr(tag)
    module = b.module(b.add(PackOp(x, held)))
    inputs = b.inputs()
    (array,), (packed,) = inputs.values(), interpret(module, b.weights, inputs).values()
    tiles = dict(held.tiles)
    for at in np.ndindex(array.shape):
        outer = [at[axis] // tiles.get(axis, 1) for axis in held.order]
        assert packed[(*outer, *(at[axis] % size for axis, size in held.tiles))] == array[at]
    assert np.count_nonzero(packed) == np.count_nonzero(array)  # all else is zero


@pytest.mark.parametrize("tag", TAGS)
def test_decomposed_packing_is_the_same(tag: str) -> None:
    b = GraphBuilder()
    packed = b.add(PackOp(b.input(5, 6, 3, 2), LayoutAttr(tag)))
    padding = [-(5, 6, 3, 2)[axis] % size for axis, size in LayoutAttr(tag).tiles]
    plain = b.add(UnpackOp(packed, LayoutAttr(tag, padding)))
    module = check(b, [packed, plain], DecomposePack())
    assert not ops(module, PackOp) and not ops(module, UnpackOp)


def test_unpacking_takes_packing_back() -> None:
    b = GraphBuilder()
    held = layout(2, [(1, 4)], (1, 0), [2])
    module = b.module(b.add(UnpackOp(b.add(PackOp(b.input(7, 10), LayoutAttr(held.tag))), held)))
    inputs = b.inputs()
    np.testing.assert_array_equal(*interpret(module, b.weights, inputs).values(), *inputs.values())


def test_an_index_is_divided_where_an_iterator_cannot_be_split() -> None:
    b = GraphBuilder()
    held = [layout(4), layout(4, [(0, 4), (1, 3)]), layout(4)]  # weights alone are packed
    x, w = b.input(1, 6, 5, 5), b.weight(8, 6, 3, 3)
    plain = b.add(ConvOp(x, w, [1, 1], [1, 1]))
    packed = b.add(ConvOp(x, b.add(PackOp(w, held[1])), [1, 1], [1, 1], layouts=held))
    (s,) = packed.owner.statements()
    assert "fi" not in s.iters and "(((g * 8) + f) // 4)" in str(s.value)
    module = b.module(plain, packed)
    np.testing.assert_allclose(*interpret(module, b.weights, b.inputs()).values(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("tag", ["aBcd", "abcd4b", "aBcd4b2b", "aacd", "aBcd0b", "4b", "aBcdb4"])
def test_tags_that_are_no_layout(tag: str) -> None:
    with pytest.raises(VerifyException):
        LayoutAttr(tag).verify()


def test_an_operator_reads_what_was_packed() -> None:
    b = GraphBuilder()
    packed = b.add(PackOp(b.input(8, 8), layout(2, [(0, 4)])))  # 2x8x4, as panels of columns would be
    op = ContractOp("mk,kn->mn", b.input(3, 8), packed, layouts=[layout(2), panels(8, 4), layout(2)])
    with pytest.raises(VerifyException, match="an operand packed as .*Ab4a.* is read as .*Ba4b"):
        op.verify_()


@pytest.mark.parametrize(("rows", "times"), [(0, 0), (4, 1), (5, 0)])
def test_an_operand_that_is_not_constant_is_packed_at_run_time(rows: int, times: int) -> None:
    b = GraphBuilder()
    y = b.add(ContractOp("mk,kn->mn", b.input(4, 6), b.input(6, 40)))
    module = check(b, [y], PackOperands(rows), tolerance=1e-6)
    assert len(ops(module, PackOp)) == times
    assert bool(packing(ops(module, ContractOp)[0])) == bool(times)


def test_verify_layout_refuses_packing_that_is_left() -> None:
    b = GraphBuilder()
    module = b.module(b.add(PackOp(b.input(4, 6), layout(2, [(1, 4)]))))
    with pytest.raises(MlcError, match=r"decompose-pack writes it in other operators.*graph\.pack.*verify-layout"):
        VerifyLayout().apply(Context(), module)
    DecomposePack().apply(Context(), module)
    VerifyLayout().apply(Context(), module)
