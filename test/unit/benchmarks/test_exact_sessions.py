"""Sessions of onnxruntime whose products of bytes are exact on CPUs that would saturate."""

from __future__ import annotations

from contextlib import nullcontext

import onnx.parser
import pytest
from onnxruntime import GraphOptimizationLevel

from benchmarks import exact_sessions

FLOATS = "y = Relu(x)"
ROUNDED = "s = Constant<value_float=0.5>() q = QuantizeLinear(x, s) y = DequantizeLinear(q, s)"
BYTES = "q, s, z = DynamicQuantizeLinear(x) y = DequantizeLinear(q, s, z)"
INNER = "c = Constant<value_int=1>() b = Cast<to=9>(c) y = If(b) <then_branch = t () => (float[n] u) {{ {} }}, "
INNER += "else_branch = e () => (float[n] v) {{ v = Relu(x) }}>"


@pytest.mark.parametrize(("nodes", "optimized", "exact"), [
    (FLOATS, True, False), (ROUNDED, False, False), (BYTES, True, True),
    (INNER.format(ROUNDED.replace("y =", "u =")), False, False),
    (INNER.format(BYTES.replace("y =", "u =")), True, True),
])  # fmt: skip
def test_options_where_products_may_saturate(
    monkeypatch: pytest.MonkeyPatch, nodes: str, optimized: bool, exact: bool
) -> None:
    monkeypatch.setattr(exact_sessions, "SATURATES", True)
    head = '<ir_version: 9, opset_import: ["" : 17]>'
    options = exact_sessions.exact_options(
        onnx.parser.parse_model(f"{head} g (float[n] x) => (float[n] y) {{ {nodes} }}")
    )
    assert (options.graph_optimization_level != GraphOptimizationLevel.ORT_DISABLE_ALL) is optimized
    with nullcontext() if exact else pytest.raises(RuntimeError):  # without the entry
        assert options.get_session_config_entry("session.x64quantprecision") == "1"
