"""The body of a long host program is several C functions, where no phase needs another's variables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import mlc
from mlc.api import make_options
from mlc.driver.compile import lower_source
from mlc.driver.onnx_source import OnnxSource
from mlc.passes.codegen.cpu import c_body


def chain(factors: list[np.ndarray], rows: int | str) -> bytes:
    """A product after another."""
    names = ["x", *(f"y{n}" for n in range(len(factors)))]
    nodes = [helper.make_node("MatMul", [names[n], f"w{n}"], [names[n + 1]]) for n in range(len(factors))]
    infos = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, width])
        for name, width in ((names[0], factors[0].shape[0]), (names[-1], factors[-1].shape[1]))
    ]
    weights = [numpy_helper.from_array(w, f"w{n}") for n, w in enumerate(factors)]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], weights)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=9)
    return proto.SerializeToString()  # type: ignore[no-any-return]


CASES = [(3, 2, 2), (3, 1, 5), (3, 64, 0), ("n", 1, 5), ("n", 2, 2)]


@pytest.mark.parametrize(("rows", "launches", "functions"), CASES)
def test_the_parts_of_a_body_run_in_order(
    rows: int | str, launches: int, functions: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    random = np.random.default_rng()
    widths = [7, 5, 9, 4, 6, 8]
    factors = [random.standard_normal((a, b), dtype=np.float32) for a, b in zip(widths, widths[1:], strict=False)]
    model = chain(factors, rows)
    monkeypatch.setattr(c_body, "LAUNCHES", launches)
    monkeypatch.setenv("MLC_CACHE_DIR", str(tmp_path))
    code = lower_source(OnnxSource.of(model), make_options()).sources["model.c"]
    assert code.count("MLC_NOINLINE void body_") == functions == code.count("  body_")
    x = random.standard_normal((3, 7), dtype=np.float32)
    wanted = x.astype(np.float64)
    for factor in factors:
        wanted = wanted @ factor
    np.testing.assert_allclose(mlc.compile(model)(x), wanted, rtol=1e-4, atol=1e-3)
