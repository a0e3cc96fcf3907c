"""Random cases of single operators that onnxruntime has beside ONNX's: what draws them, and the models they make.

A row is a function of a `Draw` that gives a `Case`; the rows are in the files `contrib_rows_*.py`. Attributes, extents
that are not open, constants and absent inputs follow from the seed; open extents and data from the seed and the
``variant``, so one compiled model is run with several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

Array = np.ndarray[Any, Any]
MS = "com.microsoft"
BF16 = np.dtype(helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16))
OPSET = 22


class Extent(int):
    """An open extent: its value, with the name under which the model declares it."""

    name: str

    def __new__(cls, value: int, name: str) -> Extent:
        made = super().__new__(cls, value)
        made.name = name
        return made

    def __add__(self, other: int) -> Extent:
        if type(other) is int and other == 0:
            return self
        return Extent(int(self) + int(other), f"{self.name}_plus_{getattr(other, 'name', int(other))}")

    def __mul__(self, other: int) -> Extent:
        return Extent(int(self) * int(other), f"{self.name}_times_{getattr(other, 'name', int(other))}")

    __radd__, __rmul__ = __add__, __mul__


@dataclass(frozen=True)
class Data:
    """An input: its elements, the names of its open dimensions, and whether it is an initializer."""

    array: Array
    names: tuple[str, ...]
    constant: bool = False


@dataclass(frozen=True)
class Case:
    """One node with its inputs (None: absent), and how near results have to be.

    ``outputs`` says which of the outputs have a name. ``rtol``: of the largest value; None: as the element allows.
    ``steps``: by which whole numbers may differ. ``refused``: part of the message by which mlc refuses the case.
    ``shared``: outputs that onnxruntime wants in the memory of an input. ``onto``: outputs of which it writes a part,
    with what is there before. ``ignored``: outputs that are not defined in
    part, and not compared.
    """

    op: str
    inputs: Sequence[Data | None]
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: Sequence[bool] = (True,)
    domain: str = MS
    opset: int = OPSET
    rtol: float | None = None
    steps: int = 0
    refused: str = ""
    shared: Mapping[int, int] = field(default_factory=dict)
    onto: Mapping[int, Array] = field(default_factory=dict)
    ignored: Sequence[int] = ()


class Draw:
    """Random choices of a case; see the module."""

    def __init__(self, op: str, seed: int, variant: int = 0) -> None:
        self.choice = Random(f"{op} {seed}")
        self.sizes = Random(f"{op} {seed} {variant}")
        self.weights = np.random.default_rng([seed, *op.encode()])
        self.numbers = np.random.default_rng([seed, variant, *op.encode()])

    def flip(self, chance: float = 0.5) -> bool:
        return self.choice.random() < chance

    def one(self, *options: Any) -> Any:
        return self.choice.choice(options)

    def int(self, low: int, high: int) -> int:
        return self.choice.randint(low, high)

    def open(self, name: str, low: int, high: int, empty: float = 0.0) -> int:
        """An extent that the model may leave open; else it is 0 with the chance ``empty``."""
        opened, none, closed = self.flip(), self.flip(empty), self.int(low, high)
        other = self.sizes.randint(low, high)
        return Extent(other, name) if opened else 0 if none else closed

    def normal(self, *shape: int, kind: Any = "f4", scale: float = 1.0, constant: bool = False) -> Data:
        return self.data((self._random(constant).standard_normal(shape) * scale).astype(kind), shape, constant)

    def uniform(self, low: float, high: float, *shape: int, kind: Any = "f4", constant: bool = False) -> Data:
        return self.data(self._random(constant).uniform(low, high, shape).astype(kind), shape, constant)

    def integers(self, low: int, high: int, *shape: int, kind: Any = "i4", constant: bool = False) -> Data:
        """From ``low`` to ``high`` - 1."""
        return self.data(self._random(constant).integers(low, high, shape).astype(kind), shape, constant)

    def bytes(self, *shape: int, kind: Any = "u1", constant: bool = False) -> Data:
        info = np.iinfo(kind)
        return self.integers(info.min, info.max + 1, *shape, kind=kind, constant=constant)

    def given(self, value: Any, kind: Any, constant: bool = True) -> Data:
        """A value that is the same for all variants."""
        array = np.asarray(value, kind)
        return self.data(array, array.shape, constant)

    def data(self, array: Array, shape: Sequence[int], constant: bool = False) -> Data:
        """Elements of a row's own, with the shape as it was drawn."""
        names = tuple("" if constant else getattr(d, "name", "") for d in shape)
        return Data(np.asarray(array), names, constant)

    def _random(self, constant: bool) -> np.random.Generator:
        return self.weights if constant else self.numbers


