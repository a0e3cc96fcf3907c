"""The local form of an operator: the same operator on the part of each operand that a rank has."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, TensorType
from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.dist.states import SplitAttr
from mlc.dialects.graph import GraphOp, source_nodes, with_nodes
from mlc.dialects.graph.base import dims_attr, dims_of
from mlc.dialects.types import Shape, element_of, shape_of, tensor
from mlc.passes.distribute.rules.extents import static
from mlc.passes.distribute.rules.strategy import Strategy, local_shape

SHAPES = ("shape", "sizes")
"""The properties that hold the shape of an operator's result."""


def local_types(op: GraphOp, strategy: Strategy, blocks: int) -> list[TensorType]:
    """Return the types of the operands that a rank has."""
    shapes = [local_shape(shape_of(x), s, blocks) for x, s in zip(op.operands, strategy.operands, strict=True)]
    return [tensor(element_of(x), shape) for x, shape in zip(op.operands, shapes, strict=True)]


def on_placeholders(op: GraphOp, strategy: Strategy, blocks: int) -> GraphOp | None:
    """Return the local form on values that nothing computes; None where it does not exist."""
    values = Block(arg_types=local_types(op, strategy, blocks)).args
    try:
        return local_form(op, values, strategy, blocks)
    except (VerifyException, ValueError):
        return None


def local_form(op: GraphOp, operands: Sequence[SSAValue], strategy: Strategy, blocks: int) -> GraphOp:
    """Return the operator on a rank's operands.

    Raises:
        VerifyException: the operator does not exist for these shapes.
    """
    made = op.clone()
    made.operands = operands
    shape = local_shape(shape_of(op.results[0]), strategy.result, blocks)
    for name in SHAPES:
        if name in op.properties:
            made.properties[name] = dims_attr(shape)
    if strategy.iterator is not None and "reduce" in op.properties:
        made.properties["reduce"] = dims_attr(_reduced(op, strategy.iterator, blocks))
    if "groups" in op.properties:
        _divide_groups(op, made, strategy, blocks)
    made.attributes.clear()
    with_nodes(made, source_nodes(op))
    made.results[0]._type = tensor(element_of(op.results[0]), shape)
    made.results[0]._type = made.infer()
    if shape_of(made.results[0]) != shape:
        raise VerifyException(f"{op.name}: the local form has shape {shape_of(made.results[0])}, not {shape}")
    return made


def _reduced(op: GraphOp, divided: str, blocks: int) -> Shape:
    extents = list(dims_of(op.properties["reduce"]))  # type: ignore[arg-type]
    n = int(divided[1:])
    extents[n] = static(extents[n]) // blocks
    return tuple(extents)


def _divide_groups(op: GraphOp, made: GraphOp, strategy: Strategy, blocks: int) -> None:
    """Divide the groups of a convolution whose channels are divided with its filters."""
    groups = op.properties["groups"]
    assert isinstance(groups, IntegerAttr)
    if strategy.operands[0] == SplitAttr.of(1) and strategy.result == SplitAttr.of(1):
        if groups.value.data % blocks:
            raise VerifyException(f"{op.name}: {groups.value.data} groups in {blocks} blocks")
        made.properties["groups"] = IntegerAttr(groups.value.data // blocks, 64)
