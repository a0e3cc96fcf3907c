"""Each operator on a batch, for all choices of batched operands, against the operator on one element at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from operator_cases import CASES, Maker, normal
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.batching import Batch, Batching, NotBatched
from mlc.dialects.graph import ArgsortOp, BitcastOp, LoopOp, NonzeroOp, YieldOp
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.semantics.interpreter import run_block
from mlc.dialects.types import element_of_dtype, tensor
from mlc.dialects.weights import WeightStore

FURTHER: dict[str, tuple[Maker, Sequence[Array]]] = {
    "argsort": (lambda x: ArgsortOp(x, 3, True), [normal(2, 5, 1)]),
    "top": (lambda x: ArgsortOp(x, 1, False), [normal(2, 9, 1)]),
    "bitcast": (lambda x: BitcastOp(x), [np.arange(16, dtype="u1").reshape(2, 8) * 13]),
}
ALL = {**CASES, **FURTHER}
SIZE = 3


def region(op: Maker, arrays: Sequence[Array]) -> Block:
    block = Block(arg_types=[tensor(element_of_dtype(a.dtype), a.shape) for a in arrays])
    made = op(*block.args)
    block.add_ops([made, YieldOp([*made.results])])
    return block


def batched(op: Maker, arrays: Sequence[Array], flags: Sequence[bool], size: DimLike) -> Block:
    block = Block(
        arg_types=[
            tensor(element_of_dtype(a.dtype), (size, *a.shape) if flag else a.shape)
            for a, flag in zip(arrays, flags, strict=True)
        ]
    )

    def emit(made: Operation) -> SSAValue:
        made.verify_()
        block.add_op(made)
        return made.results[0]

    batching = Batching(size, emit, lambda trips: "step0")
    given = [Batch(arg, flag) for arg, flag in zip(block.args, flags, strict=True)]
    block.add_op(YieldOp([batching.whole(y) for y in batching.block(region(op, arrays), given)]))
    return block


def others(a: Array, n: int) -> Array:
    """Element ``n`` of a batch of arrays like ``a``."""
    if a.dtype.kind != "f":
        return np.roll(a, n, 0)
    return a * (1 + 0.3 * n) + 0.1 * n * np.cos(np.arange(a.size)).reshape(a.shape)


@pytest.mark.parametrize("size", [SIZE, Dim.symbol("n")], ids=["static", "open"])
@pytest.mark.parametrize("case", ALL)
def test_a_batch_is_its_elements(case: str, size: DimLike) -> None:
    op, arrays = ALL[case]
    for flags in product([False, True], repeat=len(arrays)):
        elements = [[others(a, n) if flag else a for a, flag in zip(arrays, flags, strict=True)] for n in range(SIZE)]
        columns = zip(zip(*elements, strict=True), flags, strict=True)
        whole = [np.stack(column) if flag else column[0] for column, flag in columns]
        found = run_block(batched(op, arrays, flags, size), whole, WeightStore(), {"n": SIZE})[0]
        wanted = np.stack([run_block(region(op, arrays), each, WeightStore(), {})[0] for each in elements])
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", [case for case in CASES if case not in ("conv_transpose",)])
def test_no_loop_over_the_batch(case: str) -> None:
    op, arrays = CASES[case]
    block = batched(op, arrays, [True] * len(arrays), SIZE)
    assert not any(isinstance(each, LoopOp) for each in block.ops)


def test_dimensions_that_depend_on_data() -> None:
    with pytest.raises(NotBatched, match=r"graph.nonzero of a batch: each element would have other dimensions"):
        batched(lambda x: NonzeroOp("size0", x), [np.array([True, False])], [True], SIZE)
