"""The engines that a comparison can run, each as a function that loads a file and returns what runs it once.

A new peer is one function and one line in `ENGINES`; it is left out where its package is not installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np

Arrays = Mapping[str, np.ndarray]
Run = Callable[[Arrays], Arrays]


def mlc(path: Path, threads: int) -> Run:
    """An artifact of mlc, `path` the shared library."""
    from mlc import load

    return load(path, threads).run


def onnxruntime(path: Path, threads: int) -> Run:
    """onnxruntime's CPU provider with all graph optimizations, as its sessions are by default."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(names, dict(inputs)), strict=True))


def openvino(path: Path, threads: int) -> Run:
    """OpenVINO's CPU plugin in float32 (it would choose bfloat16 by itself where the CPU has it)."""
    import openvino as ov

    config = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
    compiled = ov.Core().compile_model(path, "CPU", config)
    request, outputs = compiled.create_infer_request(), compiled.outputs

    def run(inputs: Arrays) -> Arrays:
        results = request.infer(dict(inputs), share_inputs=True, share_outputs=True)
        return {output.any_name: results[output] for output in outputs}

    return run


ENGINES: dict[str, Callable[[Path, int], Run]] = {"mlc": mlc, "onnxruntime": onnxruntime, "openvino": openvino}


def available_peers() -> list[str]:
    """The engines other than mlc whose package is installed."""
    return [name for name in ENGINES if name != "mlc" and find_spec(name)]
