"""The interface of graph operators, and of structured operators.

A structured operator declares in :meth:`StructuredOp.statements` its loop nests over its operands. From that one
declaration come its NumPy reference (:meth:`StructuredOp.evaluate`), its verification, its fusion kind and its
lowering to ``poly.statement``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.semantics.dims import DimLike, evaluate, parse_dim
from mlc.dialects.semantics.evaluate import Array, evaluate_statement
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import element_of, numpy_dtype, shape_of

PURE = Pure()


def ints(values: Iterable[int]) -> DenseArrayBase:
    """Return integers as an attribute."""
    return _ints(tuple(values))


@lru_cache(maxsize=4096)
def _ints(values: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, values)


def dims_attr(values: Iterable[DimLike]) -> ArrayAttr[StringAttr]:
    """Return dimensions as an attribute: one string each, as they may be symbolic."""
    return ArrayAttr(StringAttr(str(v)) for v in values)


def ints_of(attr: DenseArrayBase[Any]) -> tuple[int, ...]:
    return tuple(int(v) for v in cast("DenseArrayBase[IntegerType]", attr).get_values())


def dims_of(attr: ArrayAttr[StringAttr]) -> tuple[DimLike, ...]:
    return tuple(parse_dim(a.data) for a in attr)


BatchAxis = tuple[tuple[int | str | None, ...], int | str]
"""An axis of independent parts: where it is in each operand (None: the operand is read whole), and in the result. A
string in place of an axis: a value of which each part adds, or combines, its own."""


class GraphOp(IRDLOperation, ABC):
    """A pure operator on tensors with one result, whose type follows from operands and attributes."""

    def batch_axes(self) -> tuple[BatchAxis, ...]:
        """Return the axes along which an operator without statements treats each element alike."""
        return ()

    def inputs(self) -> tuple[SSAValue, ...]:
        return tuple(self.operands)

    @abstractmethod
    def infer(self) -> TensorType:
        """Return the result type; raise VerifyException if the operands do not fit."""

    def verify_(self) -> None:
        inferred, actual = self.infer(), self.results[0].type
        if inferred != actual:
            raise VerifyException(f"{self.name}: the result type is {actual}, inferred from the operands {inferred}")


class StructuredOp(GraphOp, ABC):
    """An operator whose meaning is a sequence of statements over its operands (x0, x1, …)."""

    @abstractmethod
    def statements(self) -> tuple[Statement, ...]:
        """Return the loop nests, executed in order, that write all elements of the result."""

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int] | None = None) -> Array:
        """Return the result for concrete operands: the reference implementation of the operator."""
        symbols = symbols or {}
        shape = tuple(cast(int, evaluate(d, symbols)) for d in shape_of(self.results[0]))
        result = np.zeros(shape, dtype=numpy_dtype(element_of(self.results[0])))
        for s in self.statements():
            evaluate_statement(s, operands, result, symbols)
        return result


NODE = "graph.node"
STATE = "graph.state"
"""The attribute of an argument of the main function that is state of the model: the weight of its first value, or
""."""
ALIAS = "graph.alias"
"""The attribute of a result of the main function: the number of the argument whose memory the result overwrites."""
FIXED = "graph.fixed"
"""The attribute of a module: the names of inputs whose values are compiled in."""
OPTIONAL = "graph.optional"
"""The attribute of a result of the main function: the axes that the caller's tensor has only if their extents are not
1."""


def optional_axes(attributes: DictionaryAttr) -> tuple[int, ...]:
    """Return the axes that the attribute `OPTIONAL` of a result names."""
    found = attributes.data.get(OPTIONAL)
    return tuple(n.value.data for n in found if isinstance(n, IntegerAttr)) if isinstance(found, ArrayAttr) else ()


def source_nodes(op: Operation) -> tuple[str, ...]:
    """Return the names of the source (ONNX) nodes of an operation."""
    attr = op.attributes.get(NODE)
    return tuple(cast(StringAttr, a).data for a in attr) if isinstance(attr, ArrayAttr) else ()


def with_nodes(op: Operation, names: Iterable[str]) -> Operation:
    """Set the source nodes of ``op`` to ``names`` (order kept, duplicates removed)."""
    unique = dict.fromkeys(names)
    if unique:
        op.attributes[NODE] = ArrayAttr(StringAttr(n) for n in unique)
    return op


def broadcast_shapes(shapes: Sequence[tuple[DimLike, ...]]) -> tuple[DimLike, ...]:
    """Broadcast symbolic shapes as NumPy does: equal symbols match, 1 matches all.

    Raises:
        VerifyException: two different extents, neither of them 1.
    """
    rank = max((len(s) for s in shapes), default=0)
    out: list[DimLike] = []
    for axis in range(rank):
        extents = {s[axis - rank + len(s)] for s in shapes if axis - rank + len(s) >= 0} - {1}
        if len(extents) > 1:
            raise VerifyException(f"shapes {', '.join(map(str, shapes))} do not broadcast at axis {axis}")
        out.append(extents.pop() if extents else 1)
    return tuple(out)


def broadcast_index(shape: Sequence[DimLike], rank: int) -> str:
    """Return the index of an operand of ``shape`` at the point ``i0 … i<rank-1>`` of its broadcast: ``[0, i2]``."""
    offset = rank - len(shape)
    return "[" + (", ".join("0" if d == 1 else f"i{offset + n}" for n, d in enumerate(shape)) or "()") + "]"


def iterators(rank: int) -> list[str]:
    return [f"i{n}" for n in range(rank)]
