"""The local form of an operator: the same operator on the part of each operand that a rank has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects.builtin import IntegerAttr, TensorType
from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.dist.states import SplitAttr
from mlc.dialects.graph import GraphOp, source_nodes, with_nodes
from mlc.dialects.graph.base import dims_attr, dims_of
from mlc.dialects.semantics.dims import DimLike, evaluate
from mlc.dialects.types import Shape, element_of, shape_of, tensor
from mlc.passes.distribute.rules.strategy import Strategy, local_shape

SHAPES = ("shape", "sizes")
"""The properties that hold the shape of an operator's result."""


def local_types(op: GraphOp, strategy: Strategy, blocks: int, rank: int | None = None) -> list[TensorType]:
    """Return the types of the operands that a rank has."""
    shapes = [local_shape(shape_of(x), s, blocks, rank) for x, s in zip(op.operands, strategy.operands, strict=True)]
    return [tensor(element_of(x), shape) for x, shape in zip(op.operands, shapes, strict=True)]


def on_placeholders(op: GraphOp, strategy: Strategy, blocks: int, rank: int | None = None) -> GraphOp | None:
    """Return the local form, of ``rank`` or with symbolic extents, on values that nothing computes; None where it does
    not exist."""
    values = Block(arg_types=local_types(op, strategy, blocks, rank)).args
    try:
        return local_form(op, values, strategy, blocks, rank)
    except (VerifyException, ValueError):
        return None


def local_form(
    op: GraphOp,
    operands: Sequence[SSAValue],
    strategy: Strategy,
    blocks: int,
    rank: int | None = None,
    sizes: Mapping[str, DimLike] = MappingProxyType({}),
) -> GraphOp:
    """Return the operator on a rank's operands; ``sizes`` are the names of uneven blocks.

    Raises:
        VerifyException: the operator does not exist for these shapes.
    """
    made = op.clone()
    made.operands = operands
    shape = renamed(local_shape(shape_of(op.results[0]), strategy.result, blocks, rank), sizes)
    for name in SHAPES:
        if name in op.properties:
            made.properties[name] = dims_attr(shape)
    if strategy.iterator is not None and "reduce" in op.properties:
        made.properties["reduce"] = dims_attr(renamed(_reduced(op, strategy, blocks, rank), sizes))
    if "groups" in op.properties:
        _divide_groups(op, made, strategy, blocks)
    made.attributes.clear()
    with_nodes(made, source_nodes(op))
    made.results[0]._type = tensor(element_of(op.results[0]), shape)
    made.results[0]._type = made.infer()
    if shape_of(made.results[0]) != shape:
        raise VerifyException(f"{op.name}: the local form has shape {shape_of(made.results[0])}, not {shape}")
    return made


def renamed(shape: Shape, sizes: Mapping[str, DimLike]) -> Shape:
    """Return a shape with the program's names of the sizes of blocks."""
    return tuple(evaluate(d, sizes) for d in shape)


def _reduced(op: GraphOp, strategy: Strategy, blocks: int, rank: int | None) -> Shape:
    extents = dims_of(op.properties["reduce"])  # type: ignore[arg-type]
    n, granule = int(str(strategy.iterator)[1:]), strategy.granule
    return local_shape(extents, SplitAttr.of(n, granule), blocks, rank)


def _divide_groups(op: GraphOp, made: GraphOp, strategy: Strategy, blocks: int) -> None:
    """Divide the groups of a convolution whose channels are divided with its filters."""
    groups = op.properties["groups"]
    assert isinstance(groups, IntegerAttr)
    if strategy.operands[0] == SplitAttr.of(1) and strategy.result == SplitAttr.of(1):
        if groups.value.data % blocks:
            raise VerifyException(f"{op.name}: {groups.value.data} groups in {blocks} blocks")
        made.properties["groups"] = IntegerAttr(groups.value.data // blocks, 64)
