"""An LSTM whose weights are 8 bits: inputs and hidden states are quantized by their own range in each product.

Source: onnxruntime's DynamicQuantizeLSTM. The hidden states of all sequences of a batch have one range in each step;
those of the sequences that ended before the step are 0 in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.control.unroll import UNROLLED
from mlc.frontends.build.ops.quantization import dynamic_matmul
from mlc.frontends.build.ops.recurrent.cells import Cell, iterated, lstm_step, while_running
from mlc.frontends.build.tensors import Tensor


@dataclass(frozen=True)
class Weight:
    """The matrix of a direction in [D, K, N] of 8 bits, with its scale and zero point: one element, or one a column."""

    matrices: Tensor
    direction: int
    scale: Tensor
    zero: Tensor

    def product(self, build: Builder, x: Tensor, seen: Tensor | None = None) -> Tensor:
        """x, quantized by the range of ``seen`` (by default of x), times the matrix: f32."""
        # Taken from the weight where it is used: a loop repeats weights in its region, and nothing that is computed.
        matrix = build.reshape(build.cut(self.matrices, 0, self.direction, 1), self.matrices.shape[1:])
        return dynamic_matmul(build, x, matrix, self.scale, self.zero, seen)


@dataclass(frozen=True)
class QuantizedCell(Cell):
    """A cell whose recurrence is quantized."""

    weight: Weight

    def recur(self, h: Tensor) -> Tensor:
        return self.weight.product(self.build, h)


def quantized_lstm(
    cell: QuantizedCell, x: Tensor, weight: Weight, states: list[Tensor], backward: bool, lengths: Tensor | None
) -> tuple[Tensor, list[Tensor]]:
    """(hidden states of all steps [S, B, H], last states) of inputs ``x`` [S, B, I]; ``weight``: of the inputs."""
    build = cell.build
    x = _reversed(build, x, lengths) if backward else x
    inputs = _projected(cell, x, weight, lengths)

    def at(t: DimLike, x_t: Tensor, before: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        if lengths is None:
            new = lstm_step(cell, x_t, before)
            return new[0], new
        there = build.compute(f"i64(x0[i0]) >= {t}", [lengths], (*lengths.shape, 1))
        seen = build.map("where(x0, x1, 0)", there, before[0])
        return while_running(build, t, lengths, lstm_step(cell, x_t, [seen, before[1]]), before)

    ys, last = iterated(build, inputs, states, at, unrolled=UNROLLED)  # a step is some 25 operators
    return _reversed(build, ys, lengths) if backward else ys, last


def _projected(cell: QuantizedCell, x: Tensor, weight: Weight, lengths: Tensor | None) -> Tensor:
    """The products of the inputs of all steps: [S, B, 4*H]. Rows beyond the end of every sequence do not count in the
    range.
    """
    build, (steps, batch, size) = cell.build, x.shape
    flat, seen = build.reshape(x, (steps * batch, size)), None
    if lengths is not None:
        longest = build.reduce("max", lengths, [0], keepdims=True)
        seen = build.compute("where(i0 < i64(x1[0]), x0[i0, i1, i2], 0)", [x, longest], x.shape)
    y = weight.product(build, flat, seen)
    y = y if cell.bias is None else build.map("x0 + x1", y, cell.bias)
    return build.reshape(y, (steps, batch, y.shape[1]))


def _reversed(build: Builder, x: Tensor, lengths: Tensor | None) -> Tensor:
    """[S, B, N] with the steps of each sequence in reverse order. The rows after its end stay in place."""
    if lengths is None:
        return build.compute(f"x0[{x.shape[0]} - 1 - i0, i1, i2]", [x], x.shape)
    at = "where(i0 < i64(x1[i1]), i64(x1[i1]) - 1 - i0, i0)"
    return build.compute(f"x0[{at}, i1, i2]", [x, lengths], x.shape)
