"""Random graphs of open sizes are valid; `fuzz_graphs.py --kind sizes` compares any number with onnxruntime."""

from __future__ import annotations

import onnx
import pytest
from grow_sized import sized_model


@pytest.mark.parametrize("seed", range(60))
def test_sized_graphs_are_valid(seed: int) -> None:
    model = sized_model(seed)
    if all(output.type.tensor_type.HasField("shape") for output in model.graph.output):  # not where a rank is open
        onnx.checker.check_model(model, full_check=True)
    assert model == sized_model(seed)
