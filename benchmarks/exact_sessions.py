"""onnxruntime as a reference of products of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import onnxruntime
from onnx import ModelProto, NodeProto

_CPU = Path("/proc/cpuinfo")
SATURATES = _CPU.exists() and "vnni" not in _CPU.read_text()
"""Whether onnxruntime may add two products of bytes in 16 bits with saturation: x86 with AVX2 and without VNNI."""


def exact_options(model: ModelProto) -> onnxruntime.SessionOptions:
    """Options with which onnxruntime's products of bytes are exact on every CPU, and warnings are not printed.

    Where its kernels may saturate, operators on integers get the exact kernels; a model that has only QuantizeLinear
    and DequantizeLinear is computed in floats, as its nodes say: onnxruntime 1.32's exact kernels fail on some of
    these. A model of floats keeps the optimizations, which decide in what order it is rounded.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    used = set(_operators(model.graph.node)) | {op for each in model.functions for op in _operators(each.node)}
    if SATURATES and any(map(_on_integers, used)):
        options.add_session_config_entry("session.x64quantprecision", "1")
    elif SATURATES and used & {"QuantizeLinear", "DequantizeLinear"}:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def _operators(nodes: Iterable[NodeProto]) -> Iterator[str]:
    """The operators of nodes and of the graphs in them."""
    for node in nodes:
        yield node.op_type
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _operators(graph.node)


def _on_integers(op: str) -> bool:
    return "Integer" in op or op.startswith(("DynamicQuantize", "QAttention", "QGemm", "QLinear"))
