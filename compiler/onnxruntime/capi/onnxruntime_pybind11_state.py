"""onnxruntime's exceptions and classes under the name of its extension module."""

from __future__ import annotations

from mlc.onnxruntime.environment import get_available_providers as get_available_providers
from mlc.onnxruntime.environment import get_device as get_device
from mlc.onnxruntime.environment import get_version_string as get_version_string
from mlc.onnxruntime.errors import DeviceReset as DeviceReset
from mlc.onnxruntime.errors import EngineError as EngineError
from mlc.onnxruntime.errors import EPFail as EPFail
from mlc.onnxruntime.errors import Fail as Fail
from mlc.onnxruntime.errors import InvalidArgument as InvalidArgument
from mlc.onnxruntime.errors import InvalidGraph as InvalidGraph
from mlc.onnxruntime.errors import InvalidProtobuf as InvalidProtobuf
from mlc.onnxruntime.errors import ModelLoadCanceled as ModelLoadCanceled
from mlc.onnxruntime.errors import ModelLoaded as ModelLoaded
from mlc.onnxruntime.errors import ModelRequiresCompilation as ModelRequiresCompilation
from mlc.onnxruntime.errors import NoModel as NoModel
from mlc.onnxruntime.errors import NoSuchFile as NoSuchFile
from mlc.onnxruntime.errors import NotFound as NotFound
from mlc.onnxruntime.errors import NotImplemented as NotImplemented
from mlc.onnxruntime.errors import RuntimeException as RuntimeException
from mlc.onnxruntime.metadata import ModelMetadata as ModelMetadata
from mlc.onnxruntime.metadata import NodeArg as NodeArg
from mlc.onnxruntime.options import ExecutionMode as ExecutionMode
from mlc.onnxruntime.options import GraphOptimizationLevel as GraphOptimizationLevel
from mlc.onnxruntime.options import RunOptions as RunOptions
from mlc.onnxruntime.options import SessionOptions as SessionOptions
