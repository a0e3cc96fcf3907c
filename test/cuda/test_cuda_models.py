"""Small members of the benchmark families, compiled for a GPU and run by their artifacts, against onnxruntime.

All of ``benchmarks.models.small`` agree; these have what the others have, and compile in a moment.
"""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from fake_gpu import Gpu
from test_host_program import TARGET

import mlc
from benchmarks.models import build, small
from mlc.tools.random_inputs import random_inputs

MODELS = ("lstm", "llama_decode", "squeezenet")


@pytest.mark.parametrize("name", MODELS)
def test_a_small_model_agrees_with_onnxruntime(name: str, gpu: Gpu) -> None:
    source = build(name, **small.OPTIONS[name])
    with mlc.compile(source, target=TARGET) as net:
        inputs = random_inputs(net, 0, {})
        found = net.run(inputs)
    session = onnxruntime.InferenceSession(source.SerializeToString(), providers=["CPUExecutionProvider"])
    for output, wanted in zip(session.get_outputs(), session.run(None, dict(inputs)), strict=True):
        error = np.abs(found[output.name] - wanted).max() / np.abs(wanted).max()
        assert error < 1e-5, (output.name, error)
