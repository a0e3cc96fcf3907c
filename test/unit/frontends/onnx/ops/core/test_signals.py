"""STFT and DFT of signals of other shapes than ONNX says, against onnxruntime; those that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from single import agrees, normal, single

from mlc.frontends.onnx import UnsupportedError, import_model


@pytest.mark.parametrize("window", [False, True])
@pytest.mark.parametrize("onesided", [0, 1])
def test_stft_of_real_signals_without_a_last_dimension(rng: np.random.Generator, window: bool, onesided: int) -> None:
    """As onnxruntime takes them."""
    inputs = {"x": normal(rng, 2, 16), "s": np.array(4), "w": np.hanning(8).astype("f4") if window else None}
    inputs["l"] = None if window else np.array(8)
    agrees("STFT", inputs, constants=["s"] if window else ["s", "l"], onesided=onesided, rtol=1e-4)


SIGNALS: list[tuple[str, tuple[int, ...], dict[str, Any], str]] = [
    ("STFT", (16,), {}, r"a signal f32\[16\]; it takes \[batch, n\]"),
    ("STFT", (2, 16, 3), {}, r"a signal f32\[2, 16, 3\]"),
    ("DFT", (16,), {}, r"a signal f32\[16\]; it takes \[…, n, 1\]"),
    ("DFT", (2, 16), {}, r"a signal f32\[2, 16\]"),
    ("DFT", (4, 16, 2), {"axis": 2}, "axis 2 of .*real and imaginary parts"),
    ("DFT", (4, 16, 2), {"axis": 5}, "axis 5"),
]


@pytest.mark.parametrize(("op", "shape", "how", "why"), SIGNALS, ids=str)
def test_signals_that_are_refused(op: str, shape: tuple[int, ...], how: dict[str, Any], why: str) -> None:
    inputs = {"x": np.ones(shape, "f4"), **({"s": np.array(4), "w": np.ones(8, "f4")} if op == "STFT" else {})}
    model = single(op, inputs, constants=["s"] if op == "STFT" else (), **how)
    model.opset_import[0].version = 17
    with pytest.raises(UnsupportedError, match=f"{op}.*{why}"):
        import_model(model)
