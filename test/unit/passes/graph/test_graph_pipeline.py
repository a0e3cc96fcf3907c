"""The whole stage on small members of real families, against onnxruntime."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from graph_checks import ops

from benchmarks import models
from benchmarks.models.small import OPTIONS
from mlc.dialects.graph import ContractOp, ConvOp, WeightOp
from mlc.dialects.semantics.interpreter import interpret, main_of
from mlc.frontends.onnx import import_model
from mlc.passes.context import MlcContext, weights_of
from mlc.passes.graph import graph_pipeline
from mlc.passes.graph.patterns.constants import constant_values
from mlc.passes.layout import layout_pipeline


@pytest.mark.parametrize("family", ["resnet50", "mobilenet_v2", "squeezenet", "unet", "bert", "gpt2"])
@pytest.mark.parametrize("numerics", ["strict", "default"])
def test_family(family: str, numerics: str) -> None:
    proto = models.build(family, **OPTIONS[family], batch="batch")
    model = import_model(proto)
    context = MlcContext(weights=model.weights)
    for p in (*graph_pipeline(numerics), *layout_pipeline(numerics)):  # type: ignore[arg-type]
        p.apply(context, model.module)
    inputs = models.random_inputs(proto, seed=np.random.default_rng(), dims={"batch": 3})
    expected = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, inputs)
    for got, want in zip(interpret(model.module, model.weights, inputs).values(), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * np.abs(want).max())
    assert all(c.layouts for c in ops(model.module, ConvOp))
    constants = constant_values(main_of(model.module).body.block)
    assert all(c.layouts for c in ops(model.module, ContractOp) if c.rhs in constants)


def test_graph_and_layout_are_deterministic() -> None:
    strings = set()
    for _ in range(2):
        model = import_model(models.build("mobilenet_v2", **OPTIONS["mobilenet_v2"]))
        for p in (*graph_pipeline(), *layout_pipeline()):
            p.apply(MlcContext(weights=model.weights), model.module)
        strings.add(str(model.module))
        names = [w.entry.data for w in ops(model.module, WeightOp)]
        assert len(names) == len(set(names))
    assert len(strings) == 1


def test_a_cloned_context_shares_the_weights() -> None:
    context = MlcContext()
    context.weights.add("w", np.ones(3))
    assert "w" in weights_of(context.clone())
