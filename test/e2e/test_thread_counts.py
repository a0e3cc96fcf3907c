"""The same bits on any number of threads: networks of convolutions, attention, recurrence, and rows of a softmax."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest

import mlc
from benchmarks import models
from benchmarks.models import random_inputs
from benchmarks.thread_counts import ThreadCounts

MODELS: dict[str, dict[str, Any]] = {  # large enough for several threads to be woken
    "resnet18": {"image": 97, "blocks": (1, 1, 1, 1), "width": 28, "classes": 10},
    "mobilenet_v2": {"image": 97, "stages": ((1, 16, 1, 1), (6, 24, 2, 2), (6, 40, 1, 2)), "stem": 20, "head": 72},
    "unet": {"image": 68, "width": 20, "depth": 2, "classes": 3},
    "bert": {"tokens": 45, "layers": 1, "hidden": 144, "heads": 3, "vocabulary": 101, "positions": 64},
    "llama_decode": {"past": 77, "layers": 1, "hidden": 300, "heads": 6, "groups": 2, "inner": 500, "vocabulary": 101},
    "lstm": {"steps": 9, "inputs": 150, "hidden": 170},
    "op_softmax_1536x128": {},
    "op_reduce_mean_64x100003_axis1": {},
}


@pytest.mark.parametrize("name", MODELS)
def test_the_number_of_threads_changes_no_bit(name: str, tmp_path: Path) -> None:
    proto, path = models.build(name, **MODELS[name]), tmp_path / "model.onnx"
    onnx.save(proto, path)
    net, inputs = mlc.compile(path, threads=1), random_inputs(proto, 5)
    with ThreadCounts(net.path, (2, 3, 4)) as counts:
        assert not any(counts.differing(inputs, net.run(inputs)).values())
