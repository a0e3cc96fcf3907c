"""Which experts a token has, and how much of each."""

from __future__ import annotations

from dataclasses import dataclass

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.ops.indexing.sorting import top_k
from mlc.frontends.build.ops.softmax import softmax
from mlc.frontends.build.tensors import Tensor


@dataclass(frozen=True)
class Route:
    """The experts of each token [T, k] (i64), and their weights [T, k] (f32)."""

    experts: Tensor
    weights: Tensor

    def of_all(self, build: Builder, experts: int) -> Tensor:
        """[T, E]: the weight of each expert, 0 where a token does not have it."""
        text = "where(x0[i0, r0] == i1, x1[i0, r0], 0)"
        tokens, k = self.experts.shape
        return build.compute(text, [self.experts, self.weights], (tokens, experts), (k,), "add")


def routed(build: Builder, logits: Tensor, k: int, normalize: bool, mixing: Tensor | None = None) -> Route:
    """The ``k`` experts of the largest ``logits`` [T, E], weighted by their softmax over all experts.

    Of equal ones the last comes first, as in onnxruntime. ``normalize``: the weights of a token sum to 1. ``mixing``
    [T, E]: the weights themselves.
    """
    last = logits.shape[1] - 1
    scores = softmax(build, build.cast(logits, "f32"), [1])
    weights, found = top_k(build, build.compute(f"x0[i0, {last} - i1]", [scores], scores.shape), 1, k, largest=True)
    experts = build.map(f"{last} - x0", found)
    experts.range = (0, last)
    if mixing is not None:
        weights = build.compute("f32(x0[i0, x1[i0, i1]])", [mixing, experts], experts.shape)
    if normalize:
        total = build.reduce("add", weights, [1], keepdims=True)
        weights = build.map("x0 / x1", weights, total)
    return Route(experts, weights)


def group_limited(build: Builder, scores: Tensor, groups: int, kept: int, summed: int, k: int) -> tuple[Tensor, Tensor]:
    """The ``k`` greatest of ``scores`` [T, E] (values, indices) among experts of the ``kept`` best groups.

    A group is as good as the sum of its ``summed`` greatest scores.
    """
    tokens, experts = scores.shape
    size = int(experts) // groups  # type: ignore[arg-type]
    if kept < groups:
        grouped = build.reshape(scores, (tokens, groups, size))
        best, _ = top_k(build, grouped, 2, min(summed, size), largest=True)
        _, chosen = top_k(build, build.reduce("add", best, [2]), 1, kept, largest=True)
        inside = build.compute(f"i64(x0[i0, r0] == i1 // {size})", [chosen], (tokens, experts), (kept,), "max")
        scores = build.map("where(x0 > 0, x1, -inf)", inside, scores)
    return top_k(build, scores, 1, k, largest=True)