Row = Callable[[Draw], Case]
ROWS: dict[str, Row] = {}


def row(name: str) -> Callable[[Row], Row]:
    """Register what draws the cases of an operator, or of one form of it (``Attention, past``)."""

    def register(function: Row) -> Row:
        ROWS[name] = function
        return function

    return register


def load() -> dict[str, Row]:
    """All rows, by name."""
    for path in sorted(Path(__file__).parent.glob("contrib_rows_*.py")):
        import_module(path.stem)
    return ROWS


def model_of(cases: Iterable[tuple[str, Case]], widened: Sequence[str] = ()) -> ModelProto:
    """The nodes of cases in one model; a case's names have its prefix. Outputs in ``widened`` are cast to f32.

    onnxruntime takes and gives no bfloat16 in Python: such inputs are f32, and cast in the model.
    """
    cases = list(cases)
    graph = GraphProto(name="contrib")
    for prefix, case in cases:
        _add(graph, prefix, case, widened)
    opsets = {"": max(case.opset for _, case in cases), MS: 1, **{c.domain: 1 for _, c in cases if c.domain}}
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(*o) for o in opsets.items()], ir_version=10)


def feeds_of(prefix: str, case: Case) -> dict[str, Array]:
    """The inputs of a case's model by name."""
    return {f"{prefix}x{n}": _wide(x.array) for n, x in enumerate(case.inputs) if x is not None and not x.constant}


def _wide(array: Array) -> Array:
    return array.astype("f4") if array.dtype == BF16 else array


def _add(graph: GraphProto, prefix: str, case: Case, widened: Sequence[str]) -> None:
    names = []
    for n, x in enumerate(case.inputs):
        names.append("" if x is None else f"{prefix}x{n}")
        if x is None:
            continue
        wide = _wide(x.array)
        if x.constant:
            graph.initializer.append(numpy_helper.from_array(wide, names[-1]))
        else:
            shape = [f"{prefix}{a}" if a else d for a, d in zip(x.names, x.array.shape, strict=True)]
            kind = helper.np_dtype_to_tensor_dtype(wide.dtype)
            graph.input.append(helper.make_tensor_value_info(names[-1], kind, shape))
        if x.array.dtype == BF16:
            graph.node.append(_cast(names[-1], f"{names[-1]}_bf16", TensorProto.BFLOAT16))
            names[-1] += "_bf16"
    while names and not names[-1]:
        names.pop()
    outputs = [f"{prefix}y{n}" if wanted else "" for n, wanted in enumerate(case.outputs)]
    own = [f"{y}_bf16" if y in widened else y for y in outputs]
    graph.node.append(
        helper.make_node(case.op, names, own, name=f"{prefix}{case.op}", domain=case.domain, **case.attributes)
    )
    graph.node.extend(_cast(f"{y}_bf16", y, TensorProto.FLOAT) for y in outputs if y in widened)
    graph.output.extend(ValueInfoProto(name=y) for y in outputs if y)


def _cast(name: str, result: str, kind: int) -> NodeProto:
    return helper.make_node("Cast", [name], [result], to=kind)
