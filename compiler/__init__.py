"""mlc: a deep-learning compiler. ONNX models go in; C kernels with a plain C ABI come out.

    net = mlc.compile("model.onnx")
    y = net(x)
    net.save("model.so");  mlc.load("model.so")

Names are loaded on first use: importing ``mlc.runtime`` alone needs NumPy and nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mlc import attribution as attribution
    from mlc import comm as comm
    from mlc import distributions as distributions
    from mlc import graph as graph
    from mlc import lax as lax
    from mlc import nn as nn
    from mlc import numpy as numpy
    from mlc import onnxruntime as onnxruntime
    from mlc import optim as optim
    from mlc import privacy as privacy
    from mlc import robust as robust
    from mlc import scipy as scipy
    from mlc import target as target
    from mlc import train as train
    from mlc.api import check as check
    from mlc.api import compile as compile
    from mlc.api import tune as tune
    from mlc.comm.experts import mixture_of_experts as mixture_of_experts
    from mlc.comm.mesh import Mesh as Mesh
    from mlc.comm.mesh import P as P
    from mlc.comm.pipeline import pipeline as pipeline
    from mlc.comm.shard_map import shard_map as shard_map
    from mlc.comm.sharded import shard as shard
    from mlc.debugging.compare import compare as compare
    from mlc.errors import ArtifactError as ArtifactError
    from mlc.errors import InputError as InputError
    from mlc.errors import InternalError as InternalError
    from mlc.errors import MlcError as MlcError
    from mlc.errors import OutputError as OutputError
    from mlc.errors import RunError as RunError
    from mlc.errors import ToolchainError as ToolchainError
    from mlc.export import export_onnx as export_onnx
    from mlc.export.stablehlo import export_stablehlo as export_stablehlo
    from mlc.frontends.array.array import TraceError as TraceError
    from mlc.frontends.array.complex.whole_leaves import tree_map as tree_map
    from mlc.frontends.array.statements.compute import compute as compute
    from mlc.frontends.array.statements.compute import reduce as reduce
    from mlc.frontends.array.transforms.batching import vmap as vmap
    from mlc.frontends.array.transforms.control import cond as cond
    from mlc.frontends.array.transforms.control import fori_loop as fori_loop
    from mlc.frontends.array.transforms.control import scan as scan
    from mlc.frontends.array.transforms.control import switch as switch
    from mlc.frontends.array.transforms.control import while_loop as while_loop
    from mlc.frontends.array.transforms.custom import checkpoint as checkpoint
    from mlc.frontends.array.transforms.custom import custom_jvp as custom_jvp
    from mlc.frontends.array.transforms.custom import custom_vjp as custom_vjp
    from mlc.frontends.array.transforms.custom import stop_gradient as stop_gradient
    from mlc.frontends.array.transforms.derivatives.gradients import grad as grad
    from mlc.frontends.array.transforms.derivatives.gradients import value_and_grad as value_and_grad
    from mlc.frontends.array.transforms.derivatives.jacobians import hessian as hessian
    from mlc.frontends.array.transforms.derivatives.jacobians import jacfwd as jacfwd
    from mlc.frontends.array.transforms.derivatives.jacobians import jacrev as jacrev
    from mlc.frontends.array.transforms.derivatives.linear_maps import hvp as hvp
    from mlc.frontends.array.transforms.derivatives.linear_maps import jvp as jvp
    from mlc.frontends.array.transforms.derivatives.linear_maps import linearize as linearize
    from mlc.frontends.array.transforms.derivatives.linear_maps import vjp as vjp
    from mlc.frontends.array.transforms.scans import associative_scan as associative_scan
    from mlc.frontends.array.transforms.scans import map as map
    from mlc.generation.generate import generate as generate
    from mlc.onnxruntime.session import InferenceSession as InferenceSession
    from mlc.options import Options as Options
    from mlc.quantization.quantize import quantize as quantize
    from mlc.runtime import Model as Model
    from mlc.runtime import TensorSpec as TensorSpec
    from mlc.runtime import load as load
    from mlc.tracing.function import function as function
    from mlc.tracing.jit import explain as explain
    from mlc.tracing.jit import jit as jit
    from mlc.tracing.onnx_function import OnnxFunction as OnnxFunction
    from mlc.tuning.tuner import Tuning as Tuning

_TRANSFORMS = "mlc.frontends.array.transforms"
_HOMES = {
    "OnnxFunction": "mlc.tracing.onnx_function",
    "function": "mlc.tracing.function",
    **dict.fromkeys(("checkpoint", "custom_jvp", "custom_vjp", "stop_gradient"), f"{_TRANSFORMS}.custom"),
    **dict.fromkeys(("hessian", "jacfwd", "jacrev"), f"{_TRANSFORMS}.derivatives.jacobians"),
    **dict.fromkeys(("associative_scan", "map"), f"{_TRANSFORMS}.scans"),
    "vmap": f"{_TRANSFORMS}.batching",
    "tree_map": "mlc.frontends.array.complex.whole_leaves",
    **dict.fromkeys(("Mesh", "P"), "mlc.comm.mesh"),
    "shard": "mlc.comm.sharded",
    "shard_map": "mlc.comm.shard_map",
    "pipeline": "mlc.comm.pipeline",
    "mixture_of_experts": "mlc.comm.experts",
    "compile": "mlc.api",
    "check": "mlc.api",
    "tune": "mlc.api",
    "Tuning": "mlc.tuning.tuner",
    "jit": "mlc.tracing.jit",
    "explain": "mlc.tracing.jit",
    "TraceError": "mlc.frontends.array.array",
    **dict.fromkeys(("compute", "reduce"), "mlc.frontends.array.statements.compute"),
    **dict.fromkeys(("cond", "fori_loop", "scan", "switch", "while_loop"), f"{_TRANSFORMS}.control"),
    **dict.fromkeys(("grad", "value_and_grad"), f"{_TRANSFORMS}.derivatives.gradients"),
    **dict.fromkeys(("hvp", "jvp", "linearize", "vjp"), f"{_TRANSFORMS}.derivatives.linear_maps"),
    "compare": "mlc.debugging.compare",
    "export_onnx": "mlc.export",
    "export_stablehlo": "mlc.export.stablehlo",
    "Options": "mlc.options",
    "generate": "mlc.generation.generate",
    "quantize": "mlc.quantization.quantize",
    "InferenceSession": "mlc.onnxruntime.session",
    "Model": "mlc.runtime",
    "TensorSpec": "mlc.runtime",
    "load": "mlc.runtime",
    "MlcError": "mlc.errors",
    "InputError": "mlc.errors",
    "ArtifactError": "mlc.errors",
    "RunError": "mlc.errors",
    "ToolchainError": "mlc.errors",
    "OutputError": "mlc.errors",
    "InternalError": "mlc.errors",
}

_PACKAGES = (
    *("attribution", "comm", "distributions", "graph", "lax", "nn", "numpy", "onnxruntime", "optim", "privacy"),
    *("robust", "scipy", "target", "train"),
)
__all__ = ["__version__", *_PACKAGES, *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"mlc.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'mlc' has no attribute '{name}'")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if not f"{_HOMES[name]}.".startswith(f"{error.name}."):
            raise
        raise ImportError(f"mlc.{name} is part of the compiler, and this is mlc-runtime: install mlc") from None


def __dir__() -> list[str]:
    return sorted(__all__)
