"""An LSTM that attends to a memory (Bahdanau et al., 2015): what it found in a step is an input of the next."""

from __future__ import annotations

from dataclasses import dataclass

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.softmax import softmax
from mlc.frontends.build.tensors import Tensor


@dataclass(frozen=True)
class Memory:
    """The memory that an LSTM attends to: keys [B, M, A], values [B, M, depth], and a mask [B, M] that is added to the
    scores, or None.

    ``query`` [H, A] and ``vector`` [A] are of the scores; ``layer`` [H + depth, N], where there is one, makes the
    result of the hidden state and of what was found.
    """

    keys: Tensor
    values: Tensor
    added: Tensor | None
    query: Tensor
    vector: Tensor
    layer: Tensor | None

    def found(self, build: Builder, h: Tensor) -> Tensor:
        """What attention reads from the memory for hidden states ``h`` [B, H]: [B, depth or N]."""
        query = build.contract("bh,ha->ba", h, self.query)
        query = build.reshape(query, (query.shape[0], 1, query.shape[1]))
        scores = build.contract("bma,a->bm", build.map("tanh(x0 + x1)", self.keys, query), self.vector)
        scores = scores if self.added is None else build.map("x0 + x1", scores, self.added)
        context = build.contract("bm,bmd->bd", softmax(build, scores, [1]), self.values)
        if self.layer is None:
            return context
        return build.contract("bk,kn->bn", build.concat([h, context], 1), self.layer)


def memory_of(
    build: Builder, x: Tensor, lengths: Tensor | None, keys: Tensor, query: Tensor, vector: Tensor, layer: Tensor | None
) -> Memory:
    """The memory ``x`` [B, M, depth], whose sequences have ``lengths`` [B]; ``keys`` [depth, A] makes the keys."""
    added = None
    if lengths is not None:
        inside = "i1 < i64(x1[i0])"
        x = build.compute(f"where({inside}, x0[i0, i1, i2], 0)", [x, lengths], x.shape)
        added = build.compute(f"where({inside.replace('x1', 'x0')}, f32(0), -inf)", [lengths], x.shape[:2])
        added = build.cast(added, x.element)
    return Memory(build.contract("bmd,da->bma", x, keys), x, added, query, vector, layer)
