"""A small decoder with random weights as Hugging Face's exports have it: caches, a mask and positions are inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

VOCABULARY, HIDDEN, HEADS, SIZE, LAYERS = 50, 32, 4, 8, 2
Array = np.ndarray[Any, Any]


class Maker:
    """Nodes and weights of a graph."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random, self.nodes, self.weights = random, list[NodeProto](), dict[str, Array]()

    def op(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        name = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], f"{kind}_{len(self.nodes)}", **attributes))
        return name

    def weight(self, *shape: int, scale: float = 0.4) -> str:
        return self.constant((self.random.standard_normal(shape) * scale).astype(np.float32))

    def constant(self, array: Any) -> str:
        name = f"c{len(self.weights)}"
        self.weights[name] = np.asarray(array)
        return name

    def heads(self, x: str) -> str:
        """[batch, tokens, hidden] -> [batch, heads, tokens, size]"""
        y = self.op("Reshape", self.op("MatMul", x, self.weight(HIDDEN, HIDDEN)), self.constant([0, 0, HEADS, SIZE]))
        return self.op("Transpose", y, perm=[0, 2, 1, 3])


def decoder(random: np.random.Generator, length: int | str = "sequence_length", cached: bool = True) -> ModelProto:
    """Two layers of attention with position vectors that are added; a mask of the keys, and a causal one."""
    m = Maker(random)
    x = m.op("Add", m.op("Gather", m.weight(VOCABULARY, HIDDEN, scale=1), "input_ids"),
             m.op("Gather", m.weight(128, HIDDEN, scale=1), "position_ids"))  # fmt: skip
    keys = m.op("Range", m.constant(np.int64(0)), m.op("Squeeze", m.op("Shape", "attention_mask", start=1)),
                m.constant(np.int64(1)))  # fmt: skip
    later = m.op("Greater", keys, m.op("Unsqueeze", "position_ids", m.constant([2])))
    absent = m.op("Equal", m.op("Unsqueeze", "attention_mask", m.constant([1])), m.constant(np.int64(0)))
    hidden = m.op("Unsqueeze", m.op("Or", later, absent), m.constant([1]))
    for layer in range(LAYERS):
        q, k, v = (m.heads(x) for _ in range(3))
        present = f"present.{layer}"
        if cached:
            past = f"past_key_values.{layer}"
            k = m.op("Concat", f"{past}.key", k, output=f"{present}.key", axis=2)
            v = m.op("Concat", f"{past}.value", v, output=f"{present}.value", axis=2)
        scores = m.op("MatMul", q, m.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = m.op("Where", hidden, m.constant(np.float32(-1e9)), scores)
        y = m.op("Transpose", m.op("MatMul", m.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        y = m.op("MatMul", m.op("Reshape", y, m.constant([0, 0, HIDDEN])), m.weight(HIDDEN, HIDDEN))
        x = m.op("Tanh", m.op("Add", x, y))
    m.op("MatMul", x, m.weight(HIDDEN, VOCABULARY, scale=1), output="logits")
    return _model(m, length, cached)


def _model(m: Maker, length: int | str, cached: bool) -> ModelProto:
    info, total = helper.make_tensor_value_info, "total_sequence_length"
    inputs = [info("input_ids", TensorProto.INT64, ["batch_size", length])]
    inputs += [info("attention_mask", TensorProto.INT64, ["batch_size", total])]
    inputs += [info("position_ids", TensorProto.INT64, ["batch_size", length])]
    outputs = [info("logits", TensorProto.FLOAT, ["batch_size", length, VOCABULARY])]
    for layer in range(LAYERS if cached else 0):
        for what in ("key", "value"):
            shape = ["batch_size", HEADS, "past_sequence_length", SIZE]
            inputs.append(info(f"past_key_values.{layer}.{what}", TensorProto.FLOAT, shape))
            outputs.append(info(f"present.{layer}.{what}", TensorProto.FLOAT, ["batch_size", HEADS, total, SIZE]))
    weights = [numpy_helper.from_array(array, name) for name, array in m.weights.items()]
    graph = helper.make_graph(m.nodes, "decoder", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def logits_of(model: ModelProto, tokens: Sequence[int]) -> Array:
    """By onnxruntime [tokens, vocabulary], of the whole sequence at once, without a cache."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    count = np.arange(len(tokens))[None]
    given = {"input_ids": np.array([tokens]), "attention_mask": np.ones_like(count), "position_ids": count}
    empty = np.zeros((1, HEADS, 0, SIZE), np.float32)
    given |= {i.name: empty for i in session.get_inputs() if i.name.startswith("past")}
    found: Array = session.run(["logits"], given)[0][0]
    return found


def greedy(model: ModelProto, prompt: Sequence[int], count: int) -> list[int]:
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(int(logits_of(model, tokens)[-1].argmax()))
    return tokens[len(prompt) :]
