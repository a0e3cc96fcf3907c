"""Symbolic dimensions of a model's inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from onnx import TypeProto, ValueInfoProto

from mlc.dialects.semantics.dims import Dim, DimError, DimLike, parse_dim, symbols_of
from mlc.dialects.types import Shape
from mlc.errors import InputError
from mlc.frontends.build.symbols import symbol_name
from mlc.frontends.onnx.reading.data import checked_shape


class DimNames:
    """Gives the dimensions of a model's inputs their symbols, or the sizes a user fixed them to."""

    def __init__(self, fixed: Mapping[str, DimLike]) -> None:
        self.fixed = {symbol_name(name): size for name, size in fixed.items()}
        self.plain: set[str] = set()

    def note(self, inputs: Iterable[ValueInfoProto]) -> None:
        """Learn which names are dimensions of their own, so that others can be expressions of them."""
        params = (d.dim_param for i in inputs for d in i.type.tensor_type.shape.dim)
        self.plain |= {symbol_name(t) for t in params if t.isidentifier()}

    def shape(self, type_: TypeProto.Tensor, what: str) -> Shape:
        """The dimensions of an input; those without a name get one made of ``what`` and their position."""
        if not type_.HasField("shape"):
            raise InputError(f"Input '{what}' has no shape", hint="Export the model with the rank of its inputs")
        dims = tuple(self._dim(d, f"{what}_{n}") for n, d in enumerate(type_.shape.dim))
        checked_shape([d for d in dims if isinstance(d, int)], f"input '{what}'")
        return dims

    def count(self, what: str) -> DimLike:
        """How many keys an input has that is a map."""
        return self._symbol(f"{what}_keys")

    def _dim(self, dim: object, unnamed: str) -> DimLike:
        if dim.HasField("dim_value"):  # type: ignore[attr-defined]
            return dim.dim_value  # type: ignore[attr-defined]
        text = dim.dim_param or unnamed  # type: ignore[attr-defined]
        return self._expression(text) or self._symbol(text)

    def _expression(self, text: str) -> DimLike | None:
        """``past + 1`` where ``past`` is the dimension of another input; any other text is a name."""
        try:
            value = parse_dim(text)
        except DimError:
            return None
        if isinstance(value, int) or not symbols_of([value]) <= self.plain or not re.search(r"\W", text):
            return None
        return value.evaluate(self.fixed)

    def _symbol(self, text: str) -> DimLike:
        name = symbol_name(text)
        self.plain.add(name)
        return self.fixed.get(name, Dim.symbol(name))

    def check_used(self) -> None:
        """Raises InputError where a fixed dimension is none of the model's."""
        unknown = sorted(set(self.fixed) - self.plain)
        if unknown:
            known = ", ".join(sorted(self.plain)) or "none"
            raise InputError(
                f"The model has no symbolic dimension '{unknown[0]}'", hint=f"Its symbolic dimensions: {known}"
            )
