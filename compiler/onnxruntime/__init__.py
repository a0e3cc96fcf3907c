"""onnxruntime's Python interface over compiled models: a program changes its import line alone.

    import mlc.onnxruntime as ort              # before: import onnxruntime as ort

    session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    outputs = session.run(None, {"x": x})

For programs whose source is not changed, such as packages from the registry: ``install()`` before they are imported, or
``python -m mlc.onnxruntime program.py``. Interface: onnxruntime 1.32.
"""

from __future__ import annotations

from mlc.onnxruntime import capi as capi
from mlc.onnxruntime.binding import IOBinding as IOBinding
from mlc.onnxruntime.environment import INTERFACE as __version__  # noqa: F401
from mlc.onnxruntime.environment import disable_telemetry_events as disable_telemetry_events
from mlc.onnxruntime.environment import enable_telemetry_events as enable_telemetry_events
from mlc.onnxruntime.environment import get_all_providers as get_all_providers
from mlc.onnxruntime.environment import get_available_providers as get_available_providers
from mlc.onnxruntime.environment import get_build_info as get_build_info
from mlc.onnxruntime.environment import get_device as get_device
from mlc.onnxruntime.environment import get_version_string as get_version_string
from mlc.onnxruntime.environment import preload_dlls as preload_dlls
from mlc.onnxruntime.environment import print_debug_info as print_debug_info
from mlc.onnxruntime.environment import set_default_logger_severity as set_default_logger_severity
from mlc.onnxruntime.environment import set_default_logger_verbosity as set_default_logger_verbosity
from mlc.onnxruntime.environment import set_seed as set_seed
from mlc.onnxruntime.metadata import ModelMetadata as ModelMetadata
from mlc.onnxruntime.metadata import NodeArg as NodeArg
from mlc.onnxruntime.options import ExecutionMode as ExecutionMode
from mlc.onnxruntime.options import ExecutionOrder as ExecutionOrder
from mlc.onnxruntime.options import GraphOptimizationLevel as GraphOptimizationLevel
from mlc.onnxruntime.options import OrtAllocatorType as OrtAllocatorType
from mlc.onnxruntime.options import OrtMemType as OrtMemType
from mlc.onnxruntime.options import RunOptions as RunOptions
from mlc.onnxruntime.options import SessionOptions as SessionOptions
from mlc.onnxruntime.redirect import install as install
from mlc.onnxruntime.session import InferenceSession as InferenceSession
from mlc.onnxruntime.values import OrtDevice as OrtDevice
from mlc.onnxruntime.values import OrtValue as OrtValue

SessionIOBinding = IOBinding


def __getattr__(name: str) -> object:
    raise AttributeError(f"mlc.onnxruntime has no '{name}': docs/reference/onnxruntime.md lists what there is")
