"""Some node tests with extents of 0; `fuzz_empty.py` runs as many as one likes."""

from __future__ import annotations

import pytest
from fuzz_empty import inputs_of, problem, tests

CASES = [
    ("test_reduce_prod_empty_set", [(0, 2)]),
    ("test_qlinearmatmul_2D_uint8_float16", [(3, 1)]),
    ("test_matmul_3d", [(1, 2)]),
    ("test_conv_with_strides_padding", [(0, 0)]),
    ("test_gather_0", [(1, 0)]),
]


@pytest.mark.parametrize("name, axes", CASES, ids=[name for name, _ in CASES])
def test_what_onnxruntime_runs_gives_the_same(name: str, axes: list[tuple[int, int]]) -> None:
    case = next(case for cases in tests().values() for case in cases if case.name == name)
    assert not problem(name, case.model, inputs_of(case), axes)
