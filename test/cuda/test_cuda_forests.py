"""Tree ensembles on the CUDA target, emulated on the CPU, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from emulator import needed
from launcher import Program
from onnx import helper

pytestmark = needed


@pytest.mark.parametrize("aggregate", ["SUM", "MIN", "MAX"])
def test_forest(aggregate: str, units: Path) -> None:
    """Stumps and trees of two levels of two targets; NaN goes to either side."""
    rng = np.random.default_rng()
    trees, bounds = 9, rng.standard_normal((9, 3))
    modes = ["BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF"]
    node = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=2, aggregate_function=aggregate,
        nodes_treeids=np.repeat(np.arange(trees), 5).tolist(), nodes_nodeids=[0, 1, 2, 3, 4] * trees,
        nodes_featureids=rng.integers(0, 6, 5 * trees).tolist(), nodes_modes=modes * trees,
        nodes_values=[v for b in bounds for v in (b[0], b[1], 0.0, 0.0, 0.0)],
        nodes_truenodeids=[1, 3, 0, 0, 0] * trees, nodes_falsenodeids=[2, 4, 0, 0, 0] * trees,
        nodes_missing_value_tracks_true=rng.integers(0, 2, 5 * trees).tolist(),
        target_treeids=np.repeat(np.arange(trees), 3).tolist(), target_nodeids=[2, 3, 4] * trees,
        target_ids=[0, 1, 0] * trees, target_weights=rng.standard_normal(3 * trees).tolist(),
    )  # fmt: skip
    tensors = [helper.make_tensor_value_info(n, 1, ["n", k]) for n, k in (("x", 6), ("y", 2))]
    graph = helper.make_graph([node], "g", tensors[:1], tensors[1:])
    opsets = [helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    x = rng.standard_normal((70, 6)).astype("f4")
    x[rng.random(x.shape) < 0.1] = np.nan
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = Program.of(model, units).run({"x": x})["y"]
    np.testing.assert_allclose(found, session.run(None, {"x": x})[0], rtol=1e-6, atol=1e-6)


def test_probabilities_of_pairs(units: Path) -> None:
    """The iteration of a support vector classifier's probabilities."""
    rng = np.random.default_rng()
    node = helper.make_node(
        "SVMClassifier", ["x"], ["label", "y"], domain="ai.onnx.ml", kernel_type="LINEAR", kernel_params=[0.0] * 3,
        vectors_per_class=[2, 1, 2], support_vectors=rng.standard_normal(20).tolist(), classlabels_ints=[0, 1, 2],
        coefficients=rng.standard_normal(10).tolist(), rho=rng.standard_normal(3).tolist(),
        prob_a=(-rng.random(3)).tolist(), prob_b=rng.standard_normal(3).tolist(),
    )  # fmt: skip
    x, y = (helper.make_tensor_value_info(n, 1, ["n", k]) for n, k in (("x", 4), ("y", 3)))
    opsets = [helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("", 17)]
    model = helper.make_model(helper.make_graph([node], "g", [x], [y]), opset_imports=opsets, ir_version=8)
    feed = {"x": rng.standard_normal((40, 4)).astype("f4")}
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = Program.of(model, units).run(feed)["y"]
    np.testing.assert_allclose(found, session.run(None, feed)[0], rtol=1e-4, atol=1e-5)
