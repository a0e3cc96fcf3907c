"""Support vector machines of ai.onnx.ml against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from single import ML, by_onnxruntime, ml, single, ways

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
    """The minimum itself: onnxruntime stops near it."""
    x, count = rng.standard_normal((9, 5)).astype("f4"), len(labels)
    how = svm(rng, "RBF", [2, 4, 3, 2][:count], labels)
    plain = single("SVMClassifier", {"x": x}, 2, domain=ML, version=1, **how)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    how |= {"prob_a": (-rng.random(len(pairs))).tolist(), "prob_b": rng.standard_normal(len(pairs)).tolist()}
    model = single("SVMClassifier", {"x": x}, 2, domain=ML, version=1, **how)
    near = by_onnxruntime(model, {"x": x})
    scores = by_onnxruntime(plain, {"x": x})[1][:, -len(pairs) :]
    wanted = np.stack([_coupled(1 / (1 + np.exp(s * how["prob_a"] + how["prob_b"])), pairs) for s in scores])
    np.testing.assert_allclose(near[1], wanted, atol=0.006)
    for label, probabilities in (both.values() for both in ways(model, {"x": x})):
        np.testing.assert_array_equal(label, near[0])
        np.testing.assert_allclose(probabilities, wanted, rtol=1e-4)


def _coupled(r: np.ndarray, pairs: list[tuple[int, int]]) -> np.ndarray:
    """The least squares solution of r[j, i] p[i] = r[i, j] p[j] for all pairs, with a sum of 1."""
    count = max(j for _, j in pairs) + 1
    rows, heavy = np.zeros((len(pairs) + 1, count)), 1e6
    for n, (i, j) in enumerate(pairs):
        rows[n, i], rows[n, j] = 1 - r[n], -r[n]
    rows[-1] = heavy
    return np.linalg.lstsq(rows, np.append(np.zeros(len(pairs)), heavy))[0]


@pytest.mark.parametrize("labels", [[5, 2, 9], [7, -1], ["no", "yes"]])
@pytest.mark.parametrize("positive", [False, True])
def test_svm_of_coefficients(rng: np.random.Generator, labels: list[Any], positive: bool) -> None:
    x, weights = rng.standard_normal((9, 5)).astype("f4"), rng.standard_normal(5 * len(labels))
    how: dict[str, Any] = {"coefficients": (abs(weights) if positive else weights).tolist(), "rho": [0.25]}
    how |= {"kernel_type": "LINEAR", "kernel_params": KERNELS["LINEAR"]}
    how["classlabels_strings" if isinstance(labels[0], str) else "classlabels_ints"] = labels
    ml("SVMClassifier", {"x": x}, 2, version=1, **how)
