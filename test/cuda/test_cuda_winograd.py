"""Winograd convolutions on the CUDA target, emulated on the CPU, against onnxruntime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from emulator import needed
from launcher import Program
from onnx import numpy_helper
from test_cuda_operators import compare, feed_of, model_of

from mlc.passes.fuse.expand_winograd import ExpandWinograd

pytestmark = needed


def with_weights(text: str, **shapes: tuple[int, ...]) -> onnx.ModelProto:
    model, random = model_of(text), np.random.default_rng()
    weights = {name: random.uniform(-0.5, 0.5, shape).astype("f4") for name, shape in shapes.items()}
    model.graph.initializer.extend(numpy_helper.from_array(data, name) for name, data in weights.items())
    return model


@pytest.mark.parametrize("m", [2, 4])
@pytest.mark.parametrize("batch, extents, pads", [(3, (9, 14), 1), (1, (8, 8), 0)])
def test_convolution(
    m: int, batch: int, extents: tuple[int, int], pads: int, units: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiles that are cut at the ends, and a map of a bias and of another image."""
    monkeypatch.setattr(ExpandWinograd, "_tile", lambda *_: m)
    (h, w), (y, x) = extents, (e - 2 + 2 * pads for e in extents)
    text = (
        f"(float[{batch},5,{h},{w}] x, float[{batch},7,{y},{x}] z) => (float[{batch},7,{y},{x}] y) "
        f"{{ c = Conv <pads = [{pads},{pads},{pads},{pads}]> (x, w, b)  s = Add (c, z)  y = Relu (s) }}"
    )
    model = with_weights(text, w=(7, 5, 3, 3), b=(7,))
    made = Program.of(model, units)
    assert sum("winograd" in name for name in made.functions) == 4
    assert not any(name.startswith("map") for name in made.functions)  # what follows is computed by the last transform
    compare(model, units, feed_of(model))


def test_only_where_the_estimate_is_faster(units: Path) -> None:
    def transforms(batch: int, channels: int, **options: str) -> int:
        text = f"(float[{batch},{channels},14,14] x) => (float[{batch},{channels},12,12] y) {{ y = Conv (x, w) }}"
        made = Program.of(with_weights(text, w=(channels, channels, 3, 3)), units, **options)
        return sum("winograd" in name for name in made.functions)

    assert transforms(32, 128) == 4
    assert transforms(1, 16) == transforms(32, 128, numerics="strict") == transforms(32, 128, numerics="relaxed") == 0
