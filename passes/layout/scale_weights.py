"""Scale folding at run time (``scale-weights``): a scale of channels that is computed at run time (squeeze and
excitation) moves from the image to the weights of the convolution, if the weights have fewer elements.

    %m = graph.map "x0 * x1"(%gate, %x) : 1x6x56x56x16     %w2 = graph.map "x0 * x1"(%w, reshaped %gate) : 2x6x1x1x16x16
    %y = graph.conv(%m, %w)                             →   %y = graph.conv(%x, %w2)

The products are rounded in another order, so ``numerics = strict`` changes nothing.
Hu et al., Squeeze-and-excitation networks, 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ConvOp, MapOp, ReshapeOp, source_nodes
from mlc.dialects.semantics.expr import Expr, Load, loads
from mlc.dialects.types import element_of, elements_in, is_float, shape_of
from mlc.passes.graph.fold_scale import affine, scale_weight
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused, producer


@dataclass(frozen=True)
class ScaleWeights(ModulePass):
    """Multiply scales of channels into weights instead of images. ``numerics``: ``strict`` does nothing."""

    name = "scale-weights"
    numerics: str = "default"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.numerics == "strict":
            return
        for block in bodies(op):
            for conv in [o for o in block.ops if isinstance(o, ConvOp) and _plain(o)]:
                _scale(conv)


def _plain(conv: ConvOp) -> bool:
    """Return whether ``conv`` is a convolution of floats without groups, so that each channel of the input has its own
    index in the weight."""
    return conv.groups.value.data == 1 and conv.product is None and is_float(element_of(conv.result))


def _scale(conv: ConvOp) -> None:
    """Move the factor of each input channel to the weight, if the weight has fewer elements than the image."""
    view = producer(conv.input, ReshapeOp)
    scaled = producer(view.input if view else conv.input, MapOp)
    if scaled is None or (view and not (view.result.has_one_use() and _keeps_channels(view, conv))):
        return
    gate = _gate(scaled, _channel_axes(conv, scaled.result)) if scaled.result.has_one_use() else None
    if gate and _smaller(conv.weight, scaled.result):
        _rewrite(conv, view, gate)
        erase_unused([view or scaled])


def _channel_axes(conv: ConvOp, value: SSAValue) -> set[int]:
    """Return the dimensions of the input ``value`` that index the channel: one, or two in a blocked layout."""
    return {1, len(shape_of(value)) - 1} if conv.layouts else {1}


def _keeps_channels(view: ReshapeOp, conv: ConvOp) -> bool:
    """Return whether a reshape changes only the spatial dimensions of an image."""
    before, after = shape_of(view.input), shape_of(view.result)
    return before[:2] == after[:2] and (conv.layouts is None or before[-1] == after[-1])


@dataclass(frozen=True)
class _Gate:
    """A map that computes ``x * factor``, where ``factor`` is an expression with one value for each channel."""

    op: MapOp
    x: SSAValue
    factor: Expr


def _gate(op: MapOp, channels: set[int]) -> _Gate | None:
    for n, x in enumerate(op.args):
        others = [v for v in op.args if v is not x]
        if x.type != op.result.type or len(others) != len(op.args) - 1:
            continue
        factor, shift = affine(op.scalar, Load(n)) or (None, None)
        by_channel = all(_by_channel(v, op.result, channels) for v in others)
        if factor is not None and loads(factor) and shift is None and by_channel:
            return _Gate(op, x, factor)
    return None


def _by_channel(value: SSAValue, whole: SSAValue, channels: set[int]) -> bool:
    """Return whether ``value`` has one element for each channel of ``whole``, and the batch of ``whole`` is 1."""
    shape = shape_of(whole)
    return shape[0] == 1 and shape_of(value) == tuple(d if n in channels else 1 for n, d in enumerate(shape))


def _smaller(weight: SSAValue, x: SSAValue) -> bool:
    fewer, more = elements_in(weight), elements_in(x)
    return isinstance(fewer, int) and isinstance(more, int) and fewer < more


def _rewrite(conv: ConvOp, view: ReshapeOp | None, gate: _Gate) -> None:
    axes = {1, len(shape_of(conv.weight)) - 2} if conv.layouts else {1}
    builder = OpBuilder(conv, source_nodes(gate.op))
    scale_weight(conv, MapOp.reading(gate.factor, gate.op.args), axes, builder)
    conv.operands[0] = builder.reshape(gate.x, shape_of(view.result)) if view else gate.x
