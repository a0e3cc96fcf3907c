"""Statements over boxes as ONNX nodes: iterators are ranges, loads are gathers, monoids are reductions.

This covers every structured operator that has no ONNX operator of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlc.dialects.semantics.dims import DimLike, product
from mlc.dialects.semantics.expr import Const, Expr, Index, Load, element_type, walk
from mlc.dialects.semantics.statement import Statement
from mlc.dialects.types import Shape
from mlc.errors import InputError
from mlc.export.scalars import Scalars
from mlc.export.writer import Writer, onnx_type

REDUCTIONS = {"add": "ReduceSum", "mul": "ReduceProd", "max": "ReduceMax", "min": "ReduceMin"}


class Box:
    """One statement: the operands by name, shape and element."""

    def __init__(
        self, writer: Writer, statement: Statement, operands: Sequence[str], shapes: Sequence[Shape],
        elements: Sequence[str],
    ) -> None:  # fmt: skip
        self.writer, self.statement = writer, statement
        self.operands, self.shapes = operands, shapes
        self.rank = len(statement.iters)
        self.scalars = Scalars(writer, elements, self._load, self._index)
        self.elements = elements

    def write(self, element: str) -> str:
        """The result.

        Raises:
            InputError: it writes at computed indices.
        """
        s = self.statement
        kept = [n for n, reduced in enumerate(s.reduction) if not reduced]
        if s.out != tuple(Index(s.iters[n]) for n in kept):
            raise InputError("export_onnx: a statement that writes at computed indices has no form in ONNX")
        inner = element_type(s.value, self.elements) or element
        value = self.writer.emit("Expand", self.scalars.write(s.value, inner), self.writer.dims(s.bounds))
        reduced = [n for n in range(self.rank) if n not in kept]
        return reduction(self.writer, s.monoid, value, reduced, inner) if reduced else value

    def _index(self, name: str) -> str:
        """An iterator as a tensor that varies along its dimension, or the size of a dimension."""
        if name not in self.statement.iters:
            return self.writer.symbols[name] if name in self.writer.symbols else self.writer.dim(_dim(name))
        n = self.statement.iters.index(name)
        zero, one = self.writer.scalar(0, "i64"), self.writer.scalar(1, "i64")
        made = self.writer.emit("Range", zero, self.writer.dim(self.statement.bounds[n]), one)
        return self._along(made, [n])

    def _along(self, x: str, axes: Sequence[int]) -> str:
        """A tensor whose dimensions are the iterators ``axes``, in order, in the rank of the box."""
        others = [n for n in range(self.rank) if n not in axes]
        return self.writer.emit("Unsqueeze", x, self.writer.ints(others)) if others else x

    def _load(self, load: Load) -> str:
        shape, x, index = self.shapes[load.operand], self.operands[load.operand], load.index or ()
        plain = self._transposed(x, shape, index)
        if plain is None and (plain := self._gathered(x, shape, index)) is None:
            return self._flat(x, shape, index)
        return plain

    def _number_of(self, index: Expr, extent: DimLike) -> int | None:
        """The number of the iterator that an index consists of, if it runs over the whole extent."""
        if not isinstance(index, Index) or index.name not in self.statement.iters:
            return None
        n = self.statement.iters.index(index.name)
        return n if self.statement.bounds[n] == extent else None

    def _transposed(self, x: str, shape: Shape, index: Sequence[Expr]) -> str | None:
        """An operand read at iterators, each once, and at 0 where its extent is 1."""
        numbers = [self._number_of(i, d) for i, d in zip(index, shape, strict=True)]
        ones = [n for n, (i, d) in enumerate(zip(index, shape, strict=True)) if d == 1 and i == Const(0)]
        axes = [a for n, a in enumerate(numbers) if n not in ones]
        if any(a is None for a in axes) or len(set(axes)) != len(axes):
            return None
        if ones:
            x = self.writer.emit("Squeeze", x, self.writer.ints(ones))
        order = sorted(range(len(axes)), key=lambda n: axes[n] or 0)
        if order != list(range(len(order))):
            x = self.writer.emit("Transpose", x, perm=order)
        return self._along(x, sorted(a for a in axes if a is not None))

    def _gathered(self, x: str, shape: Shape, index: Sequence[Expr]) -> str | None:
        """An operand read at iterators but for one computed index, whose iterators are between theirs."""
        numbers = [self._number_of(i, d) for i, d in zip(index, shape, strict=True)]
        computed = [n for n, a in enumerate(numbers) if a is None]
        if len(computed) != 1:
            return None
        (axis,) = computed
        names = {e.name for e in walk(index[axis]) if isinstance(e, Index)}
        inner = [n for n, name in enumerate(self.statement.iters) if name in names]
        order = [*numbers[:axis], *inner, *numbers[axis + 1 :]]
        if order != list(range(len(order))):
            return None
        others = [n for n in range(self.rank) if n not in inner]
        chosen = self._clamped(self.scalars.write(index[axis], "i64"), index[axis], shape[axis])
        if inner or isinstance(index[axis], Const) or self._reads(index[axis]):
            chosen = self._squeezed(chosen, index[axis], others)
        made = self.writer.emit("Gather", x, chosen, axis=axis)
        return self._along(made, [n for n in order if n is not None])

    def _reads(self, expr: Expr) -> bool:
        return any(isinstance(e, Load) for e in walk(expr))

    def _squeezed(self, x: str, expr: Expr, others: Sequence[int]) -> str:
        """An index of the rank of the box without the dimensions that it does not vary along."""
        if not any(isinstance(e, Load) or (isinstance(e, Index) and e.name in self.statement.iters)
                   for e in walk(expr)):  # fmt: skip
            return x  # of rank 0
        return self.writer.emit("Squeeze", x, self.writer.ints(others)) if others else x

    def _clamped(self, x: str, expr: Expr, extent: DimLike) -> str:
        """An index clamped into bounds, since the branch that a select drops may read outside of them."""
        if isinstance(expr, Const):
            return x
        last = self.writer.emit("Max", self.writer.dim(extent - 1), self.writer.scalar(0, "i64"))
        return self.writer.emit("Max", self.writer.emit("Min", x, last), self.writer.scalar(0, "i64"))

    def _flat(self, x: str, shape: Shape, index: Sequence[Expr]) -> str:
        """An operand read at arbitrary indices: a gather from its flattened elements."""
        place, total = None, self.writer.scalar(0, "i64")
        for n, (each, extent) in enumerate(zip(index, shape, strict=True)):
            at = self._clamped(self.scalars.write(each, "i64"), each, extent)
            weight = product(shape[n + 1 :])
            part = at if weight == 1 else self.writer.emit("Mul", at, self.writer.dim(weight))
            place = part if place is None else self.writer.emit("Add", place, part)
        flat = self.writer.emit("Reshape", x, self.writer.ints([-1]))
        return self.writer.emit("Gather", flat, place or total, axis=0)


def _dim(name: str) -> DimLike:
    from mlc.dialects.semantics.dims import Dim

    return Dim.symbol(name)


def reduction(writer: Writer, monoid: str | None, x: str, axes: Sequence[int], element: str, keep: bool = False) -> str:
    """A reduction of dimensions; of predicates by integers."""
    emit, over = writer.emit, writer.ints(axes)
    if element == "i1":
        kind = "ReduceMin" if monoid in ("and_", "mul", "min") else "ReduceMax"
        made = emit(kind, emit("Cast", x, to=onnx_type("i32")), over, keepdims=int(keep))
        return emit("Cast", made, to=onnx_type("i1"))
    if monoid not in REDUCTIONS:
        raise InputError(f"export_onnx: a reduction by {monoid} of {element} has no form in ONNX")
    return emit(REDUCTIONS[monoid], x, over, keepdims=int(keep))
