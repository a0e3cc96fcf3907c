"""Tree ensembles as tables: of any comparison, depth, number of leaves and of rows, against trees that are walked node
by node, to the last bit: weights are added in the order of the trees."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnxruntime
import pytest
from forests import forest
from onnx import numpy_helper
from single import ML, single, ways
from trees_drawn import FEW, ensemble, reached

import mlc
from mlc.errors import InputError
from mlc.frontends.onnx import UnsupportedError, import_model


def rows(rng: np.random.Generator, count: int, features: int, dtype: str) -> np.ndarray:
    x = rng.choice([*FEW, -7.5, 8.25, np.inf, -np.inf], (count, features)).astype(dtype)
    x[rng.random(x.shape) < 0.1] = np.nan
    return x


def scores(how: dict, leaves: np.ndarray, monoid: str) -> np.ndarray:
    weights, ids = numpy_helper.to_array(how["leaf_weights"]), np.array(how["leaf_targetids"])
    first = {"add": 0, "min": np.inf, "max": -np.inf}[monoid]
    y = np.full((len(leaves), how["n_targets"]), first, weights.dtype)
    for row, reach in zip(y, leaves, strict=True):
        for leaf in reach:
            value, target = weights[leaf], ids[leaf]
            row[target] = {"add": row[target] + value, "min": min(row[target], value), "max": max(row[target], value)}[
                monoid
            ]
    return np.where(np.abs(y) == np.inf, 0, y).astype(weights.dtype)


MODES = {"leq": [0], "all": [0, 1, 2, 3], "equal": [0, 4, 5], "members": [0, 6]}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("modes", MODES)
@pytest.mark.parametrize(("leaves", "targets"), [([5, 9, 2], 3), ([31] * 11, 1), ([70, 20], 2), ([700, 3], 4)])
def test_forests(rng: np.random.Generator, leaves: list[int], targets: int, modes: str, dtype: str) -> None:
    how = ensemble(rng, leaves, 6, targets, MODES[modes], dtype)
    x = rows(rng, 75, 6, dtype)
    wanted = scores(how, reached(how, x), "add")
    for found in ways(single("TreeEnsemble", {"x": x}, domain=ML, version=5, aggregate_function=1, **how), {"x": x}):
        np.testing.assert_array_equal(found["y0"], wanted)


@pytest.mark.parametrize(("aggregate", "monoid"), [(2, "min"), (3, "max")])
def test_least_and_greatest_weights(rng: np.random.Generator, aggregate: int, monoid: str) -> None:
    how = ensemble(rng, [4, 8, 3, 1 + 6], 5, 3, [0, 3], "f4")
    x = rows(rng, 43, 5, "f4")
    wanted = scores(how, reached(how, x), monoid)
    for found in ways(
        single("TreeEnsemble", {"x": x}, domain=ML, version=5, aggregate_function=aggregate, **how), {"x": x}
    ):
        np.testing.assert_array_equal(found["y0"], wanted)


@pytest.mark.parametrize("leaves", [8, 40, 600])
def test_any_number_of_rows_and_threads(rng: np.random.Generator, leaves: int) -> None:
    """Vectors of rows, rows in flight and what is left of either."""
    how = ensemble(rng, [leaves] * 13, 7, 1, [0], "f4")
    x = rows(rng, 300, 7, "f4")
    model = single("TreeEnsemble", {"x": x}, domain=ML, version=5, aggregate_function=1, **how)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "rows"
    wanted = scores(how, reached(how, x), "add")
    for threads in (1, 3):
        compiled = mlc.compile(model, threads=threads)
        for count in (0, 1, 7, 8, 9, 17, 33, 300):
            np.testing.assert_array_equal(compiled.run({"x": x[:count]})["y0"], wanted[:count])


def test_ties_of_votes(rng: np.random.Generator) -> None:
    """Weights of a class are added in the order of the trees, as onnxruntime does on one thread: ties stay ties."""
    x = rng.standard_normal((200, 4)).astype("f4")
    how = forest(rng, "class", 40, 4, 3, "BRANCH_LEQ")
    how["class_weights"] = (rng.integers(0, 4, len(how["class_weights"])) / 30).tolist()
    model = single("TreeEnsembleClassifier", {"x": x}, 2, domain=ML, classlabels_int64s=[3, 8, 5], **how)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    wanted = session.run(None, {"x": x})
    for found in ways(model, {"x": x}):
        for name, right in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(found[name], right)


def test_a_feature_that_is_not_there_is_refused(rng: np.random.Generator) -> None:
    how = ensemble(rng, [30], 6, 1, [0], "f4")
    with pytest.raises(UnsupportedError, match="a test of feature 5 of an input"):
        import_model(single("TreeEnsemble", {"x": np.ones((2, 5), "f4")}, domain=ML, version=5, **how))


def test_any_numbers_name_trees_and_nodes(rng: np.random.Generator) -> None:
    """Numbers of trees and nodes only name them: negative, huge, shared between trees, in any order."""
    x = rng.standard_normal((30, 4)).astype("f4")
    how = forest(rng, "target", 7, 4, 2, "BRANCH_LEQ")
    tree_names, node_names = rng.permutation(7) * 10**12 - 5, rng.permutation(64) * 3 - 50
    model = single("TreeEnsembleRegressor", {"x": x}, domain=ML, n_targets=2, **how)
    wanted = mlc.compile(model).run({"x": x})["y0"]
    for name, values in list(how.items()):
        if name.endswith("treeids"):
            how[name] = tree_names[values].tolist()
        elif name.endswith("nodeids"):
            how[name] = node_names[values].tolist()
    renamed = single("TreeEnsembleRegressor", {"x": x}, domain=ML, n_targets=2, **how)
    np.testing.assert_array_equal(mlc.compile(renamed).run({"x": x})["y0"], wanted)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("nodes_truenodeids", lambda ids: [9999 if n else n for n in ids], "has no node 9999"),
        ("target_nodeids", lambda ids: [*ids[:-1], -3], "has no node -3"),
        ("nodes_values", lambda values: values[:-1], "nodes_values has "),
        ("target_weights", lambda values: [*values, 1.0], "target_weights has "),
    ],
)
def test_columns_that_do_not_fit(rng: np.random.Generator, name: str, values: Callable, message: str) -> None:
    x = np.ones((2, 4), "f4")
    how = forest(rng, "target", 3, 4, 1, "BRANCH_LEQ")
    model = single("TreeEnsembleRegressor", {"x": x}, domain=ML, n_targets=1, **(how | {name: values(how[name])}))
    with pytest.raises(InputError, match=message):
        import_model(model)
