"""Augmentation: each result is one of those that NumPy makes, all of them occur, and evaluation has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc.numpy as mnp
from mlc import nn, optim, train
from mlc.errors import InputError
from mlc.nn.module import recorded
from mlc.numpy import random

RNG = np.random.Generator(np.random.Philox(3))
IMAGES = RNG.standard_normal((60, 2, 3, 4)).astype(np.float32)


def drawn(f: Callable[[], Any], seed: int = 0) -> Any:
    """What a function that draws gives."""
    return recorded(lambda _: f(), {"w": mnp.ones(())}, random.key(seed))[0]


def test_flips() -> None:
    for axis in (-1, 2):
        found = drawn(lambda axis=axis: train.random_flip(IMAGES, axis=axis)).numpy()
        same, flipped = (found == IMAGES).all((1, 2, 3)), (found == np.flip(IMAGES, axis)).all((1, 2, 3))
        assert (same ^ flipped).all() and 15 < flipped.sum() < 45
    assert (drawn(lambda: train.random_flip(IMAGES, probability=1.0)).numpy() == IMAGES[..., ::-1]).all()


def test_crops() -> None:
    found = drawn(lambda: train.random_crop(IMAGES, 1)).numpy()
    padded = np.pad(IMAGES, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moves = []
    for image, whole in zip(found, padded, strict=True):
        parts = [(a, b) for a in range(3) for b in range(3) if (whole[:, a : a + 3, b : b + 4] == image).all()]
        assert len(parts) == 1
        moves += parts
    assert len(set(moves)) == 9
    one = drawn(lambda: train.random_crop(IMAGES[:, :, 0], 2)).numpy()
    assert one.shape == (60, 2, 4) and (drawn(lambda: train.random_crop(IMAGES, 0)).numpy() == IMAGES).all()


def test_brightness_and_mixup() -> None:
    factors = drawn(lambda: train.random_brightness(IMAGES, 0.3)).numpy() / IMAGES
    assert np.allclose(factors, factors[:, :1, :1, :1], rtol=1e-5)
    assert 0.7 <= factors.min() < 0.8 and 1.2 < factors.max() <= 1.3
    labels = np.eye(60, dtype=np.float32)
    x, y = (each.numpy() for each in drawn(lambda: train.mixup(IMAGES, labels, 0.4)))
    np.testing.assert_allclose(x, np.einsum("nm,mchw->nchw", y, IMAGES), rtol=1e-4, atol=1e-5)
    assert ((y > 0).sum(1) <= 2).all() and np.allclose(y.sum(1), 1) and ((y > 0).sum(1) == 2).sum() > 30


def test_within_the_step() -> None:
    """A step draws anew, and its loss is of changed images; an evaluation is not."""

    def loss(model: Any, images: Any, y: Any) -> Any:
        return nn.mse_loss(model(images)[:, 0], y), {"first": images[0, 0], "target": y[0]}

    def augment(images: Any) -> Any:
        return images + random.normal(nn.next_key(), (1, 1))

    x, y = np.zeros((4, 3), np.float32), np.arange(4, dtype=np.float32)
    trainer = train.Trainer(nn.Linear(3, 1), optim.sgd(0.0), loss, augment=augment)
    trainer.fit([(x, y)], 5, progress=False)
    assert len({values["first"] for _, values in trainer.history}) == 5
    assert trainer.evaluate((x, y))["first"] == 0
    for both in (lambda images, y: (images + 1, y + 2), lambda *batch: (batch[0] + 1, batch[1] + 2)):
        found = train.Trainer(nn.Linear(3, 1), optim.sgd(0.0), loss, augment=both).take((x, y))
        assert (found["first"], found["target"]) == (1, 2)
    sharded = train.Trainer(nn.Linear(3, 1), optim.sgd(0.0), loss, augment=augment, shards=2)
    assert sharded.take((x, y))["first"] != 0


def test_metrics_see_the_changed_targets() -> None:
    """Targets that are augmented with the inputs are what a step's metrics compare with."""
    x, y = np.ones((4, 3), np.float32), np.arange(4, dtype=np.float32)
    trainer = train.Trainer(
        nn.Linear(3, 1),
        optim.sgd(0.0),
        lambda model, x, y: nn.mse_loss(model(x)[:, 0], y),
        augment=lambda x, y: (2 * x, y + mnp.mean(random.normal(nn.next_key(), (3,)))),
        metrics="mse",
    )
    trainer.fit([(x, y)] * 3, epochs=2, progress=False)
    for each in trainer.epochs:
        assert each["mse"] == pytest.approx(each["loss"], rel=1e-5)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: drawn(lambda: train.random_flip(IMAGES, probability=2)), "random_flip has the probability 2"),
        (lambda: drawn(lambda: train.random_crop(IMAGES, -1)), "by -1"),
        (lambda: drawn(lambda: train.random_crop(IMAGES[:, 0, 0], 1)), r"\[60, 4\] by 1"),
        (lambda: drawn(lambda: train.mixup(IMAGES, np.arange(60))), "mix targets of int64.*one_hot"),
        (lambda: train.random_flip(IMAGES), "random_flip draws random numbers"),
        (lambda: train.Trainer(nn.Linear(3, 1), optim.sgd(0.1), print, augment="flip"), "augment is the string 'flip'"),
        (
            lambda: train.Trainer(
                nn.Linear(3, 1), optim.sgd(0.1), lambda m, x, y: mnp.sum(m(x)), augment=lambda x: (x, x)
            ).take((IMAGES[:, 0, :, :3], IMAGES)),
            "takes 1 arrays of a batch and gives 2",
        ),
    ],
)
def test_refused(call: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        call()
