"""Tree ensembles of ai.onnx.ml: their scores, labels and transforms."""

from __future__ import annotations

import numpy as np

from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.ops.trees.ensemble import forest_scores
from mlc.frontends.build.ops.trees.forest import Forest
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.ml import DOMAIN
from mlc.frontends.onnx.ops.ml.categories import labels_of
from mlc.frontends.onnx.ops.ml.forest import merged, numbered
from mlc.frontends.onnx.ops.ml.scores import TRANSFORMS, best_label, transformed
from mlc.frontends.onnx.ops.ml.two_classes import bound_of, of_two_classes

AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


def scores_of(build: Builder, x: Tensor, forest: Forest, aggregate: str, element: str, base: list[float]) -> Tensor:
    """[N, targets]: the weights of the leaves that are reached, combined over the trees, and base values.

    As in onnxruntime, of several targets one of which no leaf that is reached has a weight is 0, without a base value.
    """
    if aggregate not in AGGREGATES:
        raise NotSupported(f"aggregate_function '{aggregate}'; it is one of {', '.join(AGGREGATES)}")
    total = forest_scores(build, x, forest, {"MIN": "min", "MAX": "max"}.get(aggregate, "add"), element)
    if base and len(base) != forest.count:
        raise NotSupported(f"{len(base)} base values for {forest.count} scores; give one a score")
    if aggregate == "AVERAGE":
        total = build.map(f"x0 / {len(forest.roots)}", total)
    offsets = build.constant(base or [0.0], element)
    if aggregate in ("MIN", "MAX"):
        return build.map("where(abs(x0) == inf, 0, x0 + x1)", total, offsets)
    return _with_base(build, x, forest, total, base)


def _with_base(build: Builder, x: Tensor, forest: Forest, scores: Tensor, base: list[float]) -> Tensor:
    """Add the base value of each target for which a reached leaf has a weight."""
    if not base:
        return scores
    offsets = build.constant(base, scores.element)
    there = True if forest.count == 1 else reached(build, x, forest)
    if isinstance(there, bool):
        return build.map("x0 + x1", scores, offsets)
    return build.map("where(x2, x0 + x1, x0)", scores, offsets, there)


def reached(build: Builder, x: Tensor, forest: Forest) -> Tensor | bool:
    """[N, targets] or [1, targets] i1: whether a leaf that a row reaches has a weight for the target; True of all."""
    some, always = forest.presence()
    if (some == always).all():
        return True if always.all() else Tensor.from_known(always[np.newaxis])
    return build.map("x0 > -inf", forest_scores(build, x, forest, "max", "f32"))


def _input(node: Node) -> Tensor:
    x = node[0]
    if x.rank != 2:
        raise NotSupported(f"an input {x}; it has a row a sample: [N, features]")
    return x if x.element in ("f32", "f64") else node.build.cast(x, "f32")


def _base(node: Node) -> list[float]:
    values = node.attr("base_values_as_tensor", None)
    return list(node.attr("base_values", None) or []) if values is None else [float(v) for v in values]


@onnx_op("TreeEnsembleRegressor", domain=DOMAIN)
def tree_ensemble_regressor(node: Node) -> Tensor:
    """[N, n_targets] in f32 (ONNX TreeEnsembleRegressor 1 and 3)."""
    build, x = node.build, _input(node)
    forest = numbered(node, "target", node.attr("n_targets"))
    scores = scores_of(build, x, forest, node.attr("aggregate_function", "SUM"), x.element, _base(node))
    return transformed(build, build.cast(scores, "f32"), node.attr("post_transform", "NONE"))


@onnx_op("TreeEnsembleClassifier", domain=DOMAIN)
def tree_ensemble_classifier(node: Node) -> tuple[Tensor, Tensor]:
    """(label, scores in f32)."""
    build, x, labels = node.build, _input(node), labels_of(node, "classlabels_int64s")
    count, how = len(labels.known), node.attr("post_transform", "NONE")  # type: ignore[arg-type]
    forest = numbered(node, "class", count)
    scores = forest_scores(build, x, forest, "add", x.element)
    base = _base(node)
    if len(base) not in (0, count, count - 1 if count == 2 else count):
        raise NotSupported(f"{len(base)} base values for {count} classes; give one a class")
    there = reached(build, x, forest)
    if count == 2:
        is_second, found = of_two_classes(build, scores, there, base, bound_of(forest), how)
        label = build.compute("x0[i64(x1[i0, 0])]", [labels, is_second], (scores.shape[0],))
        return label, found
    if base:
        scores = build.map("x0 + x1", scores, build.constant(base, scores.element))
    if count == 1 and labels.element == "i64":  # onnxruntime's label of a single class says whether it is the class
        label = build.compute("i64(x0[i0, 0] > 0)", [scores], (scores.shape[0],))
        return label, transformed(build, build.cast(scores, "f32"), how)
    if not base and isinstance(there, Tensor):
        known = build.map("where(x1, x0, -inf)", scores, there)
        return best_label(build, known, labels), transformed(build, build.cast(scores, "f32"), how)
    return best_label(build, scores, labels), transformed(build, build.cast(scores, "f32"), how)


@onnx_op("TreeEnsemble", domain=DOMAIN, since=5)
def tree_ensemble(node: Node) -> Tensor:
    """[N, n_targets] in the element of the input (ONNX TreeEnsemble 5)."""
    build, x = node.build, _input(node)
    aggregate = AGGREGATES[node.attr("aggregate_function", 1)]
    scores = scores_of(build, x, merged(node), aggregate, x.element, [])
    return transformed(build, scores, TRANSFORMS[node.attr("post_transform", 0)])
