"""What models on a GPU are compared with: onnxruntime, or where that is not installed mlc's own code for CPUs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import onnx

import mlc

Arrays = dict[str, np.ndarray[Any, Any]]


def reference(model: onnx.ModelProto, inputs: Arrays, names: list[str]) -> tuple[Arrays, str]:
    """The outputs of these names, and who has computed them."""
    if find_spec("onnxruntime") is None:
        with mlc.compile(model) as net:
            return net.run(inputs), "mlc for CPUs"
    import onnxruntime  # noqa: PLC0415 (it may not be installed)

    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip(names, session.run(names, dict(inputs)), strict=True)), "onnxruntime"
