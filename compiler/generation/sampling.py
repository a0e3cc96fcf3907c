"""Choosing the next token of logits: the most likely one, or one drawn as ``mlc.nn.filtered_logits`` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mlc.errors import InputError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Sampling:
    """``temperature`` 0 takes the most likely token. ``top_k`` keeps so many tokens (0: all), then ``top_p`` the fewest
    whose probabilities sum to it, then ``min_p`` those of at least this share of the largest probability; before them
    ``repetition_penalty`` lowers the scores of tokens that were there. ``mlc.nn.sampling`` defines all of it.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        if not self.temperature >= 0:
            raise InputError(f"The temperature is {self.temperature}", hint="Give 0 or more")
        if self.top_k < 0:
            raise InputError(f"top_k is {self.top_k}", hint="Give a number of tokens, 0 for all")
        if not 0 < self.top_p <= 1:
            raise InputError(f"top_p is {self.top_p}", hint="Give a probability above 0, up to 1")
        if not 0 <= self.min_p <= 1:
            raise InputError(f"min_p is {self.min_p}", hint="Give a share from 0 to 1")
        if not self.repetition_penalty > 0:
            raise InputError(f"repetition_penalty is {self.repetition_penalty}", hint="Give a number above 0, 1: none")

    @cached_property
    def _filtered(self) -> Any:
        """The compiled filter of scores [vocabulary] and bools of the tokens that were there."""
        import mlc
        from mlc.nn.sampling import filtered_logits

        how: dict[str, Any] = {"temperature": self.temperature or 1.0, "repetition_penalty": self.repetition_penalty}
        if self.temperature:
            how |= {"top_k": self.top_k or None, "top_p": self.top_p, "min_p": self.min_p}
        return mlc.jit(lambda scores, seen: filtered_logits(scores, seen=seen, **how))

    def scores(self, logits: Array, ids: Sequence[int] = ()) -> Array:
        """The logits [vocabulary] that count after tokens ``ids``, in f64; -∞ for tokens that are left out."""
        plain = self.repetition_penalty == 1 and (not self.temperature or self._keeps_all)
        if plain:
            return logits.astype(np.float64) / (self.temperature or 1)
        seen = np.zeros(len(logits), bool)
        seen[list(ids)] = True
        return np.asarray(self._filtered(logits.astype(np.float32), seen), np.float64)

    @property
    def _keeps_all(self) -> bool:
        return (self.top_k, self.top_p, self.min_p) == (0, 1, 0)

    def probabilities(self, logits: Array, ids: Sequence[int] = ()) -> Array:
        """Of each token, from logits [vocabulary] after tokens ``ids``."""
        scores = self.scores(logits, ids)
        if self.temperature == 0:
            return np.eye(1, len(scores), int(scores.argmax()))[0]
        weights: Array = np.exp(scores - scores.max())
        return weights / weights.sum()

    def draw(self, logits: Array, random: np.random.Generator, ids: Sequence[int] = ()) -> int:
        """A token after tokens ``ids``. InputError where no logit is a number."""
        if np.isnan(logits).any() or not np.isfinite(logits.max()):
            raise InputError("The model computes logits that are no numbers", hint="Look for the layer with mlc run")
        if self.temperature == 0:
            return int(self.scores(logits, ids).argmax())
        return int(random.choice(len(logits), p=self.probabilities(logits, ids)))
