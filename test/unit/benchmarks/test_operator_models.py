"""Models of one operator: each is valid, runs, and is chosen by a prefix and not by default."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from benchmarks import cases, models
from benchmarks.models.flops import flops
from benchmarks.models.operators import convolution, gemm, transposed
from benchmarks.models.sweeps import OPERATORS

SMALL = [name for name in OPERATORS if "50257" not in name and "30522" not in name and "4096x4096" not in name]


@pytest.mark.parametrize("name", SMALL)
def test_is_valid_with_the_declared_shapes(name: str) -> None:
    onnx.checker.check_model(models.build(name), full_check=True)  # strict shape inference


def test_flops() -> None:
    assert flops(gemm(3, 5, 7)) == 2 * 3 * 5 * 7
    assert flops(convolution((8, 8), 4, 6, 3, stride=2, groups=2)) == 2 * 6 * 4 * 4 * (2 * 9)
    assert flops(transposed(4, 3, 5, 2)) == 2 * 4 * 4 * 3 * 5 * 4


def test_are_chosen_by_prefix_only() -> None:
    chosen = {case.name for case in cases.select(["op_gemm*"])}
    assert chosen and all(name.startswith("op_gemm_") for name in chosen)
    assert not {case.name for case in cases.select([])} & set(OPERATORS)
    assert set(OPERATORS) <= {case.name for case in cases.select(["op_*"])}


def test_have_no_options() -> None:
    with pytest.raises(ValueError, match="op_gemm"):
        models.build("op_gemm_64x64x64", batch=2)


def test_same_name_same_weights() -> None:
    first, again = (onnx.numpy_helper.to_array(gemm(2, 3, 4).graph.initializer[0]) for _ in range(2))
    np.testing.assert_array_equal(first, again)
