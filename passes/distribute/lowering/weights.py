"""Weights in parts: of a weight that is read in equal blocks, a rank has its own, which its weights file holds.

    %w = graph.weight "up" : 512x2048                                  %b = graph.weight "up.model" : 512x1024
    %s = dist.reshard(%w) {source = #dist.whole,               →
           target = #dist.split<1>, axis = "model", …}

Blocks that are not equal are taken of the whole when the program runs, since the layout of a weights file is that of
all ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.ir import SSAValue

from mlc.dialects.comm import Group
from mlc.dialects.comm.world import current
from mlc.dialects.dist.states import SplitAttr, State
from mlc.dialects.graph import WeightOp
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import Shape, shape_of
from mlc.errors import MlcError
from mlc.passes.distribute.lowering.ranks import Ranks
from mlc.passes.distribute.rules.cost import is_even
from mlc.passes.op_builder import OpBuilder


def block_of_weight(build: OpBuilder, x: SSAValue, target: State, axis: str, ranks: Ranks) -> SSAValue | None:
    """Return the block of a weight as a weight of its own; None where ranks take blocks of the whole."""
    if not is_block(x, target, ranks.blocks) or ranks.weights is None:
        return None
    owner = cast(WeightOp, x.owner)
    if owner.entry.data not in ranks.weights:
        return None
    assert isinstance(target, SplitAttr)
    entry = ranks.weights.entry(owner.entry.data)
    shape = cast("tuple[int, ...]", ranks.local(shape_of(x), target))
    load = _block(entry.load, target.dim, shape, ranks.group)
    name = ranks.weights.add_lazy(f"{owner.entry.data}.{axis}", entry.dtype, shape, load, ranks.group.world)
    return build.emit(WeightOp(name, ranks.weights.entry(name).type))


def is_block(x: SSAValue, target: State, blocks: int) -> bool:
    """Return whether a value is a weight of which a rank needs one of equal blocks."""
    shape: Shape = shape_of(x)
    return isinstance(x.owner, WeightOp) and isinstance(target, SplitAttr) and is_even(target, shape, blocks)


def _block(load: Callable[[], Array], dim: int, shape: tuple[int, ...], group: Group) -> Callable[[], Array]:
    def block() -> Array:
        world = current()
        if world.ranks != group.world:
            raise MlcError(f"A weight in parts for {group.world} ranks is read on one of {world.ranks}",
                           hint="This is a fault of mlc: please report it")  # fmt: skip
        first = world.rank // group.stride % group.size * shape[dim]
        return load()[(slice(None),) * dim + (slice(first, first + shape[dim]),)]

    return block
