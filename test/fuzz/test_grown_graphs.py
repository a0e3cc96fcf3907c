"""The first random graphs, in every run; `fuzz_graphs.py` compares as many others as one likes."""

from __future__ import annotations

import onnx
import pytest
from agree import difference, differences
from grow import grown
from networks import network


@pytest.mark.parametrize("seed", range(40))
def test_a_random_graph_agrees_with_onnxruntime(seed: int) -> None:
    assert difference(seed, size=6) == "", f"python test/fuzz/fuzz_graphs.py --count 1 --size 6 --seed {seed}"


@pytest.mark.parametrize("first", range(0, 48, 16))
def test_random_networks_agree_with_onnxruntime(first: int) -> None:
    command = f"python test/fuzz/fuzz_graphs.py --kind networks --count 16 --size 5 --seed {first}"
    assert differences(range(first, first + 16), 5, "", "networks") == "", command


@pytest.mark.parametrize("seed", range(100))
def test_random_networks_are_valid(seed: int) -> None:
    model = network(seed)
    onnx.checker.check_model(model, full_check=True)
    assert model == network(seed)


@pytest.mark.parametrize("seed", range(100))
def test_grown_graphs_are_valid(seed: int) -> None:
    model = grown(seed)
    if all(node.op_type != "SimplifiedLayerNormalization" for node in model.graph.node):  # onnxruntime's own
        onnx.checker.check_model(model, full_check=True)
    assert model == grown(seed)
    assert 8 <= len(model.graph.node) <= 20
