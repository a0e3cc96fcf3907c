"""Ranks of inputs that a model declares without a shape: from the user, from the nodes that read them, or by trial."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from onnx import GraphProto, NodeProto, helper

Ranks = Mapping[str, int]
MOST_TRIED = 16  # combinations of ranks
TRIED = (2, 4, 3, 1, 5, 0)
_SAME = """
Abs Acos Add And Asin Atan BatchNormalization Cast Ceil Clip Cos CumSum DequantizeLinear Div Dropout Elu Equal Erf Exp
Floor Gelu Greater HardSigmoid HardSwish Identity LayerNormalization LeakyRelu Less Log LogSoftmax LpNormalization
Max Min Mish Mod Mul Neg Normalizer Not Or Pad Pow PRelu QuantizeLinear Reciprocal Relu Round Scaler Selu Shrink
Sigmoid Sign Sin Softmax Softplus Softsign Sqrt Sub Tan Tanh ThresholdedRelu Where Xor
"""
SAME_RANK = frozenset(_SAME.split())
OF_TWO = ("Gemm", "QGemm", "LinearClassifier", "LinearRegressor", "TreeEnsembleClassifier", "TreeEnsembleRegressor",
          "TreeEnsemble", "SVMClassifier", "SVMRegressor")  # fmt: skip
OF_THREE = ("LSTM", "GRU", "RNN", "STFT")
SPATIAL = ("MaxPool", "AveragePool", "LpPool", "MaxUnpool")
CONVOLUTIONS = ("Conv", "ConvTranspose", "QLinearConv", "ConvInteger", "DeformConv")


def rankless(graph: GraphProto) -> list[str]:
    """The inputs of a graph that are tensors without a shape."""
    known = {i.name for i in graph.initializer}
    tensors = (i for i in graph.input if i.type.HasField("tensor_type") and i.name not in known)
    return [i.name for i in tensors if not i.type.tensor_type.HasField("shape")]


def possible_ranks(graph: GraphProto, dims: Mapping[str, int]) -> Iterator[Ranks]:
    """Ranks of the inputs without a shape, in the order to try them.

    ``dims`` names axes (``x:3``), the greatest of which is the last of its input.
    """
    choices = {name: _choices(graph, name, dims) for name in rankless(graph)}
    for ranks in itertools.islice(itertools.product(*choices.values()), MOST_TRIED):
        yield dict(zip(choices, ranks, strict=True))


def _choices(graph: GraphProto, name: str, dims: Mapping[str, int]) -> tuple[int, ...]:
    given = [int(axis) for key in dims for what, _, axis in [key.rpartition(":")] if what == name and axis.isdecimal()]
    if given:
        return (max(given) + 1,)
    rank = _used_rank(graph, name)
    return TRIED if rank is None else (rank,)


def _used_rank(graph: GraphProto, name: str) -> int | None:
    """The rank that the nodes need which read ``name``, or what is computed of it element by element."""
    weights = {i.name: len(i.dims) for i in graph.initializer}
    same = {name}
    for node in graph.node:
        read = [i for i in node.input if i in same]
        if not read:
            continue
        rank = _rank_in(node, read[0] == node.input[0], weights)
        if rank is not None:
            return rank
        if node.op_type in SAME_RANK and all(i in same or weights.get(i, 99) <= 1 for i in node.input if i):
            same.update(node.output[:1])
    return None


def _rank_in(node: NodeProto, first: bool, weights: Mapping[str, int]) -> int | None:
    """The rank of an operand of a node, where the operator decides it."""
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type in CONVOLUTIONS and first:
        found = [weights[i] for i in node.input[1:] if weights.get(i, 0) > 2]
        return found[0] if found else len(attributes.get("kernel_shape", ())) + 2 or None
    if not first:
        return None
    if node.op_type in OF_TWO:
        return 2
    if node.op_type in OF_THREE:
        return 3
    if node.op_type in SPATIAL:
        return len(attributes["kernel_shape"]) + 2
    return len(attributes["perm"]) if node.op_type == "Transpose" and "perm" in attributes else None
