"""Distillation: a loss that draws a model to the answers of another one (Hinton et al. 2015, arXiv 1503.02531)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlc.numpy as mnp
from mlc import nn
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.transforms.custom import stop_gradient

Loss = Callable[..., Any]


def distillation_loss(student: Any, teacher: Any, temperature: float = 2.0) -> Array:
    """The Kullback–Leibler divergence of the student's classes from the teacher's, of logits [..., classes], both
    divided by ``temperature``; times its square, so that gradients keep their size. The mean over samples.
    """
    if not temperature > 0:
        raise InputError(f"The temperature is {temperature}", hint="Give a number above 0")
    wanted = nn.softmax(stop_gradient(as_array(teacher)) / temperature, axis=-1)
    found = nn.log_softmax(as_array(student) / temperature, axis=-1)
    divergence = mnp.sum(nn.kl_div(found, wanted, reduction="none"), axis=-1)
    return mnp.mean(divergence) * temperature**2


def distilled(loss: Loss, teacher: Any, *, weight: float = 0.5, temperature: float = 2.0) -> Loss:
    """A loss for a ``Trainer``: ``1 - weight`` of ``loss``, and ``weight`` of the distance from the teacher's answer.

    Args:
        loss: ``loss(model, x, *targets)`` calls the model on ``x``, and gives a float.
        teacher: gives logits for the same ``x``; it is not trained.

    Raises:
        InputError: a weight outside of 0 to 1.
    """
    if not 0 <= weight <= 1:
        raise InputError(f"The weight of the teacher is {weight}", hint="Give a number from 0 to 1")

    def both(model: Any, x: Any, *targets: Any) -> tuple[Array, dict[str, Array]]:
        distance = distillation_loss(model(x), teacher(x), temperature)
        plain = as_array(loss(model, x, *targets))
        return plain * (1 - weight) + distance * weight, {"plain": plain, "distance": distance}

    return both
