"""Scores of classifiers and regressors: post_transform, labels; LinearRegressor and LinearClassifier."""

from __future__ import annotations

import numpy as np

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.softmax import softmax
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.ml import DOMAIN
from mlc.frontends.onnx.ops.ml.categories import labels_of

TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
ERF = 0.147  # of Winitzki's approximation of the inverse of erf, which onnxruntime and the reference use
PI = 3.14159  # as they have it


def transformed(build: Builder, scores: Tensor, how: str) -> Tensor:
    """post_transform of [N, scores].

    Of a single score there is PROBIT alone; onnxruntime leaves the others out.

    Raises:
        NotSupported: an unknown one.
    """
    if how not in TRANSFORMS:
        raise NotSupported(f"post_transform '{how}'; it is one of {', '.join(TRANSFORMS)}")
    if how == "NONE":
        return scores
    if how == "PROBIT":
        return _probit(build, scores)
    if scores.shape[1] == 1:  # as in onnxruntime
        return scores
    if how == "LOGISTIC":
        return build.map("sigmoid(x0)", scores)
    return softmax(build, scores, [1]) if how == "SOFTMAX" else _softmax_zero(build, scores)


def _softmax_zero(build: Builder, scores: Tensor) -> Tensor:
    """A softmax in which scores of (almost) 0 stay 0."""
    top = build.reduce("max", scores, [1], keepdims=True)
    powers = build.map("where(abs(x0) > 1e-07, exp(x0 - x1), x0 * exp(-x1))", scores, top)
    return build.map("x0 / x1", powers, build.reduce("add", powers, [1], keepdims=True))


def _probit(build: Builder, scores: Tensor) -> Tensor:
    """sqrt(2) times the inverse of erf at 2 x - 1, which is the quantile of the normal distribution."""
    at = build.map("2 * x0 - 1", scores)
    log = build.map("log((1 - x0) * (1 + x0))", at)
    half = build.map(f"{2 / (PI * ERF)!r} + 0.5 * x0", log)
    root = build.map(f"sqrt(sqrt(x0 * x0 - x1 * {1 / ERF!r}) - x0)", half, log)
    return build.map(f"where(x0 < 0, -x1, x1) * {np.sqrt(2)!r}".replace("np.float64", ""), at, root)


def best_label(build: Builder, scores: Tensor, labels: Tensor) -> Tensor:
    """The label of the largest score of each row, the first of equals."""
    top = build.reduce("max", scores, [1])
    count = scores.shape[1]
    text = f"where(x0[i0, r0] == x1[i0], r0, {count} - 1)"
    best = build.compute(text, [scores, top], top.shape, [count], "min")
    return build.compute("x0[x1[i0]]", [labels, best], top.shape)


def linear_scores(node: Node, count: int) -> Tensor:
    """x · coefficients + intercepts in f32: [N, count]."""
    build = node.build
    x = build.cast(node[0], "f32")
    rows = build.reshape(x, (1, *x.shape)) if x.rank == 1 else x
    weights = np.asarray(node.attr("coefficients"), np.float32).reshape(count, -1)
    scores = build.contract("nf,tf->nt", rows, Tensor.from_known(weights))
    offsets = node.attr("intercepts", None)
    return scores if not offsets else build.map("x0 + x1", scores, Tensor.from_known(np.asarray(offsets, np.float32)))


@onnx_op("LinearRegressor", domain=DOMAIN)
def linear_regressor(node: Node) -> Tensor:
    """[N, targets] of a linear model."""
    return transformed(node.build, linear_scores(node, node.attr("targets", 1)), node.attr("post_transform", "NONE"))


@onnx_op("LinearClassifier", domain=DOMAIN)
def linear_classifier(node: Node) -> tuple[Tensor, Tensor]:
    """(label, scores) of a linear model with a score a class."""
    labels, offsets = labels_of(node, "classlabels_ints"), node.attr("intercepts", None) or []
    count = len(labels.known)  # type: ignore[arg-type]
    if count < 2 or (offsets and len(offsets) != count):
        raise NotSupported(f"{len(offsets)} scores for {count} classes; give coefficients for each class")
    scores = linear_scores(node, count)
    return best_label(node.build, scores, labels), transformed(node.build, scores, node.attr("post_transform", "NONE"))
