"""Forest: an ensemble of decision trees as tables; each row of keys descends all trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, StringAttr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import ParsePropInAttrDict, irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph.base import BatchAxis
from mlc.dialects.graph.library import LibraryOp
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.semantics.evaluate import Array
from mlc.dialects.types import element_of, shape_of, tensor

COMBINED = {"add": (np.add, 0.0), "min": (np.minimum, np.inf), "max": (np.maximum, -np.inf)}
HOW = ("add", "min", "max")  # their numbers in C
TREE = 3  # numbers of a tree before the ends of its tests: root, first target, first leaf


@irdl_op_definition
class ForestOp(LibraryOp):
    """The weights of the leaves that each row reaches, summed over the trees in order (or their minimum or maximum).

    ``%y = graph.forest "add"(%keys, %nodes, %trees, %weights, %tests) {targets = 1 : i64, bits = 5 : i64, least = …}``

    keys     [N, columns] i32 or i64: features as integers with the order of the floats
    nodes    [nodes, 2] like keys: a key, and a link: in its low ``bits`` the column that is compared, above them the
             right child. Rows whose key is at most the node's go to the left child, the node before the right child. A
             leaf is its own right child; its key is less than any other: the least integer plus the row of its weights
    trees    [trees, 3 + words] i32: root, first target, first leaf, and the end of the tests of each word
    weights  [leaves, width] f32 or f64: for targets from the tree's first one on
    tests    [tests, 3] like keys, for bit vectors: key, column, and the leaves that remain in the word where the row's
             key is greater. Bit n of word w is leaf (bits of a key) w + n of the tree. Without them, there are no words
    result   [N, targets] like weights

    ``least`` is the number of rows from which the bit vectors are faster than descents.
    """

    name = "graph.forest"
    monoid = prop_def(StringAttr)
    keys = operand_def(TensorType)
    nodes = operand_def(TensorType)
    trees = operand_def(TensorType)
    weights = operand_def(TensorType)
    tests = operand_def(TensorType)
    result = result_def(TensorType)
    targets = prop_def(IntegerAttr)
    bits = prop_def(IntegerAttr)
    least = prop_def(IntegerAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$monoid `(` $keys `,` $nodes `,` $trees `,` $weights `,` $tests `)` attr-dict `:`"
        "type($keys) `,` type($nodes) `,` type($trees) `,` type($weights) `,` type($tests) `->` type($result)"
    )

    def __init__(self, monoid: str, operands: Sequence[SSAValue], targets: int, bits: int, least: int):
        numbers = {"targets": targets, "bits": bits, "least": least}
        properties = {"monoid": StringAttr(monoid), **{k: IntegerAttr(v, 64) for k, v in numbers.items()}}
        result = tensor(element_of(operands[3]), (shape_of(operands[0])[0], targets))
        super().__init__(operands=operands, properties=properties, result_types=[result])

    @property
    def function(self) -> str:
        return f"forest_{element_of(self.keys)}_{element_of(self.weights)}"

    @property
    def integers(self) -> Sequence[DimLike]:
        (trees, numbers), (_, width) = shape_of(self.trees), shape_of(self.weights)
        given = (self.targets.value.data, self.bits.value.data, numbers - TREE, self.least.value.data)
        return (*shape_of(self.keys), trees, width, *given, HOW.index(self.monoid.data))

    def infer(self) -> TensorType:
        types = (element_of(self.keys), element_of(self.weights))
        if self.monoid.data not in COMBINED or types not in (("i32", "f32"), ("i64", "f32"), ("i64", "f64")):
            raise VerifyException(f"{self.name}: there is no {self.monoid.data!r} of keys and weights of {types}")
        if any(len(shape_of(x)) != 2 for x in self.operands) or shape_of(self.nodes)[1] != 2:
            raise VerifyException(f"{self.name}: its operands are matrices, and a node has two numbers")
        return tensor(element_of(self.weights), (shape_of(self.keys)[0], self.targets.value.data))

    def batch_axes(self) -> tuple[BatchAxis, ...]:
        return (((0, None, None, None, None), 0),)

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        keys, nodes, trees, weights, _ = operands
        combined, first = COMBINED[self.monoid.data]
        y = np.full((len(keys), self.targets.value.data), first, weights.dtype)
        leaves = _leaves(keys, nodes, trees, self.bits.value.data)
        for start, row in zip(trees[:, 1], leaves.T, strict=True):
            part = y[:, start : start + weights.shape[1]]
            part[:] = combined(part, weights[row])
        return y


def _leaves(keys: Array, nodes: Array, trees: Array, bits: int) -> Array:
    """Return [N, trees]: the row of the weights of the leaf that each row reaches in each tree."""
    key, link = nodes[:, 0], nodes[:, 1].astype(f"u{nodes.dtype.itemsize}")
    column, right = (link & ((1 << bits) - 1)).astype(np.int64), (link >> bits).astype(np.int64)
    at, before = np.broadcast_to(trees[:, 0].astype(np.int64), (len(keys), len(trees))), None
    while before is None or (at != before).any():
        at, before = right[at] - (np.take_along_axis(keys, column[at], 1) <= key[at]), at
    return key[at].astype(np.int64) - np.iinfo(nodes.dtype).min
