"""Steps of ai.onnx.ml: features, linear models, support vectors, trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from growing import FORESTS, Graph
from onnx.numpy_helper import from_array

DOMAIN = "ai.onnx.ml"
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC")
KERNELS = {"LINEAR": [0.0, 0.0, 0.0], "POLY": [0.3, 0.5, 2.0], "RBF": [0.2, 0.0, 0.0], "SIGMOID": [0.1, 0.2, 0.0]}


def _add(g: Graph, op: str, inputs: list[str], *rest: Any, **how: Any) -> str:
    return g.add(op, inputs, *rest, domain=DOMAIN, **how)


def _drawn(g: Graph, *shape: int) -> list[float]:
    return g.numpy().uniform(-1, 1, shape).astype("f4").ravel().tolist()  # type: ignore[no-any-return]


def feature(g: Graph) -> None:
    rows, count = g.random.randint(1, 8), g.random.randint(1, 8)
    shape, x = (rows, count), g.new((rows, count))
    op = g.random.choice(["ArrayFeatureExtractor", "Binarizer", "Scaler", "Normalizer", "Imputer", "FeatureVectorizer"])
    if op == "ArrayFeatureExtractor":
        positions = g.numpy().integers(0, count, (1, 3))
        _add(g, op, [x, g.constant(positions)], (rows, 3))
    elif op == "FeatureVectorizer":
        _add(g, op, [x, g.new((rows, 2))], (rows, count + 2), inputdimensions=[count, 2])
    else:
        _add(g, op, [x], shape, last=op == "Binarizer", **_how(g, op, g.random.choice([1, count])))


def _how(g: Graph, op: str, count: int) -> dict[str, Any]:
    return {
        "Binarizer": {"threshold": 0.3},
        "Scaler": {"offset": _drawn(g, count), "scale": _drawn(g, count)},
        "Normalizer": {"norm": g.random.choice(["MAX", "L1", "L2"])},
        "Imputer": {"imputed_value_floats": _drawn(g, count), "replaced_value_float": float("nan")},
    }[op]


def labels(g: Graph) -> None:
    shape = (g.random.randint(1, 5), g.random.randint(1, 5))
    x = g.new(shape, "int64")
    if g.random.random() < 0.5:
        how = {"keys_int64s": [7, 2, 5, 3], "values_floats": [0.5, 1.5, -2.0, 9.0], "default_float": -7.0}
        _add(g, "LabelEncoder", [x], shape, "float32", last=True, **how)
    else:
        _add(g, "OneHotEncoder", [x], (*shape, 3), "float32", last=True, cats_int64s=[5, 0, 2], zeros=1)


def linear(g: Graph) -> None:
    rows, count, classes = g.random.randint(1, 8), g.random.randint(1, 8), 3
    how = {"coefficients": _drawn(g, classes * count), "intercepts": _drawn(g, classes)}
    how |= {"post_transform": g.random.choice(TRANSFORMS)}  # type: ignore[dict-item]
    if g.random.random() < 0.5:
        _add(g, "LinearRegressor", [g.new((rows, count))], (rows, classes), targets=classes, **how)
    else:
        _add(g, "LinearClassifier", [g.new((rows, count))], (rows,), "int64", classlabels_ints=[4, -1, 9], **how)
        g.more((rows, classes), "float32")


def vectors(g: Graph) -> None:
    rows, count, kind = g.random.randint(1, 8), g.random.randint(1, 6), g.random.choice(list(KERNELS))
    how: dict[str, Any] = {"kernel_type": kind, "kernel_params": KERNELS[kind]}
    if g.random.random() < 0.5:
        how |= {"support_vectors": _drawn(g, 6 * count), "coefficients": _drawn(g, 6), "n_supports": 6, "rho": [0.3]}
        _add(g, "SVMRegressor", [g.new((rows, count))], (rows, 1), **how)
    else:
        how |= {"support_vectors": _drawn(g, 9 * count), "coefficients": _drawn(g, 18), "rho": _drawn(g, 3)}
        how |= {"vectors_per_class": [2, 4, 3], "classlabels_ints": [5, 2, 9]}
        _add(g, "SVMClassifier", [g.new((rows, count))], (rows,), "int64", last=True, **how)
        g.more((rows, 3), "float32", last=True)


def trees(g: Graph) -> None:
    """Full trees of a few levels."""
    rows, count, targets, levels = (g.random.randint(1, 6), g.random.randint(1, 5), 3, g.random.randint(1, 4))
    if g.opset >= FORESTS:
        _ensemble(g, rows, count, targets, levels)
        return
    regressor = g.random.random() < 0.5
    how = _forest(g, "target" if regressor else "class", g.random.randint(1, 4), count, targets, levels)
    if regressor:
        how |= {"n_targets": targets, "aggregate_function": g.random.choice(["SUM", "AVERAGE", "MIN", "MAX"])}
        _add(g, "TreeEnsembleRegressor", [g.new((rows, count))], (rows, targets), **how)
    else:
        how |= {"classlabels_int64s": [3, 8, 5], "post_transform": g.random.choice(TRANSFORMS)}
        _add(g, "TreeEnsembleClassifier", [g.new((rows, count))], (rows,), "int64", **how)
        g.more((rows, targets), "float32")


def _ensemble(g: Graph, rows: int, count: int, targets: int, levels: int) -> None:
    """One operator with fewer tables: inner nodes and leaves have separate indices."""
    trees, inner = g.random.randint(1, 4), (1 << levels) - 1
    total, last = trees * inner, inner // 2  # nodes from ``last`` on in a tree have leaves
    starts = [(t * inner, t * (inner + 1)) for t in range(trees)]
    yes = [a + 2 * n + 1 if n < last else b + 2 * (n - last) for a, b in starts for n in range(inner)]
    no = [child + 1 for child in yes]
    leaf = [int(n >= last) for _ in starts for n in range(inner)]
    modes, positions = g.numpy().integers(0, 4, total).astype("u1"), g.numpy().integers(0, targets, total + trees)
    splits, weights = (g.numpy().uniform(-1, 1, n).astype("f4") for n in (total, total + trees))
    how: dict[str, Any] = {
        "tree_roots": [a for a, _ in starts], "n_targets": targets, "aggregate_function": g.random.randint(0, 3),
        "nodes_featureids": g.numpy().integers(0, count, total).tolist(), "nodes_splits": from_array(splits),
        "nodes_modes": from_array(modes), "nodes_truenodeids": yes, "nodes_falsenodeids": no,
        "nodes_trueleafs": leaf, "nodes_falseleafs": leaf, "leaf_targetids": positions.tolist(),
        "leaf_weights": from_array(weights),
    }  # fmt: skip
    _add(g, "TreeEnsemble", [g.new((rows, count))], (rows, targets), **how)


def _forest(g: Graph, kind: str, trees: int, features: int, targets: int, levels: int) -> dict[str, Any]:
    inner, total = (1 << levels) - 1, (2 << levels) - 1
    ids, mode = list(range(total)), g.random.choice(["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"])
    leaves = [(n, t) for n in ids[inner:] for t in range(targets)]
    return {
        "nodes_treeids": [t for t in range(trees) for _ in ids],
        "nodes_nodeids": ids * trees,
        "nodes_featureids": g.numpy().integers(0, features, total * trees).tolist(),
        "nodes_values": _drawn(g, total * trees),
        "nodes_modes": ([mode] * inner + ["LEAF"] * (total - inner)) * trees,
        "nodes_truenodeids": [2 * n + 1 if n < inner else 0 for n in ids] * trees,
        "nodes_falsenodeids": [2 * n + 2 if n < inner else 0 for n in ids] * trees,
        "nodes_missing_value_tracks_true": [0] * (total * trees),
        f"{kind}_treeids": [t for t in range(trees) for _ in leaves],
        f"{kind}_nodeids": [n for n, _ in leaves] * trees,
        f"{kind}_ids": [t for _, t in leaves] * trees,
        f"{kind}_weights": _drawn(g, len(leaves) * trees),
    }


ML: tuple[Callable[[Graph], None], ...] = (feature, feature, feature, labels, linear, linear, vectors, trees, trees)
