"""The nodes of an ONNX graph while it is written: names, constants, and sizes of dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper
from xdsl.ir import SSAValue

from mlc.dialects.semantics.dims import Atom, Dim, DimLike
from mlc.dialects.types import is_float, numpy_dtype
from mlc.errors import InputError

TYPES = {
    "f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16,
    "i1": TensorProto.BOOL, "i8": TensorProto.INT8, "i16": TensorProto.INT16, "i32": TensorProto.INT32,
    "i64": TensorProto.INT64, "ui8": TensorProto.UINT8, "ui16": TensorProto.UINT16, "ui32": TensorProto.UINT32,
    "ui64": TensorProto.UINT64,
}  # fmt: skip
SHARED = 4096  # bytes of constants that are compared with others


def onnx_type(element: str) -> int:
    """ONNX's number of an element type.

    Raises:
        InputError: ONNX has no such type, or models with it are not exported.
    """
    if element not in TYPES:
        raise InputError(f"export_onnx: tensors of {element} have no form in ONNX", hint="Export a part without them")
    return TYPES[element]


class Writer:
    """Adds nodes; ``values`` are the names of values of the module, ``symbols`` those of sizes, int64 of rank 0."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self.values: dict[SSAValue, str] = {}
        self.symbols: dict[str, str] = {}
        self._used: set[str] = set()
        self._constants: dict[tuple[Any, ...], str] = {}
        self._dims: dict[DimLike, str] = {}

    def fresh(self, name: str) -> str:
        """A name that no other value has."""
        candidate, n = name, 1
        while candidate in self._used:
            candidate, n = f"{name}_{n}", n + 1
        self._used.add(candidate)
        return candidate

    def emit(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output and return the output's name."""
        (out,) = self.emit_all(op, inputs, 1, **attributes)
        return out

    def emit_all(self, op: str, inputs: Sequence[str], outputs: int, **attributes: Any) -> list[str]:
        """Add a node and return the names of its outputs."""
        made = [self.fresh(f"{op}_{len(self._used)}") for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, made, name=made[0], **attributes))
        return made

    def constant(self, data: Any, name: str = "constant") -> str:
        """A constant, as an initializer."""
        array = np.asarray(data)
        key = (array.dtype.str, array.dtype.name, array.shape, array.tobytes()) if array.nbytes <= SHARED else None
        if key is not None and key in self._constants:
            return self._constants[key]
        made = self.fresh(name)
        self.initializers.append(numpy_helper.from_array(array, made))
        if key is not None:
            self._constants[key] = made
        return made

    def scalar(self, value: Any, element: str) -> str:
        """A number of rank 0."""
        number = float(value) if is_float(element) else value
        return self.constant(np.asarray(number).astype(numpy_dtype(element)))

    def ints(self, values: Sequence[int]) -> str:
        return self.constant(np.asarray(list(values), np.int64))

    def dim(self, value: DimLike) -> str:
        """A dimension as a number of rank 0."""
        if not isinstance(value, Dim):
            return self.scalar(value, "i64")
        if value not in self._dims:
            self._dims[value] = self._sum(value)
        return self._dims[value]

    def _sum(self, value: Dim) -> str:
        total = None
        for monomial, factor in value.terms:
            part = None if factor != 1 or not monomial else self._atom(monomial[0])
            rest = monomial[1:] if part else monomial
            part = part or self.scalar(factor, "i64")
            for atom in rest:
                part = self.emit("Mul", part, self._atom(atom))
            total = part if total is None else self.emit("Add", total, part)
        assert total is not None
        return total

    def _atom(self, atom: Atom) -> str:
        if isinstance(atom, str):
            if atom not in self.symbols:
                raise InputError(f"export_onnx: the size '{atom}' is known to no input, at run time only")
            return self.symbols[atom]
        kind, left, right = atom
        a, b = self.dim(left), self.dim(right)
        if kind in ("max", "min"):
            return self.emit(kind.capitalize(), a, b)
        return self.emit("Div", self.emit("Sub", a, self.emit("Mod", a, b)), b)  # rounds down

    def dims(self, values: Sequence[DimLike]) -> str:
        """Dimensions as a vector."""
        if all(isinstance(d, int) for d in values):
            return self.ints(values)  # type: ignore[arg-type]
        axes = self.ints([0])
        parts = [self.ints([d]) if isinstance(d, int) else self.emit("Unsqueeze", self.dim(d), axes) for d in values]
        return parts[0] if len(parts) == 1 else self.emit("Concat", *parts, axis=0)

    @contextmanager
    def body(self, symbols: Mapping[str, str]) -> Iterator[list[NodeProto]]:
        """The nodes of a body of a loop or a branch, which reads values from around it; ``symbols``: its own sizes."""
        before = self.nodes, self.symbols, self._dims, self.values
        self.nodes, self.symbols = [], {**self.symbols, **symbols}
        self._dims, self.values = dict(self._dims), dict(self.values)
        try:
            yield self.nodes
        finally:
            self.nodes, self.symbols, self._dims, self.values = before
