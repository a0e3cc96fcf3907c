"""A peer beside mlc on the same model and inputs: its latencies, alternately with ours, and how far its outputs are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from mlc.errors import InputError
from mlc.tools.latency import Run, latencies

ROUNDS = 5
TOLERANCE = 1e-3  # of the largest value: more than rounding


@dataclass(frozen=True)
class Comparison:
    """``ours`` and ``theirs``: seconds of single runs. ``ratio``: their median over ours, the median of the rounds.

    ``error``: the largest difference of an output's values, over the largest value of that output.
    """

    ours: list[float]
    theirs: list[float]
    ratio: float
    error: float

    @property
    def agrees(self) -> bool:
        return self.error <= TOLERANCE


def onnxruntime_session(model: Path, threads: int) -> Run:
    """A function that runs a model in onnxruntime on the CPU. Raises InputError where onnxruntime is missing or refuses
    the model.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise InputError("--peer onnxruntime: it is not installed", hint="pip install onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its own classes, and those of what it calls
        raise InputError(f"--peer onnxruntime cannot load {model}: {error}") from error
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(names, dict(inputs)), strict=True))


PEERS: dict[str, Callable[[Path, int], Run]] = {"onnxruntime": onnxruntime_session}


def compare(ours: Run, theirs: Run, inputs: Mapping[str, Any], seconds: float) -> Comparison:
    """Run both alternately, in bursts."""
    error = largest_error(ours(inputs), theirs(inputs))
    own, peer = [], []
    for _ in range(ROUNDS):
        own.append(latencies(ours, inputs, seconds / ROUNDS / 2))
        peer.append(latencies(theirs, inputs, seconds / ROUNDS / 2))
    ratio = median(median(y) / median(x) for x, y in zip(own, peer, strict=True))
    return Comparison(sum(own, []), sum(peer, []), ratio, error)


def largest_error(actual: Mapping[str, Any], expected: Mapping[str, Any]) -> float:
    """The largest difference of an output over its largest value; infinite where shapes, NaN or other values differ."""
    from mlc.tools.difference import difference

    return max((difference(actual[name], y).error for name, y in expected.items()), default=0.0)
