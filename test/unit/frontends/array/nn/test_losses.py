"""What losses refuse, and labels that are no classes; their values are compared with torch's in ``test_nn.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mlc
from mlc import nn
from mlc.errors import InputError


@pytest.mark.parametrize("labels", [np.zeros((4, 1), np.int64), np.zeros(4, np.float32), np.int64(1)])
def test_classes_of_another_rank_are_refused(labels: Any) -> None:
    with pytest.raises(InputError, match=r"scores of shape \(4, 3\).*Give integers \(4,\)"):
        nn.cross_entropy(np.zeros((4, 3), np.float32), labels)


@pytest.mark.parametrize("name", ["mse_loss", "binary_cross_entropy_with_logits", "huber_loss"])
def test_targets_that_would_broadcast_to_a_matrix_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=rf"{name} cannot take arrays of shapes \(3, 1\) and \(3,\)"):
        getattr(nn, name)(np.zeros((3, 1), np.float32), np.zeros(3, np.float32))


def test_a_class_that_there_is_not_makes_nan() -> None:
    x, labels = np.random.default_rng().standard_normal((4, 3)).astype("f4"), np.array([0, 3, -1, 2])
    losses = np.asarray(nn.cross_entropy(x, labels, reduction="none"))
    expected = np.log(np.exp(x).sum(1)) - x[np.arange(4), labels % 3]
    np.testing.assert_allclose(losses, np.where([False, True, True, False], np.nan, expected), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("dtype", "ignored"), [(np.int64, -100), (np.uint8, 255), (np.int32, 2)])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_ignored_labels_are_in_no_sum_and_no_mean(dtype: Any, ignored: int, reduction: str) -> None:
    random = np.random.default_rng()
    x, labels = random.standard_normal((7, 3)), random.integers(0, 3, 7)
    labels[[1, 4]], labels[[0, 2]] = ignored, 1
    kept = labels != ignored
    share = kept / (kept.sum() if reduction == "mean" else 1)
    chances = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    expected = -np.sum(share[kept] * np.log(chances[kept, labels[kept]]))
    slope = share[:, None] * (chances - (labels[:, None] == np.arange(3)))
    given, options = labels.astype(dtype), {"ignore_index": ignored, "reduction": reduction}
    found, gradient = mlc.value_and_grad(lambda x: nn.cross_entropy(x, given, **options))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-9, atol=1e-12)
    assert not np.asarray(gradient)[~kept].any()


def test_a_class_that_there_is_not_makes_nan_beside_ignored_labels() -> None:
    losses = nn.cross_entropy(np.zeros((3, 2)), np.array([-100, -1, 1]), ignore_index=-100, reduction="none")
    np.testing.assert_allclose(losses, [0, np.nan, np.log(2)])
    assert np.isnan(float(nn.cross_entropy(np.zeros((2, 2)), np.array([-100, -100]), ignore_index=-100)))  # as torch


@pytest.mark.parametrize(
    ("ignored", "target", "says"),
    [
        (-100, np.zeros(4, np.uint8), "is outside of uint8.*Give a number from 0 to 255, or classes of int64"),
        (-100, np.zeros((4, 3), np.float32), "for targets of float32.*Give classes as integers"),
        (0, np.zeros(4, bool), "for targets of bool.*Give classes as integers"),
        (1.0, np.zeros(4, np.int64), "ignore_index=1.0.*Give an integer"),
        (True, np.zeros(4, np.int64), "ignore_index=True.*Give an integer"),
    ],
)
def test_what_cannot_be_ignored_is_refused(ignored: Any, target: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        nn.cross_entropy(np.zeros((4, 3), np.float32), target, ignore_index=ignored)


def test_losses_of_embeddings_by_their_formulas() -> None:
    random = np.random.default_rng()
    a, b, c = random.standard_normal((3, 6, 4))
    signs = np.array([1, -1, 1, 1, -1, -1])
    cosine = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    expected = np.where(signs == 1, 1 - cosine, np.maximum(0, cosine - 0.2)).mean()
    np.testing.assert_allclose(nn.cosine_embedding_loss(a, b, signs, margin=0.2), expected, rtol=1e-9)
    order = np.maximum(0, 0.1 - signs[:, None] * (a - b)).sum()
    found = nn.margin_ranking_loss(a, b, signs[:, None], margin=0.1, reduction="sum")
    np.testing.assert_allclose(found, order, rtol=1e-9)
    distances = np.where(signs[:, None] == 1, np.abs(a), np.maximum(0, 1 - np.abs(a))).mean()
    np.testing.assert_allclose(nn.hinge_embedding_loss(np.abs(a), signs[:, None]), distances, rtol=1e-9)
    near, far = (np.linalg.norm(a - each, axis=1) for each in (b, c))
    triplets = np.maximum(0, near - far + 1.5).mean()
    np.testing.assert_allclose(nn.triplet_margin_loss(a, b, c, margin=1.5), triplets, rtol=1e-5)


def test_embeddings_that_are_refused() -> None:
    a, b = np.zeros((4, 3), np.float32), np.zeros(4, np.float32)
    with pytest.raises(InputError, match=r"triplet_margin_loss cannot take .* \(4, 3\) and \(4, 3\) and \(4,\)"):
        nn.triplet_margin_loss(a, a, b)
    with pytest.raises(InputError, match="A norm of the order 0"):
        nn.triplet_margin_loss(a, a, a, p=0)
    with pytest.raises(InputError, match=r"cosine_embedding_loss cannot take arrays of shapes \(4,\) and \(4, 3\)"):
        nn.cosine_embedding_loss(a, a, a)
    with pytest.raises(InputError, match=r"margin_ranking_loss cannot take arrays"):
        nn.margin_ranking_loss(a, a, b)
