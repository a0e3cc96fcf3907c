"""A decoder as a subgraph: its past is a buffer of which the first rows count."""

from __future__ import annotations

from dataclasses import dataclass

from onnx import GraphProto

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.indexing.sorting import cumulative
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node
from mlc.frontends.onnx.reading.types import element_of_onnx

FIRST_PAST = 3  # the input of a decoder's subgraph, after tokens, positions and mask


@dataclass(frozen=True)
class Decoder:
    """A subgraph of tokens [B, s], positions [B, s], a mask [B, past + s] and a past [2, B, heads, past, size] a layer,
    which gives logits [B, s, V] and the past with the new rows."""

    node: Node
    graph: GraphProto

    @property
    def layers(self) -> int:
        return len(self.graph.input) - FIRST_PAST

    def heads(self) -> tuple[int, int]:
        """The number of heads, and their size.

        Raises:
            NotSupported: the subgraph does not say.
        """
        if self.layers < 1:
            raise NotSupported("a decoder without a past; its inputs are tokens, positions, mask, past_0, …")
        dims = self.graph.input[FIRST_PAST].type.tensor_type.shape.dim
        if len(dims) != 5 or not (dims[2].dim_value and dims[4].dim_value):
            raise NotSupported(f"a decoder whose past is {[d.dim_value or d.dim_param for d in dims]}; "
                               "[2, batch, heads, past, size] with known heads and size is right")  # fmt: skip
        return dims[2].dim_value, dims[4].dim_value

    def none(self, batch: DimLike, most: DimLike) -> Tensor:
        """A past of zeros, with ``most`` rows."""
        (heads, size), build = self.heads(), self.node.build
        return build.broadcast(build.constant(0, self._element(FIRST_PAST)), (2, batch, heads, most, size))

    def run(self, tokens: Tensor, positions: Tensor, mask: Tensor, past: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """(scores of the token after the last one, [B, V] in f32; the past with the new rows)."""
        build, given = self.node.build, [tokens, positions, mask]
        given = [build.cast(x, self._element(n)) for n, x in enumerate(given)]
        logits, *present = self.node.branch(self.graph, [*given, *past])
        if logits.rank != 3 or len(present) < self.layers:
            raise NotSupported("a decoder whose outputs are not logits [batch, tokens, vocabulary] and a past a layer")
        last = build.cut(logits, 1, logits.shape[1] - 1, 1)
        scores = build.cast(build.reshape(last, (last.shape[0], last.shape[2])), "f32")
        return scores, present[: self.layers]

    def _element(self, n: int) -> str:
        return element_of_onnx(self.graph.input[n].type.tensor_type.elem_type)


def positions_of(build: Builder, mask: Tensor) -> Tensor:
    """[B, S] (i64): the number of tokens of the mask before each one, 0 for those that are not in it."""
    batch, steps = mask.shape
    before = build.reshape(cumulative(build, "add", build.reshape(mask, (batch, steps, 1))), (batch, steps))
    return build.map("where(x1 > 0, x0 - 1, 0)", before, mask)


def filled(build: Builder, present: Tensor, most: DimLike) -> Tensor:
    """A past as a buffer of ``most`` rows, zeros after its own."""
    return build.pad(present, [0] * 5, [0, 0, 0, most - present.shape[3], 0])


def with_row(build: Builder, past: Tensor, present: Tensor, row: DimLike) -> Tensor:
    """The buffer ``past`` with row ``row`` of a past that has one row more."""
    text = f"where(i3 == {row}, x1[i0, i1, i2, {row}, i4], x0[i0, i1, i2, i3, i4])"
    return build.compute(text, [past, present], past.shape)
