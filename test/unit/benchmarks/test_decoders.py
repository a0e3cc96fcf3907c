"""The decoders that are measured, with caches in the artifact, beside onnxruntime that gets them as inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import mlc
from benchmarks import decoding
from benchmarks.models.decoders import SIZES, decoder


@pytest.mark.parametrize("form", ["concat", "grouped"])
def test_a_prompt_and_steps(form: str) -> None:
    """Grouped queries, rotary positions and a mask; two chunks, then tokens one by one."""
    model, sizes = decoder("tiny", form, bits=32), SIZES["tiny"]
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    empty = np.zeros((1, sizes.groups, 0, sizes.size), np.float32)
    caches = {i.name: empty for i in session.get_inputs() if i.name.startswith("past")}
    net, past = mlc.compile(model, cache=16), 0
    for count in (5, 3, 1, 1):
        given = decoding.feeds(count, past, form)
        results = dict(zip(names, session.run(None, given | caches), strict=True))
        caches = {name: results[name.replace("past_key_values", "present")] for name in caches}
        np.testing.assert_allclose(net.run(given)["logits"], results["logits"], rtol=1e-4, atol=1e-4)
        past += count


def test_times_in_turn(tmp_path: Path) -> None:
    runs: list[int] = []
    times = decoding.in_turn([lambda: runs.append(0), lambda: runs.append(1)], 0.01, 2)
    assert len(times) == 2 and runs[:4] == [0, 1, 0, 1]
