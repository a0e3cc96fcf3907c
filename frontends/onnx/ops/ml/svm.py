"""Support vector machines: SVMRegressor and SVMClassifier, as products with the support vectors."""

from __future__ import annotations

import numpy as np

from mlc.dialects.graph import CouplingOp
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.fold import Array
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.ml import DOMAIN
from mlc.frontends.onnx.ops.ml.categories import labels_of
from mlc.frontends.onnx.ops.ml.scores import best_label, transformed


def _floats(node: Node, name: str) -> Array:
    return np.asarray(node.attr(name, None) or [], np.float32)


def kernel(node: Node, vectors: Array) -> Tensor:
    """[N, vectors]: the kernel function of each row and each vector, in f32."""
    build, x, kind = node.build, node.build.cast(node[0], "f32"), node.attr("kernel_type", "LINEAR")
    gamma, offset, degree = (literal(float(v)) for v in (node.attr("kernel_params", None) or [0.0, 0.0, 0.0]))
    if kind == "RBF":  # of differences: squared norms less products would cancel
        text = "(x0[i0, r0] - x1[i1, r0]) * (x0[i0, r0] - x1[i1, r0])"
        shape = (x.shape[0], len(vectors))
        squares = build.compute(text, [x, Tensor.from_known(vectors)], shape, [vectors.shape[1]], "add")
        return build.map(f"exp(-{gamma} * x0)", squares)
    products = build.contract("nf,vf->nv", x, Tensor.from_known(vectors))
    formulas = {
        "LINEAR": "x0",
        "POLY": f"({gamma} * x0 + {offset}) ** {degree}",
        "SIGMOID": f"tanh({gamma} * x0 + {offset})",
    }
    if kind not in formulas:
        raise NotSupported(f"kernel_type '{kind}'; it is LINEAR, POLY, RBF or SIGMOID")
    return products if kind == "LINEAR" else build.map(formulas[kind], products)


@onnx_op("SVMRegressor", domain=DOMAIN)
def svm_regressor(node: Node) -> Tensor:
    """[N, 1]; with ``one_class``, 1 where the sum is above 0, else -1."""
    build, count = node.build, node.attr("n_supports", 0)
    weights, rho = _floats(node, "coefficients"), literal(float(_floats(node, "rho")[0]))
    if count:
        values = kernel(node, _floats(node, "support_vectors").reshape(count, -1))
        total = build.contract("nv,v->n", values, Tensor.from_known(weights))
    elif node.attr("kernel_type", "LINEAR") == "LINEAR":
        total = build.contract("nf,f->n", build.cast(node[0], "f32"), Tensor.from_known(weights))
    else:
        raise NotSupported("a kernel other than LINEAR without support vectors")
    text = f"x0 + {rho}"
    y = build.map(f"where({text} > 0, f32(1), -1)" if node.attr("one_class", 0) else text, total)
    return transformed(build, build.reshape(y, (*y.shape, 1)), node.attr("post_transform", "NONE"))


@onnx_op("SVMClassifier", domain=DOMAIN)
def svm_classifier(node: Node) -> tuple[Tensor, Tensor]:
    """(label, scores): with support vectors a score a pair of classes, or with prob_a and prob_b a probability a class;
    without vectors a score a class of a linear model. Of two classes there are two scores."""
    build, labels, sizes = node.build, labels_of(node, "classlabels_ints"), node.attr("vectors_per_class", None) or []
    how, classes = node.attr("post_transform", "NONE"), len(labels.known)  # type: ignore[arg-type]
    if not sum(sizes):
        return _linear(node, labels, how)
    if len(sizes) != classes or classes < 2:
        raise NotSupported(f"vectors_per_class of {len(sizes)} classes for {classes} labels")
    values = kernel(node, _floats(node, "support_vectors").reshape(sum(sizes), -1))
    table = _pair_weights(_floats(node, "coefficients").reshape(-1, sum(sizes)), sizes)
    scores = build.contract("nv,pv->np", values, Tensor.from_known(table))
    scores = build.map("x0 + x1", scores, Tensor.from_known(_floats(node, "rho")[: len(table)]))
    label = best_label(build, _votes(build, scores, classes), labels)
    if node.attr("prob_a", None):
        return label, transformed(build, _probabilities(node, scores, classes), how)
    return label, _of_two(build, scores, how) if classes == 2 else transformed(build, scores, how)


