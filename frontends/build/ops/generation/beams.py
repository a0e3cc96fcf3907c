"""Beam search: of each batch some sequences that go on, and the best of those that have ended.

Source: onnxruntime's scorer. A sequence that ended is worth its sum of log probabilities over its length to the power
of a penalty.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.indexing.sorting import top_k
from mlc.frontends.build.tensors import Tensor

NEVER = -1e9  # the first sum of beams but the first of a batch, which are equal


@dataclass(frozen=True)
class Beams:
    """The sequences of a search, all of i64 or f32: the states of its loop, in this order.

    ``tokens`` [B * n, most] with their ``sums`` [B, n] of log probabilities; ``ended`` [B, n, most] with their
    ``values`` [B, n], minus infinity where there is none yet; ``done`` [B]: whether a batch has ended.
    """

    tokens: Tensor
    sums: Tensor
    ended: Tensor
    values: Tensor
    done: Tensor

    @property
    def states(self) -> list[Tensor]:
        return [self.tokens, self.sums, self.ended, self.values, self.done]


@dataclass(frozen=True)
class Scorer:
    """What a search is given: ``penalty`` [] (f32) of the length, whether a batch ends with as many sequences as it has
    beams (``early``), and the tokens that end and pad sequences."""

    build: Builder
    beams: int
    penalty: Tensor
    early: bool
    end: int
    pad: int

    def start(self, tokens: Tensor, batch: DimLike) -> Beams:
        """The state before the first step, in which only one beam of each batch counts."""
        build, shape = self.build, (batch, self.beams)
        return Beams(
            tokens,
            build.compute(f"where(i1 == 0, f32(0), f32({NEVER}))", [], shape),
            build.broadcast(build.constant(self.pad, "i64"), (*shape, tokens.shape[1])),
            build.compute("f32(-inf)", [], shape),
            build.broadcast(build.constant(0, "i64"), (batch,)),
        )

    def step(self, state: Beams, scores: Tensor, length: DimLike) -> tuple[Beams, Tensor, Tensor]:
        """(the state with one token more, these tokens [B * n], the beams [B * n] that they follow).

        ``scores`` [B * n, V]: log probabilities of the token after ``length`` others.
        """
        build, n, words = self.build, self.beams, scores.shape[1]
        batch = state.done.shape[0]
        sums = build.map("x0 + x1", build.reshape(scores, (batch, n, words)), build.reshape(state.sums, (batch, n, 1)))
        best, at = top_k(build, build.reshape(sums, (batch, n * words)), 1, 2 * n, largest=True)
        beam, token = build.map(f"x0 // {words}", at), build.map(f"x0 % {words}", at)
        ends = build.map(f"i64(x0 == {self.end})", token)
        ended, values = self._ended(state, best, beam, ends, length)
        pick = self._going_on(ends)
        chosen = [build.compute("x0[i0, x1[i0, i1]]", [x, pick], (batch, n)) for x in (best, beam, token)]
        stop = build.reshape(state.done, (batch, 1))
        new_sums, beam, token = (
            build.map(f"where(x1 > 0, {other}, x0)", x, stop) for x, other in zip(chosen, (0, 0, self.pad), strict=True)
        )
        beam = build.reshape(build.compute(f"x0[i0, i1] + i0 * {n}", [beam], (batch, n)), state.tokens.shape[:1])
        token = build.reshape(token, state.tokens.shape[:1])
        text = f"where(i1 == {length}, x2[i0], x0[x1[i0], i1])"
        tokens = build.compute(text, [state.tokens, beam, token], state.tokens.shape)
        after = Beams(tokens, new_sums, ended, values, state.done)
        return replace(after, done=self._done(after, best, length)), token, beam

    def _ended(self, state: Beams, best: Tensor, beam: Tensor, ends: Tensor, length: DimLike) -> tuple[Tensor, Tensor]:
        """The ended sequences, to which the ones among the best ``n`` candidates that end now are added."""
        build, n, (batch, _, most) = self.build, self.beams, state.ended.shape
        text = f"where((x1[i0, i1] > 0) & (x2[i0] == 0), x0[i0, i1] / pow(f32({length}), x3[]), -inf)"
        text = text.replace("x3[]", "x3[0]")
        penalty = build.reshape(self.penalty, (1,))
        value = build.compute(text, [best, ends, state.done, penalty], (batch, n))
        row = f"where(i2 < {length}, x0[i0 * {n} + x1[i0, i1], i2], {self.pad})"
        tokens = build.compute(row, [state.tokens, beam], (batch, n, most))
        return self._best(build.concat([state.ended, tokens], 1), build.concat([state.values, value], 1), n)

    def _best(self, tokens: Tensor, values: Tensor, count: int) -> tuple[Tensor, Tensor]:
        """The ``count`` sequences of the greatest values, the best first."""
        value, at = top_k(self.build, values, 1, count, largest=True)
        shape = (tokens.shape[0], count, tokens.shape[2])
        return self.build.compute("x0[i0, x1[i0, i1], i2]", [tokens, at], shape), value

    def _going_on(self, ends: Tensor) -> Tensor:
        """[B, n]: the first ``n`` candidates that do not end."""
        build, (batch, count) = self.build, ends.shape
        before = build.compute("where(r0 < i1, 1 - x0[i0, r0], 0)", [ends], (batch, count), (count,), "add")
        text = "where((x0[i0, r0] == i1) & (x1[i0, r0] == 0), r0, 0)"
        return build.compute(text, [before, ends], (batch, self.beams), (count,), "add")

    def _done(self, state: Beams, best: Tensor, length: DimLike) -> Tensor:
        """Which batches are done: as many sequences have ended as there are beams, and no new one can beat the
        worst.
        """
        build, n = self.build, self.beams
        worst = f"x0[i0, {n - 1}]"
        enough = f"({worst} > -inf)"
        if not self.early:
            enough += f" & ({worst} >= x1[i0, 0] / pow(f32({length}), x2[0]))"
        penalty = build.reshape(self.penalty, (1,))
        given = [state.values, *([] if self.early else [best, penalty]), state.done]
        return build.compute(f"i64({enough} | (x{len(given) - 1}[i0] > 0))", given, state.done.shape)

    def results(self, state: Beams, count: int) -> tuple[Tensor, Tensor]:
        """(tokens [B, count, most], values [B, count]) of the best sequences; unfinished ones count in unfinished
        batches.
        """
        build, n, (batch, _, most) = self.build, self.beams, state.ended.shape
        text = f"where(x1[i0] == 0, x0[i0, i1] / pow(f32({most}), x2[0]), -inf)"
        open_ = build.compute(text, [state.sums, state.done, build.reshape(self.penalty, (1,))], (batch, n))
        tokens = build.concat([state.ended, build.reshape(state.tokens, (batch, n, most))], 1)
        return self._best(tokens, build.concat([state.values, open_], 1), count)
