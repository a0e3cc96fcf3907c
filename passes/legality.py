"""Legality of a level: which operations may nest, which types values may have, and the verifier of these rules.

xDSL verifies each operation alone. It checks neither that a value is defined before it is read, nor which operations a
region may contain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.graph import source_nodes
from mlc.dialects.types import ELEMENTS, shape_of
from mlc.dialects.types import NARROW as narrow_elements
from mlc.errors import MlcError

Types = frozenset[Any]  # of classes of attributes; mypy has no type for a set that holds generic ones
NARROW: Types = frozenset(type(ELEMENTS[element]) for element in narrow_elements)  # with integers, as SINGLE has them
SINGLE: Types = frozenset({Float16Type, BFloat16Type, Float32Type, Float64Type, IntegerType, IndexType})
BUFFERS: Types = NARROW | SINGLE | {MemRefType}
TENSORS, VECTORS = BUFFERS | {TensorType}, BUFFERS | {VectorType}
SCALARS = "kernel.index kernel.symbol kernel.lanewise arith.* math.* memref.load builtin.unrealized_conversion_cast"
"""The operations that may be in the region of a computation."""


class IllegalIR(MlcError, VerifyException):
    """A module breaks a rule of its level."""


@dataclass(frozen=True)
class Level:
    """The rules of one level.

    ``nested`` maps an operation to the operations that its regions may contain, as names and dialects (``"arith.*"``);
    ``types`` are the classes of types that values may have; ``located`` operations must name their source nodes.
    ``attributes`` maps an operation to the only attributes that it may have; others may have any.
    """

    name: str
    nested: Mapping[str, str]
    types: Types
    located: frozenset[str] = frozenset()
    attributes: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def verify(self, module: ModuleOp) -> None:
        """Check all of ``module``.

        Raises:
            IllegalIR: the first violation, with operator and source nodes.
        """
        allowed = {parent: frozenset(names.split()) for parent, names in self.nested.items()}
        self._region(module, module, allowed, set())

    def _region(
        self, op: Operation, located: Operation, allowed: Mapping[str, frozenset[str]], seen: set[SSAValue]
    ) -> None:
        """Check the regions of ``op``. ``seen``: the values defined before; ``located``: the last operation with source
        nodes."""
        legal = allowed.get(op.name)
        if legal is None:
            raise self.error(op, "it may not have a region", located)
        for region in op.regions:
            if len(region.blocks) > 1:
                raise self.error(op, f"a region has {len(region.blocks)} blocks, not 1", located)
            for block in region.blocks:
                visible = set() if op.has_trait(IsolatedFromAbove) else set(seen)
                self._block(block, op, located, legal, allowed, visible)

    def _block(
        self,
        block: Block,
        parent: Operation,
        located: Operation,
        legal: frozenset[str],
        allowed: Mapping[str, frozenset[str]],
        seen: set[SSAValue],
    ) -> None:
        self._define(parent, block.args, located, seen)
        for op in block.ops:
            located = op if op.attributes and source_nodes(op) else located
            if op.name not in legal and f"{op.name.partition('.')[0]}.*" not in legal:
                raise self.error(op, f"it is not allowed in {parent.name}", located)
            for n, operand in enumerate(op.operands):
                if operand not in seen:
                    raise self.error(op, f"operand {n} is not defined before it", located)
            if op.name in self.located and not source_nodes(op):
                raise self.error(op, "it names no source nodes", located)
            if op.attributes and (unknown := op.attributes.keys() - self.attributes.get(op.name, op.attributes.keys())):
                raise self.error(op, f"it has an attribute '{min(unknown)}', which nobody declares", located)
            if op.regions:
                self._region(op, located, allowed, seen)
            self._define(op, op.results, located, seen)

    def _define(self, op: Operation, values: tuple[SSAValue, ...], located: Operation, seen: set[SSAValue]) -> None:
        for value in values:
            if type(value.type) not in self.types:
                raise self.error(op, f"it defines a value of type {value.type}", located)
            if wrong := shape_error(value.type):
                raise self.error(op, wrong, located)
            seen.add(value)

    def error(self, op: Operation, why: str, located: Operation | None = None) -> IllegalIR:
        nodes = ", ".join(source_nodes(op) or (source_nodes(located) if located else ()))
        message = f"Illegal at the {self.name} level: {why}"
        return IllegalIR(message, op=op.name, node=nodes or None, stage=f"verify-{self.name}")


SHAPED = (TensorType, MemRefType)


def shape_error(type_: Attribute) -> str | None:
    """Return what is wrong with the dimensions of a tensor or buffer; None if they are right."""
    if type(type_) not in SHAPED:
        return None
    try:
        shape_of(type_)
    except VerifyException as error:
        return str(error)
    return None


def calls(module: ModuleOp, name: str) -> Iterator[tuple[Operation, str]]:
    """Yield each operation named ``name``, such as ``kernel.call``, with the symbol in its ``callee``."""
    for op in module.walk():
        if op.name == name:
            yield op, op.callee.root_reference.data  # type: ignore[attr-defined]
