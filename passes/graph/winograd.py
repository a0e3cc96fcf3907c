"""``winograd``: a 3x3 convolution of stride 1 makes tiles of outputs from fewer products, where that is faster.

    %y = graph.conv(%x, %w) {layout = "NCXc"} : (1x4x58x58x16, 4x4x3x3x16x16)
    %z = graph.map "max(x0 + x1, 0)"(%y, %bias)

  → %t = graph.winograd_rows(%x) {m = 4} : 1x4x14x6x58x16
    %v = graph.winograd_input(%t) {m = 4} : 1x144x196x16
    %u = G w Gᵀ, a weight : 144x4x1x16x16
    %q = graph.conv(%v, %u) {groups = 36, layout = "NCXc"} : 1x144x196x16
    %s = graph.winograd_sums(%q) {m = 4, extents = [56, 56]} : 1x4x14x4x14x6x16
    %z = graph.winograd_output "max(x0 + x1, 0)"(%s, %bias) {m = 4, extents = [56, 56]}

F(4, 3) has a quarter of the products and F(2, 3) 4/9 of them, but (4 or 1.8 times) the weights, and two transforms.
The error of F(4, 3) is 4 to 5 times that of the plain sum: ``numerics = "strict"`` leaves this pass out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.dims import product
from mlc.dialects.graph import (
    ConstantOp,
    ContractOp,
    ConvOp,
    MapOp,
    PadOp,
    WinogradInputOp,
    WinogradOutputOp,
    WinogradRowsOp,
    WinogradSumsOp,
    dims_of,
    ints_of,
    source_nodes,
)
from mlc.dialects.graph.winograd import TAPS, matrices
from mlc.dialects.types import element_of, shape_of
from mlc.passes.graph.constants import constant_values, sole_user
from mlc.passes.graph.layout import Emitter
from mlc.passes.rewriter import bodies, erase_unused

FLOAT = 4  # bytes
ROWS = 8  # of tiles, which threads share out


@dataclass(frozen=True)
class Winograd(ModulePass):
    """``near``, ``cache`` and ``memory``: floating-point operations in the time a byte takes from L2, L3 and memory;
    ``large``: bytes above which a value of the model is in memory; ``gain``: how many times faster it has to be;
    ``row``: bytes that a row of tiles may take on the stack, ``l2``: with the weights."""

    name = "winograd"
    near: float = 2.0
    cache: float = 6.0
    memory: float = 8.0
    large: int = 8 << 20
    gain: float = 1.15
    row: int = 448 << 10
    l2: int = 1 << 20

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            constants = constant_values(body)
            for conv in [o for o in body.ops if isinstance(o, ConvOp)]:
                if conv.weight in constants and _applies(conv) and (m := self._tile(conv)):
                    _replace(conv, m, self._stays(conv, m))

    def _tile(self, conv: ConvOp) -> int:
        """The size of tile that takes the least time; 0: leave the convolution as it is."""
        best, least = 0, self._cost(conv, 0)
        for m in (2, 4):  # the larger one has more weights and a larger error
            if (cost := self._cost(conv, m)) * self.gain <= least:
                best, least = m, cost
        return best

    def _cost(self, conv: ConvOp, m: int) -> float:
        """Time, as the floating-point operations it would suffice for: products or their weights, and transforms."""
        filters, channels, h, w = _sizes(conv)
        points = -(-h // m) * -(-w // m) if m else h * w
        products = ((m + TAPS - 1) ** 2 if m else TAPS**2) * filters * channels
        time = max(2.0 * products * points, self.memory * FLOAT * products)
        if m:
            moved = (m + TAPS - 1) ** 2 * points * (channels + filters) * FLOAT
            where = self.near if self._stays(conv, m) else self.memory if moved > self.large else self.cache
            time += 2 * moved * where
        return time

    def _stays(self, conv: ConvOp, m: int) -> bool:
        """Whether all that a row of tiles needs stays in L2, where one kernel does everything row by row."""
        filters, channels, h, w = _sizes(conv)
        areas = (m + TAPS - 1) ** 2
        row, weights = areas * (w // m) * (channels + filters) * FLOAT, areas * channels * filters * FLOAT
        rows = h // m if h % m == w % m == 0 and shape_of(conv.result)[0] == 1 else 0
        return rows >= ROWS and row <= self.row and row + weights <= self.l2


def _sizes(conv: ConvOp) -> tuple[int, int, int, int]:
    """Filters, channels and extents."""
    (_, f, h, w, b), (_, c, *_, bi, _) = shape_of(conv.result), shape_of(conv.weight)
    filters, channels = product((f, b)), product((c, bi))
    assert isinstance(filters, int) and isinstance(channels, int) and isinstance(h, int) and isinstance(w, int)
    return filters, channels, h, w


def _applies(conv: ConvOp) -> bool:
    weight, out = shape_of(conv.weight), shape_of(conv.result)
    plain = ints_of(conv.strides) == ints_of(conv.dilations) == (1, 1) and conv.groups.value.data == 1
    blocked = conv.layout.data == "NCXc" and weight[2:4] == (TAPS, TAPS) and weight[-2] == weight[-1]
    return plain and blocked and element_of(conv.result) == "f32" and all(isinstance(d, int) and d for d in out[1:])


def _replace(conv: ConvOp, m: int, deep: bool) -> None:
    user = sole_user(conv.result)
    fuses = isinstance(user, MapOp) and user.args[0] is conv.result and user.result.type == conv.result.type
    last: ConvOp | MapOp = user if fuses and isinstance(user, MapOp) else conv
    emitter = Emitter(last, (*source_nodes(conv), *(source_nodes(last) if fuses else ())))
    height, width = (int(d) for d in shape_of(conv.result)[2:4])  # type: ignore[arg-type]
    rows = emitter.emit(WinogradRowsOp(_whole_tiles(conv.input, (height, width), m, emitter), m))
    tiles = emitter.emit(WinogradInputOp(rows, m, deep))
    areas, ones = (m + TAPS - 1) ** 2, [1, 1] if deep else [1]
    products = emitter.emit(ConvOp(tiles, _filters(conv.weight, m, ones, emitter), ones, ones, areas, "NCXc"))
    expr, others = (last.expr.data, last.args[1:]) if isinstance(last, MapOp) else ("x0", ())
    sums = emitter.emit(WinogradSumsOp(products, m, (height, width)))
    out = emitter.emit(WinogradOutputOp(expr, [sums, *others], m, (height, width)))
    last.result.replace_all_uses_with(out)
    erase_unused([last])


def _whole_tiles(x: SSAValue, extents: tuple[int, int], m: int, emitter: Emitter) -> SSAValue:
    """``x`` with zeros behind, for the last tiles to be whole; a padding by zeros that is there becomes larger."""
    more = [0, 0, *(-extent % m for extent in extents), 0]
    if not any(more):
        return x
    rank, owner = len(more), x.owner
    zeros = isinstance(owner, PadOp) and owner.number == 0 and not any(ints_of(owner.interior))
    if zeros and isinstance(owner, PadOp) and sole_user(x):
        high = [a + b for a, b in zip(dims_of(owner.high), more, strict=True)]
        padding = Emitter(emitter.anchor, source_nodes(owner))
        return padding.emit(PadOp(owner.input, dims_of(owner.low), high, owner.value.data))
    return emitter.emit(PadOp(x, [0] * rank, more))


def _filters(weight: SSAValue, m: int, ones: Sequence[int], emitter: Emitter) -> SSAValue:
    """G w Gᵀ of each filter: [F, C, 3, 3, b, b'] → [a*a*F, C, *ones, b, b']."""
    g = emitter.emit(ConstantOp(np.asarray(matrices(m)[1], np.float32)))
    rows: Operation = ContractOp("ai,FCijcf->FCajcf", g, weight)
    both = emitter.emit(ContractOp("bj,FCajcf->abFCcf", g, emitter.emit(rows)))
    a, _, f, c, *blocks = shape_of(both)
    return emitter.reshape(both, (a * a * f, c, *ones, *blocks))
