"""Domains of operators and the opsets that a model uses of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onnx import FunctionProto, ModelProto

from mlc.frontends.onnx.reading.load import NEWEST_OPSET

IMPLIED = {"": NEWEST_OPSET, "ai.onnx.ml": 5, "com.microsoft": 1}
"""Opsets of domains that a model uses and does not import: the newest ones, as in onnxruntime."""


def domain_of(proto: Any) -> str:
    """The domain of a node, function or import; that of the standard has two names."""
    return "" if proto.domain == "ai.onnx" else str(proto.domain)


def imported(proto: ModelProto | FunctionProto) -> dict[str, int]:
    """The opset of each domain that a model or function imports."""
    return {domain_of(opset): opset.version for opset in proto.opset_import}


def opsets_of(model: ModelProto) -> Mapping[str, int]:
    """The opset of each domain; before IR version 3 models import none."""
    return {**IMPLIED, **(imported(model) or {"": 1})}
