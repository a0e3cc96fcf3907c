"""Tree ensembles of ai.onnx.ml: their scores, labels and transforms."""

from __future__ import annotations

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

AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


def scores_of(build: Builder, x: Tensor, forest: Forest, aggregate: str, element: str) -> Tensor:
    """[N, targets]: the weights of the leaves that are reached, combined over the trees."""
    if aggregate not in AGGREGATES:
        raise NotSupported(f"aggregate_function '{aggregate}'; it is one of {', '.join(AGGREGATES)}")
    total = forest_scores(build, x, forest, {"MIN": "min", "MAX": "max"}.get(aggregate, "add"), element)
    if aggregate in ("MIN", "MAX"):
        return build.map("where(abs(x0) == inf, 0, x0)", total)
    return build.map(f"x0 / {len(forest.roots)}", total) if aggregate == "AVERAGE" else total


def _input(node: Node) -> Tensor:
    x = node[0]
    if x.rank != 2:
        raise NotSupported(f"an input {x}; it has a row a sample: [N, features]")
    return x if x.element in ("f32", "f64") else node.build.cast(x, "f32")


def _with_base(build: Builder, scores: Tensor, base: list[float]) -> Tensor:
    """Base values: one a target."""
    if not base:
        return scores
    if len(base) != scores.shape[1]:
        raise NotSupported(f"{len(base)} base values for {scores.shape[1]} scores; give one a score")
    return build.map("x0 + x1", scores, build.constant(base, scores.element))


def _base(node: Node) -> list[float]:
    values = node.attr("base_values_as_tensor", None)
    return list(node.attr("base_values", None) or []) if values is None else [float(v) for v in values]


@onnx_op("TreeEnsembleRegressor", domain=DOMAIN)
def tree_ensemble_regressor(node: Node) -> Tensor:
    """[N, n_targets] in f32 (ONNX TreeEnsembleRegressor 1 and 3)."""
    build, x = node.build, _input(node)
    forest = numbered(node, "target", node.attr("n_targets"))
    aggregate = node.attr("aggregate_function", "SUM")
    scores = scores_of(build, x, forest, aggregate, "f32")
    return transformed(build, _with_base(build, scores, _base(node)), node.attr("post_transform", "NONE"))


@onnx_op("TreeEnsembleClassifier", domain=DOMAIN)
def tree_ensemble_classifier(node: Node) -> tuple[Tensor, Tensor]:
    """(label, scores in f32) of more than two classes, or of two where the leaves have weights of one of them."""
    build, x, labels = node.build, _input(node), labels_of(node, "classlabels_int64s")
    count, how = len(labels.known), node.attr("post_transform", "NONE")  # type: ignore[arg-type]
    forest = numbered(node, "class", count)
    scores = scores_of(build, x, forest, "SUM", "f32")
    if count > 2:
        scores = _with_base(build, scores, _base(node))
        return best_label(build, scores, labels), transformed(build, scores, how)
    if count != 2 or len(set(forest.targets)) != 1 or len(_base(node)) > 1:
        raise NotSupported(f"{count} classes whose leaves have weights of several; give weights of one class, or three")
    only = build.cut(scores, 1, int(forest.targets[0]), 1)
    return _binary(build, _with_base(build, only, _base(node)), bool((forest.weight >= 0).all()), labels, how)


def _binary(build: Builder, score: Tensor, positive: bool, labels: Tensor, how: str) -> tuple[Tensor, Tensor]:
    """One score for two classes: a probability where no weight is negative, else a distance from the boundary."""
    if how not in ("NONE", "LOGISTIC"):
        raise NotSupported(f"post_transform {how} of one score for two classes; use NONE or LOGISTIC")
    flat = build.reshape(score, (score.shape[0],))
    label = build.compute(f"x0[i64(x1[i0] > {0.5 if positive else 0.0})]", [labels, flat], flat.shape)
    first, second = ("1 - x0", "x0") if positive else ("-x0", "x0")
    if how == "LOGISTIC":
        first, second = "sigmoid(-x0)", "sigmoid(x0)"
    return label, build.concat([build.map(first, score), build.map(second, score)], 1)


@onnx_op("TreeEnsemble", domain=DOMAIN, since=5)
def tree_ensemble(node: Node) -> Tensor:
    """[N, n_targets] in the element of the input (ONNX TreeEnsemble 5)."""
    build, x = node.build, _input(node)
    forest = merged(node)
    aggregate = AGGREGATES[node.attr("aggregate_function", 1)]
    scores = scores_of(build, x, forest, aggregate, x.element)
    return transformed(build, scores, TRANSFORMS[node.attr("post_transform", 0)])
