"""Code for NEON: small models of some families (``--whole``: of every one), and products of bytes, against onnxruntime,
on 1, 2 and 4 threads."""

from __future__ import annotations

import secrets
from pathlib import Path

import emulated
import onnx.parser
import pytest
from seeds import drawn

from benchmarks import models
from benchmarks.correctness import compare
from benchmarks.engines import onnxruntime
from benchmarks.models import random_inputs, small

pytestmark = emulated.needed

THREADS = (1, 2, 4)
SAMPLE = 5  # families


def check(proto: onnx.ModelProto, folder: Path, dims: dict[str, int]) -> None:
    """Compile a model and compare it at one size of its symbolic dimensions."""
    seed, model = secrets.randbits(32), emulated.Emulated(proto, folder)
    inputs = random_inputs(proto, seed, dims)
    expected = onnxruntime(folder / "model.onnx", 1)(inputs)
    first, *others = [model.run(inputs, expected, n, list(dims.values())) for n in THREADS]
    for row in compare(proto.graph.name, "default", dims, first, expected):
        assert row.passed, f"seed {seed}: {row}"
    for other in others:
        assert [y.tobytes() for y in first.values()] == [y.tobytes() for y in other.values()], f"seed {seed}"


@pytest.mark.parametrize("name", drawn(sorted(models.FAMILIES), SAMPLE, "aarch64"))
def test_floats(name: str, tmp_path: Path) -> None:
    check(models.build(name, batch="batch", **small.OPTIONS[name]), tmp_path, {"batch": 3})


PRODUCTS = """<ir_version: 8, opset_import: ["" : 17]>
products (uint8[13,70] a, int8[70,45] b, uint8[2,20,11,9] x, int8[33,20,3,3] w) => (int32[13,45] c, int32[2,33,9,7] y) {
  c = MatMulInteger (a, b)
  y = ConvInteger (x, w)
}"""


def test_bytes(tmp_path: Path) -> None:
    check(onnx.parser.parse_model(PRODUCTS), tmp_path, {})