def _linear(node: Node, labels: Tensor, how: str) -> tuple[Tensor, Tensor]:
    """Scores of products with the coefficients. Of two classes, as in onnxruntime, the second is the label where the
    largest score is positive (where no coefficient is negative: at least a half)."""
    build, weights = node.build, _floats(node, "coefficients").reshape(len(labels.known), -1)  # type: ignore[arg-type]
    scores = build.contract("nf,tf->nt", build.cast(node[0], "f32"), Tensor.from_known(weights))
    scores = build.map(f"x0 + {literal(float(_floats(node, 'rho')[0]))}", scores)
    label = best_label(build, scores, labels)
    if labels.shape[0] == 2 and not node.attr("prob_a", None):
        bound = "x2[i0] >= 0.5" if (weights >= 0).all() else "x2[i0] > 0"
        top = build.reduce("max", scores, [1])
        label = build.compute(f"where({bound}, x0[1], x1[i0])", [labels, label, top], label.shape)
    return label, transformed(build, scores, how)


def _of_two(build: Builder, score: Tensor, how: str) -> Tensor:
    """[N, 2] of the one score of two classes: its distance from the boundary to either side, or the sigmoid of that."""
    if how not in ("NONE", "LOGISTIC"):
        raise NotSupported(f"post_transform {how} of one score for two classes; use NONE or LOGISTIC")
    first, second = ("-x0", "x0") if how == "NONE" else ("sigmoid(-x0)", "sigmoid(x0)")
    return build.concat([build.map(first, score), build.map(second, score)], 1)


def _probabilities(node: Node, scores: Tensor, classes: int) -> Tensor:
    """[N, classes]: probabilities that agree with those of pairs: each score gives r[i, j], of class i against j."""
    build, pairs = node.build, _pairs(classes)
    a, b = (Tensor.from_known(_floats(node, name)[: len(pairs)]) for name in ("prob_a", "prob_b"))
    won = build.map("min(max(sigmoid(-(x0 * x1 + x2)), 1e-7), 0.9999999)", scores, a, b)
    table, sign = np.zeros((classes, classes), np.int64), np.zeros((classes, classes), np.float64)
    for n, (i, j) in enumerate(pairs):
        table[i, j] = table[j, i] = n
        sign[i, j], sign[j, i] = 1, -1
    pair, side = Tensor.from_known(table), Tensor.from_known(sign)
    text = "where(x2[i1, i2] > 0, x0[i0, x1[i1, i2]], where(x2[i1, i2] < 0, 1 - x0[i0, x1[i1, i2]], 0))"
    r = build.compute(text, [build.cast(won, "f64"), pair, side], (scores.shape[0], classes, classes))
    found = build.emit(CouplingOp(build.value(r)))
    return build.cast(build.cut(found, 1, 0, classes), "f32")


def _pairs(classes: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(classes) for j in range(i + 1, classes)]


def _pair_weights(coefficients: Array, sizes: list[int]) -> Array:
    """[pairs, vectors]: the coefficients of each pair of classes: vectors of either class by the row of the other."""
    ends = np.cumsum(sizes)
    spans = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    table = np.zeros((len(_pairs(len(sizes))), coefficients.shape[1]), np.float32)
    for n, (i, j) in enumerate(_pairs(len(sizes))):
        table[n, spans[i]], table[n, spans[j]] = coefficients[j - 1, spans[i]], coefficients[i, spans[j]]
    return table


def _votes(build: Builder, scores: Tensor, classes: int) -> Tensor:
    """[N, classes]: how many pairs each class wins; a score above 0 is for the first of the pair."""
    first, second = np.zeros((2, len(_pairs(classes)), classes), np.float32)
    for n, (i, j) in enumerate(_pairs(classes)):
        first[n, i], second[n, j] = 1, 1
    won = build.contract("np,pc->nc", build.map("f32(x0 > 0)", scores), Tensor.from_known(first))
    lost = build.contract("np,pc->nc", build.map("f32(x0 <= 0)", scores), Tensor.from_known(second))
    return build.map("x0 + x1", won, lost)
