"""Initial states of recurrent operators decide on the batch; against onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import mlc
from mlc.errors import MlcError

RNG = np.random.default_rng()
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent(op: str, batch: int | str, of_state: int | str, hidden: int | str = 4) -> onnx.ModelProto:
    """One layer of ``op`` on x [3, batch, 2] with the initial state h [1, of_state, hidden]."""
    weights = [
        helper.make_tensor(name, TensorProto.FLOAT, shape, RNG.standard_normal(np.prod(shape)).astype(np.float32))
        for name, shape in (("w", (1, 4 * GATES[op], 2)), ("r", (1, 4 * GATES[op], 4)))
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, batch, 2]),
        helper.make_tensor_value_info("h", TensorProto.FLOAT, [1, of_state, hidden]),
    ]
    node = helper.make_node(op, ["x", "w", "r", "", "", "h"], ["y"], hidden_size=4)
    graph = helper.make_graph([node], op, inputs, [helper.make_tensor_value_info("y", 1, None)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize(("batch", "of_state", "fixed"), [("n", 1, 1), (1, "m", 1), ("n", 2, 2), ("n", "m", None)])
def test_a_state_has_the_batch_of_the_inputs(op: str, batch: int | str, of_state: int | str, fixed: int | None) -> None:
    model = recurrent(op, batch, of_state)
    net = mlc.compile(model)
    n = fixed or 3
    feed = {"x": normal(3, n, 2), "h": normal(1, n, 4)}
    wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feed)
    np.testing.assert_allclose(net.run(feed)["y"], wanted[0], rtol=1e-4, atol=1e-6)
    with pytest.raises(MlcError, match="must be float32"):
        net.run({"x": normal(3, 5, 2), "h": feed["h"]})


def test_states_of_other_batches_are_refused() -> None:
    with pytest.raises(MlcError, match="input 5 is of 1 sequences, not of 2"):
        mlc.compile(recurrent("GRU", 2, 1))
    with pytest.raises(MlcError, match="input 5 is of 3 hidden states, not of 4"):
        mlc.compile(recurrent("LSTM", "n", "n", 3))
