"""Random graphs of open sizes; `fuzz_graphs.py --kind sizes` compares any number of others with onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from agree import UNKNOWN
from grow_sized import sized_model
from size_agree import size_differences

TOGETHER = 8  # graphs that are one model


@pytest.mark.parametrize("seed", range(60))
def test_sized_graphs_are_valid(seed: int) -> None:
    model = sized_model(seed)
    if all(output.type.tensor_type.HasField("shape") for output in model.graph.output):  # not where a rank is open
        onnx.checker.check_model(model, full_check=True)
    assert model == sized_model(seed)


@pytest.mark.parametrize("part", range(2))
def test_graphs_of_open_sizes_agree_with_onnxruntime(part: int) -> None:
    """At four sizes each: the same values, or an error of both."""
    first = int(np.random.default_rng().integers(1 << 30)) + part
    lines = size_differences(range(first, first + TOGETHER)).splitlines()
    command = f"python test/fuzz/fuzz_graphs.py --kind sizes --count {TOGETHER} --seed {first}"
    assert [line for line in lines if not line.startswith(UNKNOWN)] == [], command
