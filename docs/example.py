"""The small network of the documentation: ``python docs/example.py`` writes ``net.onnx``.

image [1, 3, 6, 8] → Conv 1x1 → Relu → GlobalAveragePool → Flatten → Gemm → scores [1, 10]
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def _weight(name: str, *shape: int) -> onnx.TensorProto:
    values = np.arange(np.prod(shape)).reshape(shape) % 7 - 3
    return numpy_helper.from_array((values / 8).astype(np.float32), name)


def net() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Conv", ["image", "conv1.weight", "conv1.bias"], ["features"], name="conv1"),
        helper.make_node("Relu", ["features"], ["active"], name="relu1"),
        helper.make_node("GlobalAveragePool", ["active"], ["mean"], name="pool1"),
        helper.make_node("Flatten", ["mean"], ["flat"], name="flat1"),
        helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["scores"], name="fc"),
    ]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 6, 8])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])
    weights = [
        _weight("conv1.weight", 16, 3, 1, 1),
        _weight("conv1.bias", 16),
        _weight("fc.weight", 16, 10),
        _weight("fc.bias", 10),
    ]
    graph = helper.make_graph(nodes, "net", [image], [scores], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    onnx.save(net(), Path("net.onnx"))
