"""What losses refuse, and labels that are no classes; their values are compared with torch's in ``test_nn.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlc import nn
from mlc.errors import InputError


@pytest.mark.parametrize("labels", [np.zeros((4, 1), np.int64), np.zeros(4, np.float32), np.int64(1)])
def test_classes_of_another_rank_are_refused(labels: Any) -> None:
    with pytest.raises(InputError, match=r"for scores \(4, 3\).*Give integers \(4,\)"):
        nn.cross_entropy(np.zeros((4, 3), np.float32), labels)


@pytest.mark.parametrize("name", ["mse_loss", "binary_cross_entropy_with_logits", "huber_loss"])
def test_targets_that_would_broadcast_to_a_matrix_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=rf"{name} of arrays \(3, 1\) and \(3,\)"):
        getattr(nn, name)(np.zeros((3, 1), np.float32), np.zeros(3, np.float32))


def test_a_class_that_there_is_not_makes_nan() -> None:
    x, labels = np.random.default_rng().standard_normal((4, 3)).astype("f4"), np.array([0, 3, -1, 2])
    losses = np.asarray(nn.cross_entropy(x, labels, reduction="none"))
    expected = np.log(np.exp(x).sum(1)) - x[np.arange(4), labels % 3]
    np.testing.assert_allclose(losses, np.where([False, True, True, False], np.nan, expected), rtol=1e-5, atol=1e-6)
