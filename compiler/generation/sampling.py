"""Choosing the next token of logits: the most likely one, or one drawn by temperature, top-k and top-p."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.errors import InputError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Sampling:
    """``temperature`` 0 takes the most likely token. ``top_k`` keeps so many tokens (0: all), then ``top_p`` the fewest
    whose probabilities sum to it (Holtzman et al. 2020, arXiv 1904.09751).
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if not self.temperature >= 0:
            raise InputError(f"The temperature is {self.temperature}", hint="Give 0 or more")
        if self.top_k < 0:
            raise InputError(f"top_k is {self.top_k}", hint="Give a number of tokens, 0 for all")
        if not 0 < self.top_p <= 1:
            raise InputError(f"top_p is {self.top_p}", hint="Give a probability above 0, up to 1")

    def probabilities(self, logits: Array) -> Array:
        """Of each token, from logits [vocabulary]."""
        wide = logits.astype(np.float64)
        if self.temperature == 0:
            return np.eye(1, len(wide), int(wide.argmax()))[0]
        scaled = wide / self.temperature
        if 0 < self.top_k < len(scaled):
            scaled = np.where(scaled < np.partition(scaled, -self.top_k)[-self.top_k], -np.inf, scaled)
        weights = np.exp(scaled - scaled.max())
        return _nucleus(weights / weights.sum(), self.top_p)

    def draw(self, logits: Array, random: np.random.Generator) -> int:
        """A token. InputError where no logit is a number."""
        if np.isnan(logits).any() or not np.isfinite(logits.max()):
            raise InputError("The model computes logits that are no numbers", hint="Look for the layer with mlc run")
        if self.temperature == 0:
            return int(logits.argmax())
        return int(random.choice(len(logits), p=self.probabilities(logits)))


def _nucleus(probabilities: Array, share: float) -> Array:
    if share >= 1:
        return probabilities
    order = np.argsort(-probabilities, kind="stable")
    before = np.cumsum(probabilities[order]) - probabilities[order]
    kept = np.zeros_like(probabilities)
    kept[order[before < share]] = probabilities[order[before < share]]
    found: Array = kept / kept.sum()
    return found
