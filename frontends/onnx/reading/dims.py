"""Symbolic dimensions of a model's inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from onnx import TensorShapeProto, TypeProto, ValueInfoProto

from mlc.dialects.semantics.dims import Dim, DimError, DimLike, parse_dim, symbols_of
from mlc.dialects.types import Shape
from mlc.errors import InputError
from mlc.expressions import source_names
from mlc.frontends.build.symbols import symbol_name
from mlc.frontends.onnx.reading.data import checked_shape

ANONYMOUS = re.compile(r"[\W_]*|-?\d+|none|null|nan|unk|unknown|dynamic|auto", re.IGNORECASE | re.ASCII)
"""What exporters write to say that a dimension is open, and not which one it is: '', '?', '-1', 'None'."""
Axis = tuple[str, int]  # of an input


class DimNames:
    """Gives the dimensions of a model's inputs their symbols, or the sizes a user fixed them to.

    ``fixed`` has sizes by the model's name of a dimension, or by input and axis (``x:2``); ``solved`` what the import
    has found of symbols. An axis without a name is a dimension of its own, called by its input and position (``x_2``);
    with ``separate`` so is every axis but the first of a name, as a name may be two dimensions.
    """

    def __init__(self, fixed: Mapping[str, int], solved: Mapping[str, DimLike] = {}, separate: bool = False) -> None:
        self.fixed, self.solved, self.separate = fixed, solved, separate
        self.symbols: dict[Axis | str, str] = {}  # of axes without a name of their own, and of names
        self.plain: set[str] = set()  # symbols that are dimensions of their own
        self.axes: dict[str, list[str]] = {}  # of each symbol, as x:2
        self.used: set[str] = set()  # entries of ``fixed``

    @staticmethod
    def repeated(inputs: Iterable[ValueInfoProto]) -> bool:
        """Whether some text, which may be an expression of others, names several axes."""
        named = [d.dim_param for i in inputs for d in i.type.tensor_type.shape.dim if d.dim_param]
        if any(isinstance(text, bytes) for text in named):  # not UTF-8, which check_graph refuses
            return False
        return len(set(named)) < len(named) or any(re.search(r"[-+*/]", text) for text in named)

    def begin_anew(self, solved: Mapping[str, DimLike]) -> DimNames:
        """Start again with the same names, for an import that knows more about the symbols."""
        return DimNames(self.fixed, solved, self.separate)

    def note(self, inputs: Iterable[ValueInfoProto]) -> None:
        """Record which names are dimensions, so that other names can be expressions of them."""
        params = (d.dim_param for i in inputs for d in i.type.tensor_type.shape.dim)
        self.plain |= {self._named(t) for t in params if t.isidentifier() and not ANONYMOUS.fullmatch(t)}

    def shape(self, type_: TypeProto.Tensor, what: str, rank: int | None = None) -> Shape:
        """The dimensions of input ``what``; ``rank`` is that of an input without a shape.

        Raises:
            InputError: there is none.
        """
        if not type_.HasField("shape") and rank is None:
            hint = f"Give the size of its last axis: --dim {what}:3=224 (dims={{'{what}:3': 224}}) makes it of rank 4"
            raise InputError(f"Input '{what}' has no shape, and its rank does not follow from the model", hint=hint)
        dims = type_.shape.dim if type_.HasField("shape") else [TensorShapeProto.Dimension()] * (rank or 0)
        found = tuple(self._dim(d, (what, n)) for n, d in enumerate(dims))
        checked_shape([d for d in found if isinstance(d, int)], f"input '{what}'")
        return found

    def count(self, what: str) -> DimLike:
        """The number of keys of an input that is a map."""
        return self._symbol(self._named(f"{what}_keys"), (what, 0))

    def _dim(self, dim: TensorShapeProto.Dimension, axis: Axis) -> DimLike:
        if dim.HasField("dim_value") and dim.dim_value != -1:
            return dim.dim_value
        at = f"{axis[0]}:{axis[1]}"
        if at in self.fixed:
            self.used.add(at)
            return self.fixed[at]
        text = dim.dim_param
        if ANONYMOUS.fullmatch(text) or dim.HasField("dim_value"):
            return self._symbol(self._own(axis), axis)
        if text in self.fixed:  # as it is written
            self.used.add(text)
        return self._expression(text) or self._symbol(self._named(text), axis)

    def _expression(self, text: str) -> DimLike | None:
        """``past + 1`` where ``past`` is the dimension of another input; any other text is a name."""
        try:
            value = parse_dim(text)
        except DimError:
            return None
        names = {name: self.symbols.get(name, "") for name in symbols_of([value])}
        if isinstance(value, int) or self.separate or not {*names.values()} <= self.plain or not re.search(r"\W", text):
            return None
        return value.evaluate({name: self._value(symbol) for name, symbol in names.items()})

    def _symbol(self, name: str, axis: Axis) -> DimLike:
        if self.separate and self.axes.get(name) and name not in self._chosen():
            name = self._own(axis)
        self.plain.add(name)
        self.axes.setdefault(name, []).append(f"{axis[0]}:{axis[1]}")
        return self._value(name)

    def _value(self, name: str) -> DimLike:
        """A symbol, or the size to which it is fixed."""
        size = self._chosen().get(name)
        if size is not None:
            return size
        return self.solved.get(name, Dim.symbol(name))

    def _chosen(self) -> dict[str, int]:
        """The sizes that the user fixed, by symbol."""
        return {self.symbols.get(name, symbol_name(name)): size for name, size in self.fixed.items()}

    def _named(self, text: str) -> str:
        return self.symbols.setdefault(text, self._free(symbol_name(text)))

    def _own(self, axis: Axis) -> str:
        return self.symbols.setdefault(axis, self._free(symbol_name(f"{axis[0]}_{axis[1]}")))

    def _free(self, name: str) -> str:
        """``name``, or another where that is a symbol already."""
        taken = set(self.symbols.values())
        return next(n for n in self._numbered(name) if n not in taken)

    @staticmethod
    def _numbered(name: str) -> Iterator[str]:
        yield name
        n = 2
        while True:
            yield f"{name.rstrip('_')}_v{n}"
            n += 1

    def check_used(self) -> None:
        """Raise InputError where a fixed dimension does not occur in the model."""
        symbols = {name: self.symbols.get(name, symbol_name(name)) for name in self.fixed}
        unknown = sorted(n for n, symbol in symbols.items() if n not in self.used and symbol not in self.plain)
        if unknown:
            own = {name for key, name in self.symbols.items() if isinstance(key, tuple)}
            known = [source_names(n) + (f" ({', '.join(axes)})" if n in own else "") for n, axes in self.axes.items()]
            raise InputError(
                f"The model has no symbolic dimension '{unknown[0]}'",
                hint=f"Its symbolic dimensions: {', '.join(sorted(known)) or 'none'}",
            )
