"""Support vector machines: SVMRegressor and SVMClassifier, as products with the support vectors."""

from __future__ import annotations

import numpy as np

from mlc.frontends.onnx.builder import Builder
from mlc.frontends.onnx.errors import NotSupported
from mlc.frontends.onnx.fold import Array
from mlc.frontends.onnx.literals import literal
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.ml import DOMAIN
from mlc.frontends.onnx.ops.ml.categories import no_texts
from mlc.frontends.onnx.ops.ml.scores import best_label, transformed
from mlc.frontends.onnx.tensors import Tensor


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
    texts = {
        "LINEAR": "x0",
        "POLY": f"({gamma} * x0 + {offset}) ** {degree}",
        "SIGMOID": f"tanh({gamma} * x0 + {offset})",
    }
    if kind not in texts:
        raise NotSupported(f"kernel_type '{kind}'; it is LINEAR, POLY, RBF or SIGMOID")
    return products if kind == "LINEAR" else build.map(texts[kind], products)


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
    """(label by votes, a score a pair of classes) of support vectors of three or more classes."""
    no_texts(node, "classlabels_strings")
    build, labels, sizes = node.build, node.attr("classlabels_ints", None) or [], node.attr("vectors_per_class", None)
    if not sizes or len(labels) < 3 or node.attr("prob_a", None):
        raise NotSupported("an SVM of two classes, without support vectors, or with probabilities (prob_a, prob_b)")
    count = sum(sizes)
    values = kernel(node, _floats(node, "support_vectors").reshape(count, -1))
    table = _pair_weights(_floats(node, "coefficients").reshape(-1, count), sizes)
    scores = build.contract("nv,pv->np", values, Tensor.from_known(table))
    scores = build.map("x0 + x1", scores, Tensor.from_known(_floats(node, "rho")))
    label = best_label(build, _votes(build, scores, len(labels)), labels)
    return label, transformed(build, scores, node.attr("post_transform", "NONE"))


def _pairs(classes: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(classes) for j in range(i + 1, classes)]


def _pair_weights(coefficients: Array, sizes: list[int]) -> Array:
    """[pairs, vectors]: a pair of classes weighs the vectors of both, each by the row that is for the other."""
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
