"""The models of reductions that a GPU is measured by compute what the benchmark compares them with."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest

from benchmarks.gpu.rows import CASES, model


@pytest.mark.parametrize("name", CASES)
def test_models_agree_with_their_reference(name: str) -> None:
    x = np.random.default_rng().standard_normal((7, 130)).astype(np.float32)
    session = ort.InferenceSession(model(name).SerializeToString(), providers=["CPUExecutionProvider"])
    found, wanted = session.run(None, {"x": x})[0], CASES[name].numpy(x.astype(np.float64))
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5 * np.abs(wanted).max())
