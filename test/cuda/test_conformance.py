"""A sample of the backend tests of the onnx package on the CUDA target, emulated on the CPU.

Every 47th runs: kernels compile for half a second each. ``EVERY = 1`` runs all.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from cases import as_array, expected_failure, small_cases
from emulator import needed
from launcher import Program

from mlc.driver.onnx_source import OnnxSource

pytestmark = needed

EVERY = 47  # how many cases there are for one of the sample
HOST = ("ImageDecoder", "RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit")


def _on_the_device(model: onnx.ModelProto) -> bool:
    """Whether all tensors are numbers: sequences, strings and images are computed by the host."""
    values = [*model.graph.input, *model.graph.output]
    numbers = all(v.type.HasField("tensor_type") and v.type.tensor_type.elem_type != 8 for v in values)
    return numbers and not any(node.op_type in HOST for node in model.graph.node)


def _names() -> list[str]:
    return [name for name in sorted(small_cases())[::EVERY] if expected_failure(name, "") is None]


@pytest.mark.parametrize("name", _names())
def test_node(name: str, units: Path) -> None:
    case = small_cases()[name]
    if not _on_the_device(case.model):
        pytest.skip("computed by the host")
    imported = OnnxSource.of(case.model).imported({})
    program = Program(imported.module, imported.weights, units)
    for given, wanted in case.data_sets[:1]:
        named = zip(case.model.graph.input, given, strict=False)
        outputs = program.run({value.name: as_array(array) for value, array in named if array is not None})
        for value, expected in zip(case.model.graph.output, wanted, strict=True):
            _same(outputs[value.name], as_array(expected), case.rtol, case.atol)


def _same(actual: Any, wanted: Any, rtol: float, atol: float) -> None:
    assert actual.shape == wanted.shape
    if wanted.dtype.kind in "fc":
        np.testing.assert_allclose(actual, wanted, rtol=max(rtol, 1e-3), atol=max(atol, 1e-6))
    else:
        np.testing.assert_array_equal(actual, wanted)
