"""The scores of the next token: what was there already is penalized, and what may not follow has the lowest."""

from __future__ import annotations

from dataclasses import dataclass

from mlc.dialects.semantics.dims import DimLike
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor

LOWEST = -3.4028234663852886e38  # of f32


@dataclass(frozen=True)
class Rules:
    """What changes the scores [B, V] of a token after ``length`` others.

    ``penalty`` [] (f32): of tokens that a sequence has; ``ngram``: as many tokens do not come twice (0: they may);
    ``vocabulary`` [V] and ``first`` [B, V]: 0 for tokens that do not come, the latter in the first step; ``least`` [1]:
    the length before which no sequence ends; ``end``: the token that ends it.
    """

    penalty: Tensor | None
    ngram: int
    vocabulary: Tensor | None
    first: Tensor | None
    least: Tensor | None
    end: int

    def applied(self, build: Builder, scores: Tensor, tokens: Tensor, length: DimLike, first: bool) -> Tensor:
        """The scores [B, V] after the rules. A sequence is the first ``length`` of its ``tokens`` [B, most] (i64)."""
        if self.penalty is not None:
            seen = _present(build, tokens, length, scores.shape[1])
            text = "where(x1 > 0, where(x0 < 0, x0 * x2, x0 / x2), x0)"
            scores = build.map(text, scores, seen, self.penalty)
        if self.ngram:
            scores = _lowest(build, scores, _repeated(build, tokens, length, self.ngram, scores.shape[1]), "x1 > 0")
        if self.vocabulary is not None:
            scores = _lowest(build, scores, self.vocabulary, "x1 == 0")
        if first and self.first is not None:
            scores = _lowest(build, scores, self.first, "x1 == 0")
        if self.least is None:
            return scores
        text = f"where((i1 == {self.end}) & ({length} < x1[0]), f32({LOWEST}), x0[i0, i1])"
        return build.compute(text, [scores, self.least], scores.shape)


def _lowest(build: Builder, scores: Tensor, x: Tensor, where: str) -> Tensor:
    return build.map(f"where({where}, {LOWEST}, x0)", scores, x)


def _present(build: Builder, tokens: Tensor, length: DimLike, vocabulary: DimLike) -> Tensor:
    """[B, V]: 1 for the tokens that occur in a sequence."""
    text = f"i64((r0 < {length}) & (x0[i0, r0] == i1))"
    return build.compute(text, [tokens], (tokens.shape[0], vocabulary), (tokens.shape[1],), "max")


def _repeated(build: Builder, tokens: Tensor, length: DimLike, count: int, vocabulary: DimLike) -> Tensor:
    """[B, V]: 1 for the tokens that would complete ``count`` tokens which the sequence contains already."""
    most = tokens.shape[1]
    same = f"(i1 + {count} <= {length})"
    for n in range(count - 1):
        at = f"max({length} - {count - 1 - n}, 0)"
        same += f" & (x0[i0, min(i1 + {n}, {most} - 1)] == x0[i0, {at}])"
    start = build.compute(f"i64({same})", [tokens], (tokens.shape[0], most))
    text = f"where(x0[i0, min(r0 + {count - 1}, {most} - 1)] == i1, x1[i0, r0], 0)"
    return build.compute(text, [tokens, start], (tokens.shape[0], vocabulary), (most,), "max")
