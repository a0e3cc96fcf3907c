"""The engines that a comparison can run, each as a function that loads a file and returns what runs it once.

A new peer is one function and one line in `ENGINES`; it is left out where its package is not installed. A model that it
cannot take is an exception, of any class.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

Arrays = Mapping[str, np.ndarray]
Run = Callable[[Arrays], Arrays]


def mlc(path: Path, threads: int) -> Run:
    """An artifact of mlc, `path` the shared library."""
    from mlc import load

    return load(path, threads).run


def onnxruntime(path: Path, threads: int, optimized: bool = True, exact: bool = False) -> Run:
    """onnxruntime's CPU provider with all graph optimizations, as its sessions are by default, or with none.

    ``exact``: a reference, whose products of bytes do not saturate on CPUs without VNNI, as they do by default.
    """
    import onnx
    import onnxruntime as ort

    from benchmarks.exact_sessions import exact_options

    options = exact_options(onnx.load(path, load_external_data=False)) if exact else ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    if not optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(names, dict(inputs)), strict=True))


def openvino(path: Path, threads: int, precision: str = "f32") -> Run:
    """OpenVINO's CPU plugin for latency, in float32 (it would choose bfloat16 by itself where the CPU has it)."""
    import openvino as ov

    config = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": "LATENCY"}
    compiled = ov.Core().compile_model(path, "CPU", config)
    request, outputs = compiled.create_infer_request(), compiled.outputs

    def run(inputs: Arrays) -> Arrays:
        results = request.infer(dict(inputs), share_inputs=True, share_outputs=True)
        return {name: results[output] for output in outputs for name in output.names}

    return run


def openvino_bf16(path: Path, threads: int) -> Run:
    """OpenVINO in bfloat16, its default where the CPU multiplies these."""
    return openvino(path, threads, "bf16")


def iree(path: Path, threads: int, cpu: str = "host") -> Run:
    """IREE's LLVM backend for this CPU at `O3`, with the weights as constants of the module."""
    import iree.runtime as rt
    import onnx
    from iree.compiler import compile_file

    flags = [f"--iree-llvmcpu-target-cpu={cpu}", "--iree-opt-level=O3"]
    flags.append("--iree-llvmcpu-stack-allocation-limit=262144")  # BERT's normalizations need more than the default
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.mlir"
        name = _import_for_iree(path, file)
        code = compile_file(str(file), input_type="onnx", target_backends=["llvm-cpu"], extra_args=flags)
    rt.flags.parse_flags(f"--task_topology_group_count={threads}")
    function = rt.load_vm_flatbuffer(code, driver="local-task")[name]
    return _positional(onnx.load(path, load_external_data=False), function, lambda array: array.to_host())


def _import_for_iree(path: Path, file: Path) -> str:
    """Write a model as MLIR bytecode; returns the name of its function."""
    import onnx
    from iree.compiler.extras import onnx_importer
    from iree.compiler.ir import Context

    info = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(onnx.load(path), data_prop=True))
    module = info.create_module(context=Context()).operation
    onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
    with file.open("wb") as stream:
        module.write_bytecode(stream)
    return info.main_graph.graph_proto.name


def tvm(path: Path, threads: int, cpu: str = "") -> Run:
    """TVM's Relax with its default pipeline for this CPU: without tuning, its loops stay as they are, on one thread."""
    os.environ["TVM_NUM_THREADS"] = str(threads)
    import onnx
    import tvm as tvm_
    from tvm.relax import VirtualMachine
    from tvm.relax.frontend.onnx import from_onnx
    from tvm.target.codegen import llvm_get_system_cpu

    model = onnx.load(path)
    target = tvm_.target.Target({"kind": "llvm", "mcpu": cpu or llvm_get_system_cpu(), "num-cores": threads})
    with target:
        machine = VirtualMachine(tvm_.compile(from_onnx(model), target), tvm_.cpu())
    main = machine["main"]
    return _positional(model, lambda *arrays: main(*map(tvm_.runtime.tensor, arrays)), lambda array: array.numpy())


def torch(path: Path, threads: int) -> Run:
    """PyTorch eagerly; the graph is rewritten, node by node, as calls of PyTorch."""
    return _torch(path, threads, lambda module: module)


def torch_compile(path: Path, threads: int) -> Run:
    """PyTorch's compiler on the same graph, with the weights frozen so that it may pack them."""
    os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"  # what is timed is a compilation
    import torch as torch_

    return _torch(path, threads, lambda module: torch_.compile(module, options={"freezing": True}))


def _torch(path: Path, threads: int, prepare: Callable[[Any], Any]) -> Run:
    import onnx
    import torch as torch_

    from benchmarks.torch_graph import graph_module

    torch_.set_num_threads(threads)
    model = onnx.load(path)
    module = prepare(graph_module(model))

    def call(*arrays: np.ndarray) -> Any:
        with torch_.no_grad():
            return module(tuple(map(torch_.from_numpy, arrays)))

    return _positional(model, call, lambda tensor: tensor.contiguous().numpy())


def _positional(model: Any, function: Callable[..., Any], convert: Callable[[Any], np.ndarray]) -> Run:
    """What runs a function of arrays in the order of the ONNX inputs, which returns one or all outputs."""
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [value.name for value in model.graph.input if value.name not in weights]
    outputs = [value.name for value in model.graph.output]

    def run(arrays: Arrays) -> Arrays:
        results = function(*(arrays[name] for name in inputs))
        several = len(outputs) > 1 or isinstance(results, (tuple, list))
        return dict(zip(outputs, map(convert, results if several else [results]), strict=True))

    return run


ENGINES: dict[str, Callable[..., Run]] = {
    engine.__name__: engine for engine in (mlc, onnxruntime, openvino, openvino_bf16, iree, tvm, torch, torch_compile)
}
ASKED_FOR = {"tvm", "openvino_bf16"}
"""Engines that run only if they are named: TVM, untuned, would take most of an hour for a large model, and tell little;
results of bfloat16 are compared with those of f32 by `benchmarks.quantized`."""
PACKAGES = {  # else as the engine is called
    "iree": ("iree.compiler", "iree.runtime"), "torch_compile": ("torch",), "openvino_bf16": ("openvino",),
}  # fmt: skip
DISTRIBUTIONS = {
    "mlc": "mlc", "onnxruntime": "onnxruntime", "openvino": "openvino",
    "openvino_bf16": "openvino", "iree": "iree-base-compiler",
    "tvm": "apache-tvm", "torch": "torch", "torch_compile": "torch",
}  # fmt: skip


def available_peers() -> list[str]:
    """The default engines to compare with: all that are installed, except mlc and those of `ASKED_FOR`."""
    return [name for name in ENGINES if name not in ASKED_FOR | {"mlc"} and installed(name)]


def installed(engine: str) -> bool:
    """Whether the packages of an engine are there."""
    return engine in ENGINES and all(map(_found, PACKAGES.get(engine, (engine,))))


def _found(package: str) -> bool:
    parent = package.rpartition(".")[0]
    return (not parent or _found(parent)) and find_spec(package) is not None
