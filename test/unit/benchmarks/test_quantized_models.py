"""The generated models quantized, and how they are compared."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from benchmarks import models, quantized
from benchmarks.models import quantized as forms
from benchmarks.results import Latencies


@pytest.mark.parametrize(
    ("form", "kind"), [("static", "DequantizeLinear"), ("dynamic", "MatMulInteger"), ("int4", "MatMulNBits"),
     ("ourdynamic", "MatMulInteger")]
)
def test_forms(form: str, kind: str, tmp_path: Path) -> None:
    onnx.save(models.build("llama_decode", layers=1, vocabulary=64), tmp_path / "model.onnx")
    made = forms.FORMS[form](tmp_path / "model.onnx")
    assert kind in {node.op_type for node in made.graph.node}


def test_a_table_has_the_ratios() -> None:
    rounds = {"mlc": [1e-3, 1e-3], "onnxruntime": [2e-3, 2e-3], "mlc f32": [3e-3, 3e-3]}
    table = quantized.table([quantized.Row("bert_static", Latencies(rounds), dict.fromkeys(rounds, 0.01))])
    assert table.rows[0][1:6] == ["1.00", "2.00", "2.00 [2.00–2.00]", "3.00", "3.00 [3.00–3.00]"]


def test_an_unknown_form_is_named() -> None:
    with pytest.raises(ValueError, match="bert_int3"):
        quantized.measure("bert_int3", [0], 1, 0.1)
