"""Losses of embeddings: vectors or scores that a distance, an angle or an order compares.

Source: the formulas of torch.nn.functional.
"""

from __future__ import annotations

from typing import Any

from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.functions import reductions
from mlc.frontends.array.functions.elementwise import apply_map
from mlc.frontends.array.nn.losses import alike, cosine_similarity, elementwise, reduced
from mlc.frontends.build.folding.literals import literal

hinge_embedding_loss = elementwise(
    "hinge_embedding_loss",
    "where(x1 != 1, max(0, {margin} - x0), 0) + where(x1 != -1, x0, 0)",
    "Hinge loss, of targets 1 (alike) and -1, of a distance:",
    margin=1.0,
)


def margin_ranking_loss(
    first: Any, second: Any, target: Any, /, *, margin: float = 0.0, reduction: str = "mean"
) -> Array:
    """max(0, ``margin`` - y (x₁ - x₂)) of two scores; y is 1 where the first is to be greater, else -1.

    Raises:
        InputError: arrays of different ranks, or another reduction.
    """
    given = alike("margin_ranking_loss", first, second, target)
    return reduced(apply_map(f"max(0, {literal(margin)} - x2 * (x0 - x1))", *given), reduction)


def cosine_embedding_loss(
    first: Any, second: Any, target: Any, /, *, margin: float = 0.0, reduction: str = "mean"
) -> Array:
    """1 - cos of the angle of vectors [..., E] where the target [...] is 1, max(0, cos - ``margin``) where it is -1.

    Raises:
        InputError: arrays of other ranks, or another reduction.
    """
    given = cosine_similarity(*alike("cosine_embedding_loss", first, second))
    text = f"where(x1 == 1, 1 - x0, 0) + where(x1 == -1, max(0, x0 - {literal(margin)}), 0)"
    return reduced(apply_map(text, *alike("cosine_embedding_loss", given, target)), reduction)


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    /,
    *,
    margin: float = 1.0,
    p: float = 2.0,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Array:
    """max(0, d(a, p) - d(a, n) + ``margin``) of vectors [..., E], d the norm of order ``p`` of x - y + ``epsilon``.

    ``swap``: the negative's distance is that from the anchor or the positive, the lesser (Balntas et al., 2016).

    Raises:
        InputError: arrays of different ranks, an order that is not positive, or another reduction.
    """
    if not p > 0:
        raise InputError(f"A norm of the order {p} is not defined", hint="Give a positive number, such as 2.0")
    a, same, other = alike("triplet_margin_loss", anchor, positive, negative)

    def distance(x: Array, y: Array) -> Array:
        powers = apply_map(f"abs(x0 - x1 + {literal(epsilon)}) ** {literal(p)}", x, y)
        return apply_map(f"x0 ** {literal(1 / p)}", reductions.sum(powers, axis=-1))

    far = [distance(a, other), *([distance(same, other)] if swap else [])]
    text = "min(x1, x2)" if swap else "x1"
    return reduced(apply_map(f"max(0, x0 - {text} + {literal(margin)})", distance(a, same), *far), reduction)


PUBLIC = ("hinge_embedding_loss", "margin_ranking_loss", "cosine_embedding_loss", "triplet_margin_loss")
