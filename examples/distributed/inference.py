"""Tensor-parallel inference of an ONNX model: a block of GPT-2's shape, whose weights two ranks have in parts.

    python -m examples.distributed.inference -o block.so        # block.so, block.0of2.weights, block.1of2.weights
    mpiexec -n 2 python -m examples.distributed.inference block.so

Columns of the first product and rows of the second are divided (Megatron-LM), and heads of the attention: a sum of the
ranks after each of the two is left.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import mlc
from mlc import P, comm

HIDDEN, HEADS, TOKENS = 64, 4, 8
SHARDINGS = {name: P(None, "model") for name in ("query", "key", "value", "up")}


def block() -> onnx.ModelProto:
    """x[batch, 8, 64] → attention and perceptron, each added to what it reads; random weights."""
    random = np.random.default_rng(0)
    shapes = {"query": 1, "key": 1, "value": 1, "project": 1, "up": 4}
    weights = {n: random.normal(size=(HIDDEN, k * HIDDEN), scale=0.1) for n, k in shapes.items()}
    weights["down"] = random.normal(size=(4 * HIDDEN, HIDDEN), scale=0.1)
    tensors = [numpy_helper.from_array(x.astype(np.float32), name) for name, x in weights.items()]
    tensors += [numpy_helper.from_array(np.array([0, 0, HEADS, HIDDEN // HEADS]), "heads"),
                numpy_helper.from_array(np.array([0, 0, HIDDEN]), "joined")]  # fmt: skip
    node, nodes = helper.make_node, []
    for name, order in (("query", (0, 2, 1, 3)), ("key", (0, 2, 3, 1)), ("value", (0, 2, 1, 3))):
        nodes += [node("MatMul", ["x", name], [f"{name}.rows"]),
                  node("Reshape", [f"{name}.rows", "heads"], [f"{name}.split"]),
                  node("Transpose", [f"{name}.split"], [f"{name}.heads"], perm=order)]  # fmt: skip
    nodes += [
        node("MatMul", ["query.heads", "key.heads"], ["scores"]), node("Softmax", ["scores"], ["shares"], axis=-1),
        node("MatMul", ["shares", "value.heads"], ["mixed"]),
        node("Transpose", ["mixed"], ["rows"], perm=(0, 2, 1, 3)),
        node("Reshape", ["rows", "joined"], ["attended"]), node("MatMul", ["attended", "project"], ["projected"]),
        node("Add", ["x", "projected"], ["h"]), node("MatMul", ["h", "up"], ["inner"]),
        node("Relu", ["inner"], ["active"]), node("MatMul", ["active", "down"], ["lowered"]),
        node("Add", ["h", "lowered"], ["y"]),
    ]  # fmt: skip
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", TOKENS, HIDDEN]) for n in "xy"]
    graph = helper.make_graph(nodes, "block", info[:1], info[1:], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=11)


def difference(net: mlc.Model, rows: int = 3) -> float:
    """How far two ranks are from one, at most."""
    x = np.random.default_rng(1).normal(size=(rows, TOKENS, HIDDEN)).astype(np.float32)
    return float(np.abs(net(x) - mlc.compile(block(), threads=1)(x)).max())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("artifact", nargs="?", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    if given.output:
        mlc.compile(block(), mesh=mlc.Mesh(model=2), shardings=SHARDINGS).save(given.output)
    if given.artifact:
        net = mlc.load(given.artifact, threads=1)
        found = difference(net)
        size = net.signature["weights"]["bytes"]
        print(f"rank {comm.current().rank}: {size:,} bytes of weights; differs by {found:.1e}")
