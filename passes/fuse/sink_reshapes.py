"""Reshape sinking (``sink-reshapes``): a reshape moves after the elementwise operator that reads it, which then fuses
with its producer.

    %r = graph.reshape(%c) : 6x8 -> 2x3x8             %m = graph.map "x0 + x1"(%c, %bias) : 6x8
    %m = graph.map "x0 + x1"(%r, %bias) : 2x3x8  →    %r = graph.reshape(%m) : 6x8 -> 2x3x8

An elementwise operator that is the epilogue of a contraction, its other operand, is not moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, MapOp, ReshapeOp, SliceOp, source_nodes, with_nodes
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import Shape, shape_of
from mlc.passes.fuse.grouping.views import slice_offset

Blocks = list[tuple[tuple[int, int], tuple[int, int]]]


def blocks(source: Shape, target: Shape) -> Blocks:
    """Return the smallest ranges of dimensions with equal numbers of elements, as pairs (range of ``source``, range of
    ``target``)."""
    out: Blocks = []
    a = b = 0
    while a < len(source) or b < len(target):
        i, j = a, b
        left, right = _take(source, i), _take(target, j)
        i, j = min(i + 1, len(source)), min(j + 1, len(target))
        while left != right and (i < len(source) or j < len(target)):
            grow_left = j >= len(target) or (i < len(source) and _smaller(left, right))
            if grow_left:
                left, i = left * source[i], i + 1
            else:
                right, j = right * target[j], j + 1
        out.append(((a, i), (b, j)))
        a, b = i, j
    return out


def _take(shape: Shape, at: int) -> DimLike:
    return shape[at] if at < len(shape) else 1


def _smaller(left: DimLike, right: DimLike) -> bool:
    if isinstance(left, int) and isinstance(right, int):
        return left < right
    return isinstance(left, int) or len(str(left)) < len(str(right))


def carried(shape: Shape, rank: int, runs: Blocks, target: Shape, source: Shape) -> Shape | None:
    """Return the shape in which an operand of shape ``shape``, which broadcasts to ``source``, broadcasts to
    ``target``; None if there is none."""
    full = (1,) * (rank - len(shape)) + tuple(shape)
    out: list[DimLike] = []
    for (a, i), (b, j) in runs:
        if all(d == 1 for d in full[a:i]):
            out += [1] * (j - b)
        elif full[a:i] == source[a:i]:
            out += target[b:j]
        else:
            return None
    return tuple(out)


@dataclass(frozen=True)
class SinkReshapes(ModulePass):
    name = "sink-reshapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for map_op in [o for o in op.walk() if isinstance(o, MapOp)]:
            sink(map_op)


def sink(op: MapOp) -> None:
    """Move a reshape after ``op``, the map that is its only reader, if all operands of ``op`` can be reshaped alike."""
    shape = shape_of(op.result)
    if any(isinstance(a.owner, ContractOp) and a.has_one_use() and shape_of(a) == shape for a in op.args):
        return
    for arg in op.args:
        reshape = arg.owner
        if not _movable(arg, reshape, shape):
            continue
        source = shape_of(reshape.input)  # type: ignore[union-attr]
        runs = blocks(shape, source)
        targets = [carried(shape_of(a), len(shape), runs, source, shape) for a in op.args]
        if all(t is not None for t in targets):
            _rewrite(op, [t for t in targets if t is not None])
            return


def _movable(arg: SSAValue, reshape: object, shape: Shape) -> bool:
    if not isinstance(reshape, ReshapeOp) or shape_of(arg) != shape or not arg.has_one_use():
        return False
    producer = reshape.input.owner
    if isinstance(producer, SliceOp) and slice_offset(producer) is not None:
        return False  # a zero-copy view, which no kernel computes
    return isinstance(producer, Operation) and producer.name not in ("graph.weight", "graph.constant")


def _rewrite(op: MapOp, targets: Sequence[Shape]) -> None:
    block = op.parent
    assert block is not None
    args: list[SSAValue] = []
    for arg, target in zip(op.args, targets, strict=True):
        owner = arg.owner
        if shape_of(arg) == target:
            args.append(arg)
        elif isinstance(owner, ReshapeOp) and shape_of(owner.input) == target:
            args.append(owner.input)
        else:
            view = ReshapeOp(arg, target)
            block.insert_op_before(view, op)
            args.append(view.result)
    inner = with_nodes(MapOp(op.scalar, args), source_nodes(op))
    back = ReshapeOp(inner.results[0], shape_of(op.result))
    block.insert_ops_before([inner, back], op)
    op.result.replace_all_uses_with(back.result)
    old = [a.owner for a in op.args]
    op.detach()
    op.erase()
    for owner in dict.fromkeys(old):
        if isinstance(owner, ReshapeOp) and not owner.result.uses:
            owner.detach()
            owner.erase()
