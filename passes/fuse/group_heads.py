"""``group-heads``: attention heads that share keys and values read them where they are (grouped queries).

    %b = graph.broadcast(%k) : 4x1x256x64 -> 4x2x256x64
    %r = graph.reshape(%b) : 8x256x64                      %g = graph.reshape(%q) : 8x1x64 -> 4x2x1x64
    %s = graph.contract "amk,ank->amn"(%q, %r)          →  %s = graph.contract "abmk,ank->abmn"(%g, %k) : 4x2x1x256
    … softmax, and the same of the values …                … %o reshaped to 8x1x64

Ainslie et al., GQA: Training generalized multi-query transformer models, 2023.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.dims import DimLike
from mlc.dialects.graph import BroadcastOp, ContractOp, MapOp, ReshapeOp, TransposeOp, ints_of, source_nodes, with_nodes
from mlc.dialects.types import shape_of
from mlc.passes.fuse.cascades import Cascade, cascades
from mlc.passes.fuse.split_cascade import SplitCascade
from mlc.passes.rewriter import bodies, erase_unused, producer


@dataclass(frozen=True)
class GroupHeads(ModulePass):
    name = "group-heads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            for each in cascades(list(body.ops)):
                _group(each)


Step = Callable[[SSAValue], Operation]


@dataclass(frozen=True)
class _Repeated:
    """What ``steps`` make of ``source`` are matrices, of which a value has each ``parts[1]`` times in a row along
    ``axis``."""

    axis: int
    parts: tuple[DimLike, DimLike]
    source: SSAValue
    steps: tuple[Step, ...]

    def then(self, axis: int, step: Step) -> _Repeated:
        """The same after one step more, which leaves the copies along ``axis``."""
        return replace(self, axis=axis, steps=(*self.steps, step))

    def insert_before(self, user: Operation) -> SSAValue:
        """The matrices."""
        assert (block := user.parent) is not None
        value = self.source
        for step in self.steps:
            op = with_nodes(step(value), source_nodes(user))
            block.insert_op_before(op, user)
            value = op.results[0]
        return value


def _group(found: Cascade) -> None:
    first, last = found.ops[0], found.ops[-1]
    assert isinstance(first, ContractOp) and isinstance(last, ContractOp)
    keys, values = _repeated(first.rhs), _repeated(last.rhs)
    if keys is None or values is None or keys.parts != values.parts:
        return
    head = first.terms[1][keys.axis]
    axis = first.terms[2].find(head)
    same = last.terms[0].find(last.terms[1][values.axis]) == axis
    if axis >= 0 and head in first.terms[0] and same:
        old = [first.rhs.owner, last.rhs.owner]
        shared = {first.rhs: keys.insert_before(first), last.rhs: values.insert_before(first)}
        SplitCascade(found, axis, keys.parts, shared).run()
        erase_unused(o for o in old if isinstance(o, Operation))


def _repeated(value: SSAValue) -> _Repeated | None:
    """What ``value`` repeats along an axis, if it is reshape(broadcast(x)) of 4x1x… to 4x2x… to 8x…, or that transposed
    or scaled."""
    match value.owner:
        case TransposeOp(input=inner, perm=perm) if found := _repeated(inner):
            order = ints_of(perm)
            return found.then(order.index(found.axis), lambda x: TransposeOp(x, order))
        case MapOp(args=(inner,), scalar=scalar) if found := _repeated(inner):
            return found.then(found.axis, lambda x: MapOp(scalar, [x]))
    merge = producer(value, ReshapeOp)
    stretch = merge and producer(merge.input, BroadcastOp)
    if stretch is None:
        return None
    before, after, merged = (shape_of(v) for v in (stretch.input, stretch.result, value))
    for n, (count, times) in enumerate(itertools.pairwise(after)):
        start, end = after[: n + 1], after[n + 2 :]
        if before == (*start, 1, *end) and merged == (*start[:-1], count * times, *end):
            return _Repeated(n, (count, times), stretch.input, (_reshape([*start, *end]),))
    return None


def _reshape(shape: Sequence[DimLike]) -> Step:
    return lambda x: ReshapeOp(x, shape)
