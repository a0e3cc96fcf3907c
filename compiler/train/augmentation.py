"""Augmentation: random changes of a batch within the compiled step. Source: torchvision.transforms; keras.layers.

trainer = train.Trainer(model, optimizer, loss, augment=lambda images: train.random_flip(images))

Images are [N, C, X…]. Each element of a batch is changed by random numbers of its own, whose key is ``nn.next_key``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.nn.module import next_key
from mlc.numpy import random
from mlc.train.batches import POSITIONAL

Augment = Callable[..., Any]


def augmented(augment: Augment | None, batch: tuple[Any, ...]) -> tuple[Any, ...]:
    """The batch with its first arguments replaced by what ``augment`` makes of them: it takes as many of them as it has
    parameters, and gives as many, one or a tuple.

    Raises:
        InputError: it gives more or fewer arrays than it takes.
    """
    if augment is None:
        return batch
    taken = _count(augment, len(batch))
    found = augment(*batch[:taken])
    made = tuple(found) if isinstance(found, tuple | list) else (found,)
    if len(made) != taken:
        what = f"The augmentation takes {taken} arrays of a batch and gives {len(made)}"
        raise InputError(what, hint="Return as many as it takes, in the same order")
    return (*made, *batch[taken:])


def _count(augment: Augment, most: int) -> int:
    """How many arguments it takes: those without a default."""
    try:
        found = list(inspect.signature(augment).parameters.values())
    except (TypeError, ValueError):
        return 1
    if any(each.kind == inspect.Parameter.VAR_POSITIONAL for each in found):
        return most
    return min(most, sum(each.kind in POSITIONAL and each.default is each.empty for each in found))


def _probable(name: str, probability: float) -> None:
    if not 0 <= probability <= 1:
        raise InputError(f"{name} has the probability {probability}", hint="Give one from 0 to 1")


def random_flip(images: Any, axis: int = -1, probability: float = 0.5) -> Array:
    """Each image [N, C, X…] reversed along ``axis`` with this probability; -1 is left to right.

    Raises:
        InputError: a probability that is not from 0 to 1, or no random key.
    """
    _probable("random_flip", probability)
    given = as_array(images)
    flipped = random.bernoulli(next_key("random_flip"), probability, (given.shape[0], *(1,) * (given.ndim - 1)))
    return mnp.where(flipped, mnp.flip(given, axis=axis), given)


def random_crop(images: Any, padding: int) -> Array:
    """Each image [N, C, X…] moved by up to ``padding`` along each spatial dimension; zeros come in. It is a random part
    of the image with ``padding`` zeros around, of the image's size.

    Raises:
        InputError: a negative padding, no spatial dimension, or no random key.
    """
    given = as_array(images)
    if padding < 0 or given.ndim < 3:
        what = f"random_crop cannot move images of the shape {list(given.shape)} by {padding}"
        raise InputError(what, hint="Give images [N, C, X…] and a padding from 0 on")
    for axis in range(2, given.ndim):
        moves = random.randint(next_key("random_crop"), (given.shape[0],), -padding, padding + 1)
        given = _moved(given, axis, moves)
    return given


def _moved(x: Array, axis: int, moves: Array) -> Array:
    """Element n of axis 0 moved by ``moves[n]`` along ``axis``."""
    size = x.shape[axis]
    at = mnp.arange(size) + moves[:, None]
    shape = [x.shape[0], *(size if n == axis else 1 for n in range(1, x.ndim))]
    at = mnp.reshape(at, shape)
    inside = mnp.logical_and(at >= 0, at < size)
    found = mnp.take_along_axis(x, mnp.clip(at, 0, size - 1), axis=axis)
    return mnp.where(inside, found, mnp.zeros((), dtype=x.dtype))


def random_brightness(images: Any, factor: float) -> Array:
    """Each image [N, …] times a number between 1 - factor and 1 + factor.

    Raises:
        InputError: a factor that is not from 0 to 1, or no random key.
    """
    _probable("random_brightness", factor)
    given = as_array(images)
    shape = (given.shape[0], *(1,) * (given.ndim - 1))
    drawn = random.uniform(next_key("random_brightness"), shape, minval=-factor, maxval=factor)
    return given * mnp.astype(1 + drawn, given.dtype)


def mixup(inputs: Any, targets: Any, alpha: float = 0.2) -> tuple[Array, Array]:
    """Each element of a batch mixed with another one, inputs and targets [N, …] by the same shares, whose distribution
    is Beta(alpha, alpha). Targets are floats, such as probabilities of classes. Source: Zhang et al., 2018.

    Raises:
        InputError: targets that are integers, or no random key.
    """
    x, y = as_array(inputs), as_array(targets)
    if not mnp.isdtype(y.dtype, "real floating"):
        hint = "Give probabilities: nn.one_hot(labels, classes)"
        raise InputError(f"mixup cannot mix targets of {y.dtype}", hint=hint)
    share = random.beta(next_key("mixup"), alpha, alpha, (x.shape[0],))
    other = random.permutation(next_key("mixup"), x.shape[0])
    return _mixed(x, share, other), _mixed(y, share, other)


def _mixed(x: Array, share: Array, other: Array) -> Array:
    part = mnp.astype(mnp.reshape(share, (x.shape[0], *(1,) * (x.ndim - 1))), x.dtype)
    return part * x + (1 - part) * mnp.take(x, other, axis=0)
