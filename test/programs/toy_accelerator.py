"""Models on the toy accelerator of examples/plugin beside onnxruntime, and models that it refuses."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import onnx
import onnxruntime

import mlc
from mlc import nn, target

IMAGES = nn.Conv2d(3, 5, 3, padding=1), nn.relu, nn.MaxPool2d(2), nn.Flatten(), nn.Linear(45, 11), nn.softmax
GIVEN: dict[str, tuple[Any, tuple[int, ...]]] = {
    "images": (nn.Sequential(*IMAGES).eval(), (2, 3, 6, 7)),
    "attention": (nn.MultiheadAttention(8, 2).eval(), (2, 5, 8)),
    "moments": (lambda x: [x.mean(), x.max(0), nn.gelu(x.T[::2]), 2 * x * (x > 0)], (9, 17)),
}
REFUSED = {
    "net (float[9] x, int64[2] i) => (float[2] y) { [pick] y = Gather(x, i) }": "run pick: it computes with floats",
    "net (float[n] x) => (float[n] y) { [root] y = Sqrt(x) }": "run root: the dimension n has no fixed extent",
    "net (double[4] x) => (double[4] y) { [root] y = Sqrt(x) }": "run root: .* not f64",
    "net (float[3] x) => (float[3] y) { [turn] y = Cos(x) }": "run turn: it has no vector instruction for math.cos",
}


def check(f: Any, *shape: int) -> None:
    x = np.random.default_rng().standard_normal(shape).astype(np.float32)
    model = mlc.export_onnx(f, x)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = mlc.compile(model, target="toy")(x)
    wanted = session.run(None, {model.graph.input[0].name: x})
    for y, expected in zip(found if isinstance(found, tuple | list) else [found], wanted, strict=True):
        np.testing.assert_allclose(y, expected, rtol=2e-5, atol=2e-5)


def check_refused(text: str, target: str, says: str) -> None:
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}')
    try:
        mlc.compile(model, target=target)
    except mlc.InputError as error:
        assert re.search(says, str(error)), error
    else:
        raise AssertionError(f"not refused: {text}")


assert "toy" in target.names() and target.get("toy:tiles=8").tiles == 8
for f, shape in GIVEN.values():
    check(f, *shape)
for text, says in REFUSED.items():
    check_refused(text, "toy", says)
check_refused("net (float[9] x) => (float[9] y) { y = Sqrt(x) }", "toy:tiles=1", "its scratchpad has 1 tiles")
