"""The lines of a StableHLO module while it is written: names, types, constants and operations.

Source: the StableHLO specification, https://openxla.org/stablehlo/spec. Structured operations have MLIR's generic form,
which every version of the dialect reads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from mlc.dialects.semantics.dims import Atom, Dim, DimLike, signature_names
from mlc.dialects.types import bit_width, element_of, is_float, is_unsigned, numpy_dtype, shape_of
from mlc.errors import InputError

TYPES = {
    **{e: e for e in ("f32", "f64", "f16", "bf16", "i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")},
    "i4": "i4", "ui4": "ui4", "i2": "i2", "ui2": "ui2", "c64": "complex<f32>", "c128": "complex<f64>",
    "f8e4m3fn": "f8E4M3FN", "f8e4m3fnuz": "f8E4M3FNUZ", "f8e5m2": "f8E5M2", "f8e5m2fnuz": "f8E5M2FNUZ",
    "f8e8m0": "f8E8M0FNU", "f6e2m3": "f6E2M3FN", "f6e3m2": "f6E3M2FN", "f4e2m1": "f4E2M1FN",
}  # fmt: skip
LISTED = 64  # elements of a constant that are written as numbers; larger ones are the bytes in hexadecimal digits

Sizes = tuple[int, ...]
Kind = tuple[str, Sizes]
"""The element and shape of a value."""


class Value(NamedTuple):
    """A value of the module."""

    name: str
    element: str
    shape: Sizes

    @property
    def type(self) -> str:
        return tensor_type(self.element, self.shape)


def tensor_type(element: str, shape: Sequence[int]) -> str:
    """The type of a tensor in StableHLO.

    Raises:
        InputError: StableHLO has no such element.
    """
    if element not in TYPES:
        raise InputError(f"export_stablehlo: tensors of {element} have no form in StableHLO", hint="Leave them out")
    return f"tensor<{''.join(f'{d}x' for d in shape)}{TYPES[element]}>"


def sizes(shape: Sequence[DimLike]) -> Sizes:
    """A shape whose extents are all known.

    Raises:
        InputError: one is open.
    """
    if open_ := [signature_names(str(d)) for d in shape if not isinstance(d, int)]:
        what = f"export_stablehlo: the dimension {open_[0]} is open, and shapes are written as numbers"
        raise InputError(what, hint=f"Give its extent: dims={{'{open_[0]}': 1}}, or example arrays")
    return tuple(int(d) for d in shape)  # type: ignore[arg-type]


def type_of(value: SSAValue) -> Kind:
    """The element and shape of a value of the graph."""
    return element_of(value), sizes(shape_of(value))


def ints(values: Sequence[int]) -> str:
    """An array attribute."""
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


Region = tuple[Sequence[Kind], Callable[[Sequence[Value]], Sequence[Value]]]
"""The types of a region's arguments, and what writes it and returns its results."""


