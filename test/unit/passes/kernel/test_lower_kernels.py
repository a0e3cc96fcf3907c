"""What ``lower-kernels`` must never do is noticed by itself."""

from __future__ import annotations

import onnx.parser
import pytest

import mlc
from mlc.passes.kernel import lower_kernels
from mlc.passes.legality import IllegalIR

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
rows (float[5,7] x) => (float[5,7] twice, float[5,9] padded) {
  y = Softmax (x)
  negative = Neg (y)
  twice = Add (y, y)
  pads = Constant <value = int64[4] {0, 0, 0, 2}> ()
  padded = Pad (negative, pads)
}"""


def test_a_value_that_is_overwritten_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were all taken to be read where they are defined, ``twice`` would stand where ``negative`` reads."""
    monkeypatch.setattr(lower_kernels._Lowering, "_reads_until", lambda *_: -1)
    with pytest.raises(IllegalIR, match=r"overwritten.*node '.*Pad_4.*'lower-kernels'"):
        mlc.compile(onnx.parser.parse_model(MODEL))
