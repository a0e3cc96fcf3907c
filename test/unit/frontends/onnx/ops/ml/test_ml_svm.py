"""Support vector machines of ai.onnx.ml against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from single import ml

KERNELS = {"LINEAR": [0.0, 0.0, 0.0], "POLY": [0.3, 0.5, 3.0], "RBF": [0.2, 0.0, 0.0], "SIGMOID": [0.1, 0.2, 0.0]}


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("one_class", [0, 1])
def test_svm_regressor(rng: np.random.Generator, kind: str, one_class: int) -> None:
    how = {"kernel_type": kind, "kernel_params": KERNELS[kind], "n_supports": 6, "one_class": one_class}
    how |= {"support_vectors": rng.standard_normal(24).tolist(), "coefficients": rng.standard_normal(6).tolist()}
    x = rng.standard_normal((7, 4)).astype("f4")
    ml("SVMRegressor", {"x": x}, version=1, rho=[0.3], compiled=not one_class, **how)


def svm(rng: np.random.Generator, kind: str, sizes: list[int], labels: list[Any]) -> dict[str, Any]:
    """Attributes of a random SVMClassifier of five features."""
    count, pairs = sum(sizes), len(sizes) * (len(sizes) - 1) // 2
    how = {"kernel_type": kind, "kernel_params": KERNELS[kind], "vectors_per_class": sizes}
    how |= {"support_vectors": rng.standard_normal(5 * count).tolist(), "rho": rng.standard_normal(pairs).tolist()}
    how |= {"coefficients": rng.standard_normal((len(sizes) - 1) * count).tolist()}
    return how | {"classlabels_strings" if isinstance(labels[0], str) else "classlabels_ints": labels}


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("labels", [[5, 2, 9], [7, -1], ["red", "grün", ""], ["no", "yes"]])
def test_svm_classifier(rng: np.random.Generator, kind: str, labels: list[Any]) -> None:
    x = rng.standard_normal((9, 5)).astype("f4")
    for how in ("NONE", "LOGISTIC"):
        given = svm(rng, kind, [2, 4, 3][: len(labels)], labels)
        ml("SVMClassifier", {"x": x}, 2, version=1, post_transform=how, compiled=kind == "RBF", **given)


@pytest.mark.parametrize("labels", [[5, 2, 9, 0], [7, -1]])
def test_svm_probabilities(rng: np.random.Generator, labels: list[int]) -> None:
    """The iteration stops where that of onnxruntime, and of libsvm, does: up to 0.006 from the minimum."""
    x, count = rng.standard_normal((40, 5)).astype("f4"), len(labels)
    how, pairs = svm(rng, "RBF", [2, 4, 3, 2][:count], labels), count * (count - 1) // 2
    how |= {"prob_a": (-rng.random(pairs)).tolist(), "prob_b": rng.standard_normal(pairs).tolist()}
    ml("SVMClassifier", {"x": x}, 2, version=1, **how)


@pytest.mark.parametrize("labels", [[5, 2, 9], [7, -1], ["no", "yes"]])
@pytest.mark.parametrize("positive", [False, True])
def test_svm_of_coefficients(rng: np.random.Generator, labels: list[Any], positive: bool) -> None:
    x, weights = rng.standard_normal((9, 5)).astype("f4"), rng.standard_normal(5 * len(labels))
    how: dict[str, Any] = {"coefficients": (abs(weights) if positive else weights).tolist(), "rho": [0.25]}
    how |= {"kernel_type": "LINEAR", "kernel_params": KERNELS["LINEAR"]}
    how["classlabels_strings" if isinstance(labels[0], str) else "classlabels_ints"] = labels
    ml("SVMClassifier", {"x": x}, 2, version=1, **how)
