"""The networks of ``examples/training`` for mlc and for torch, from the same weights, data and random draws."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.training_twins.own_steps import of_adversarial, of_private, of_second_order
from benchmarks.training_twins.regressions import of_digits, of_heat, of_regression
from benchmarks.training_twins.transformers import of_fine_tuning, of_minilm, of_transformer
from benchmarks.training_twins.twin import Losses, Twin, in_float64

__all__ = ["EXAMPLES", "Losses", "Twin", "in_float64"]

EXAMPLES: dict[str, Callable[[], Twin]] = {
    "digits": of_digits,
    "regression": of_regression,
    "transformer": of_transformer,
    "heat": of_heat,
    "private": of_private,
    "adversarial": of_adversarial,
    "second_order": of_second_order,
    "fine_tuning": of_fine_tuning,
    "minilm": of_minilm,
}