class Writer:
    """Adds lines. ``values`` are those of the graph; ``symbols`` the numbers of iterations by name, i64 of rank 0."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.values: dict[SSAValue, Value] = {}
        self.symbols: dict[str, Value] = {}
        self._count = 0
        self._depth = 2

    def line(self, text: str) -> None:
        self.lines.append("  " * self._depth + text)

    def fresh(self) -> str:
        self._count += 1
        return f"%{self._count - 1}"

    def pointwise(self, name: str, element: str, *args: Value) -> Value:
        """An operation on elements, whose result has the shape of its operands."""
        if "." in name or any(each.element != element for each in args):
            return self.emit(name, args, element, args[0].shape)
        made = Value(self.fresh(), element, args[0].shape)
        self.line(f"{made.name} = stablehlo.{name} {', '.join(each.name for each in args)} : {made.type}")
        return made

    def compare(self, direction: str, x: Value, y: Value) -> Value:
        made = Value(self.fresh(), "i1", x.shape)
        floats = is_float(x.element) or x.element[0] == "c"
        kind = "FLOAT" if floats else "UNSIGNED" if is_unsigned(x.element) else "SIGNED"
        self.line(f"{made.name} = stablehlo.compare {direction}, {x.name}, {y.name}, {kind} : "
                  f"({x.type}, {y.type}) -> {made.type}")  # fmt: skip
        return made

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        made = Value(self.fresh(), x.element, x.shape)
        self.line(f"{made.name} = stablehlo.select {condition.name}, {x.name}, {y.name} : {condition.type}, {x.type}")
        return made

    def emit(self, name: str, args: Sequence[Value], element: str, shape: Sizes, **attributes: str) -> Value:
        """An operation in generic form."""
        made = Value(self.fresh(), element, shape)
        given = ", ".join(f"{key} = {text}" for key, text in attributes.items())
        types = ", ".join(each.type for each in args)
        names = ", ".join(each.name for each in args)
        given = f" <{{{given}}}>" if given else ""
        full = name if "." in name else f"stablehlo.{name}"
        self.line(f'{made.name} = "{full}"({names}){given} : ({types}) -> {made.type}')
        return made

    def emit_regions(
        self, name: str, args: Sequence[Value], results: Sequence[Kind],
        regions: Sequence[Region],
        **attributes: str,
    ) -> list[Value]:  # fmt: skip
        """An operation with regions: for each the types of its arguments, and what writes it and returns its
        results."""
        made = self.fresh()
        given = ", ".join(f"{key} = {text}" for key, text in attributes.items())
        given = f" <{{{given}}}>" if given else ""
        count = f":{len(results)}" if len(results) > 1 else ""
        names = ", ".join(each.name for each in args)
        self.line(f'{made}{count} = "stablehlo.{name}"({names}){given} ({{')
        for n, (types, write) in enumerate(regions):
            if n:
                self.line("}, {")
            self._region(types, write)
        types_in, types_out = (", ".join(each) for each in ([a.type for a in args], [tensor_type(*r) for r in results]))
        self.line(f"}}) : ({types_in}) -> ({types_out})")
        return [Value(f"{made}#{n}" if count else made, *each) for n, each in enumerate(results)]

    def _region(self, types: Sequence[tuple[str, Sizes]], write: Callable[[Sequence[Value]], Sequence[Value]]) -> None:
        arguments = [Value(self.fresh(), *each) for each in types]
        self._depth += 1
        if arguments:
            shown = ", ".join(f"{each.name}: {each.type}" for each in arguments)
            self.lines.append("  " * (self._depth - 1) + f"^bb0({shown}):")
        results = write(arguments)
        names, kinds = ", ".join(each.name for each in results), ", ".join(each.type for each in results)
        self.line(f'"stablehlo.return"({names}) : ({kinds}) -> ()')
        self._depth -= 1

    @contextmanager
    def scope(self, symbols: Mapping[str, Value]) -> Iterator[None]:
        """A region, whose values nothing outside of it may read."""
        before = self.values, self.symbols
        self.values, self.symbols = dict(self.values), {**self.symbols, **symbols}
        try:
            yield
        finally:
            self.values, self.symbols = before

    def splat(self, value: Any, element: str, shape: Sizes = ()) -> Value:
        """One number at every place."""
        number = np.asarray(float(value) if is_float(element) else value).astype(numpy_dtype(element))
        made = Value(self.fresh(), element, shape)
        self.line(f"{made.name} = stablehlo.constant dense<{literal(number, element)}> : {made.type}")
        return made

    def constant(self, data: np.ndarray[Any, Any], element: str) -> Value:
        array = np.asarray(data, numpy_dtype(element), order="C")
        made = Value(self.fresh(), element, array.shape)
        flat = array.reshape(-1)
        same = array.size > 0 and array.tobytes() == flat[:1].tobytes() * array.size
        text = literal(flat[0], element) if same else elements(array, element)
        self.line(f"{made.name} = stablehlo.constant dense<{text}> : {made.type}")
        return made

    def dim(self, value: DimLike) -> Value:
        """A dimension, or an index, as a number of rank 0."""
        if not isinstance(value, Dim):
            return self.splat(value, "i64")
        total: Value | None = None
        for monomial, factor in value.terms:
            part = self.splat(factor, "i64")
            for atom in monomial:
                part = self.pointwise("multiply", "i64", part, self._atom(atom))
            total = part if total is None else self.pointwise("add", "i64", total, part)
        assert total is not None
        return total

    def _atom(self, atom: Atom) -> Value:
        if isinstance(atom, str):
            if atom not in self.symbols:
                raise InputError(
                    f"export_stablehlo: the size '{atom}' is known at run time only", hint="Fix its extent"
                )
            return self.symbols[atom]
        kind, left, right = atom
        a, b = self.dim(left), self.dim(right)
        if kind in ("max", "min"):
            return self.pointwise(f"{kind}imum", "i64", a, b)
        rest = self.pointwise("remainder", "i64", a, b)
        negative = self.compare("LT", rest, self.splat(0, "i64"))
        rest = self.select(negative, self.pointwise("add", "i64", rest, b), rest)
        return self.pointwise("divide", "i64", self.pointwise("subtract", "i64", a, rest), b)  # rounds down


def elements(array: np.ndarray[Any, Any], element: str) -> str:
    """The elements of a constant."""
    if array.size == 0:
        return ""
    if array.size <= LISTED or element == "i1" or array.dtype.itemsize * 8 != bit_width(element):
        return _listed(array, element)
    return f'"0x{array.tobytes().hex().upper()}"'


def _listed(array: np.ndarray[Any, Any], element: str) -> str:
    if array.ndim == 0:
        return literal(array, element)
    return f"[{', '.join(_listed(each, element) for each in array)}]"


def literal(value: Any, element: str) -> str:
    """A number as MLIR writes it."""
    if element == "i1":
        return "true" if value else "false"
    if element[0] == "c":
        half = "f32" if element == "c64" else "f64"
        return f"({literal(value.real, half)}, {literal(value.imag, half)})"
    if not (is_float(element) or element[0] == "f" or element[0] == "b"):
        return str(int(value))
    number = float(value)
    if not math.isfinite(number):
        return f"0x{np.asarray(value).astype(numpy_dtype(element)).tobytes()[::-1].hex().upper()}"
    text = repr(number)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text
