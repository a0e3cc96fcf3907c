"""Builds graph operators from tensors; what is known at import is computed instead.

Because every operator of ONNX is written in these few methods, shapes that a model computes (Shape, Gather, Concat, …)
become symbols without a rule for each operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Block

from mlc.dialects.dims import Dim, DimLike, product
from mlc.dialects.evaluate import evaluate_statement
from mlc.dialects.expr import Call, ExprError, element_type, parse, walk
from mlc.dialects.graph import (
    BroadcastOp,
    ComputeOp,
    ConcatOp,
    ContractOp,
    ConvOp,
    ConvTransposeOp,
    MapOp,
    PadOp,
    PoolOp,
    PositionsOp,
    ReduceOp,
    ReshapeOp,
    RoutineOp,
    RunNumberOp,
    SliceOp,
    TransposeOp,
    broadcast_shapes,
)
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.routines import ROUTINES, Given
from mlc.dialects.statement import statement
from mlc.dialects.types import TEXT, numpy_dtype
from mlc.dialects.weights import WeightStore
from mlc.frontends.onnx.emitter import Emitter
from mlc.frontends.onnx.errors import NeedsConstant, NotSupported
from mlc.frontends.onnx.extents import agreeing, with_extent
from mlc.frontends.onnx.fold import Array, Undecided, at_least, fold_expr, fold_reduce
from mlc.frontends.onnx.inside import kept_inside, plain_ranges, range_of
from mlc.frontends.onnx.literals import inlined
from mlc.frontends.onnx.narrow import check_combines, check_computes
from mlc.frontends.onnx.numbers import Numbers, values_of
from mlc.frontends.onnx.tensors import KNOWN_LIMIT, Stack, Tensor

MAX_PIECES = 1 << 14  # of a tensor as a sequence: each is an operator of its own


class Builder(Emitter):
    """One method for each operator of the graph dialect."""

    def __init__(self, block: Block, weights: WeightStore) -> None:
        super().__init__(block, weights)
        self.numbers = Numbers(self)

    # -- computing

    def map(self, expr: str, *xs: Tensor) -> Tensor:
        """An elementwise expression of x0, x1, … with broadcasting. Known scalars become literals in it.

        Raises:
            NotSupported: it computes in a narrow type.
        """
        element = check_computes(expr, xs)
        xs = tuple(agreeing(self, xs, [range(-x.rank, 0) for x in xs]))
        if all(x.known is not None for x in xs):
            try:
                return self._folded_map(expr, xs)
            except Undecided:
                pass
        text, rest = inlined(expr, xs)
        result = self.emit(MapOp(text, self.values(*rest)), element)
        return self._followed(result, lambda: fold_expr(parse(expr), [self.numbers.of(x) for x in xs], result.element))

    def _folded_map(self, expr: str, xs: Sequence[Tensor]) -> Tensor:
        size = product(broadcast_shapes([x.shape for x in xs]))
        element = element_type(parse(expr), [x.element for x in xs])
        if element is None or not isinstance(size, int) or size > KNOWN_LIMIT:
            raise Undecided
        return Tensor.from_known(fold_expr(parse(expr), [x.known for x in xs], element), element)  # type: ignore[misc]

    def cast(self, x: Tensor, element: str) -> Tensor:
        return x if x.element == element else self.map(f"{element}(x0)", x)

    def wide(self, x: Tensor) -> Tensor:
        """``x`` in the precision sums are made in: f32 for the 16-bit floats."""
        return self.cast(x, "f32") if x.element in ("f16", "bf16") else x

    def formula(self, expr: str, *xs: Tensor) -> Tensor:
        """As ``map``; several steps on 16-bit floats are made in f32 and rounded once, their constants never."""
        if sum(isinstance(each, Call) for each in walk(parse(expr))) < 2 or xs[0].element not in ("f16", "bf16"):
            return self.map(expr, *xs)
        return self.cast(self.map(expr, *map(self.wide, xs)), xs[0].element)

    def contract(self, equation: str, a: Tensor, b: Tensor) -> Tensor:
        """Sum of products; 16-bit floats are summed in f32."""
        check_combines("a product", a.element, b.element)
        a, b = agreeing(self, [a, b], equation.partition("->")[0].split(","))
        wide = ContractOp(equation, self.value(self.wide(a)), self.value(self.wide(b)))
        return self.cast(self.emit(wide), a.element)

    def conv(self, x: Tensor, w: Tensor, strides: Sequence[int], dilations: Sequence[int], groups: int) -> Tensor:
        """Convolution without padding; 16-bit floats are summed in f32."""
        check_combines("a convolution", x.element, w.element)
        if groups > 1 and not isinstance(w.shape[0], int):
            raise NotSupported(f"{w.shape[0]} filters in {groups} groups; fix their number with dims={{name: size}}")
        x = with_extent(self, x, 1, w.shape[1] * groups)
        op = ConvOp(self.value(self.wide(x)), self.value(self.wide(w)), strides, dilations, groups)
        return self.cast(self.emit(op), x.element)

    def conv_transpose(self, x: Tensor, w: Tensor, strides: Sequence[int], low: Sequence[int]) -> Tensor:
        """Transposed convolution of a padded input by a weight in phases."""
        check_combines("a convolution", x.element, w.element)
        return self.emit(ConvTransposeOp(self.value(x), self.value(w), strides, low))

    def reduce(self, fn: str, x: Tensor, axes: Sequence[int], keepdims: bool = False) -> Tensor:
        """Combine along axes (of either sign) by a monoid, in the element type of ``x``."""
        check_combines(fn, x.element)
        axes = sorted({a % x.rank for a in axes}) if x.rank else []
        if x.known is not None:
            try:
                return Tensor.from_known(fold_reduce(fn, x.known, axes, keepdims, x.element), x.element)
            except Undecided:
                pass
        result = self.emit(ReduceOp(fn, self.value(x), axes, keepdims))
        return self._followed(result, lambda: fold_reduce(fn, self.numbers.of(x), axes, keepdims, x.element))

    def pool(
        self, fn: str, x: Tensor, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
    ) -> Tensor:
        check_combines(fn, x.element)
        return self.emit(PoolOp(fn, self.value(x), kernel, strides, dilations))

    def compute(
        self,
        expr: str,
        xs: Sequence[Tensor],
        shape: Sequence[DimLike],
        reduce: Sequence[DimLike] = (),
        monoid: str | None = None,
    ) -> Tensor:
        """Element (i0, i1, …) of the result is ``expr``, which may read operands at any index (``x0[x1[i0], i1]``).

        Raises:
            ExprError: it reads outside of an operand.
        """
        names = {f"i{n}": d for n, d in enumerate(shape)} | {f"r{n}": d for n, d in enumerate(reduce)}
        expr, xs = self.numbers.read(expr, xs)
        expr = self._inside(expr, xs, names)
        element = check_computes(expr, xs)
        if monoid:
            check_combines(monoid, element)
        concrete = all(x.known is not None and x.known.dtype != object for x in xs)
        if concrete and _small((*shape, *reduce)):
            try:
                return _computed(expr, xs, shape, reduce, monoid)
            except KeyError:  # the expression reads a symbolic dimension
                pass
        result = self.emit(ComputeOp(expr, self.values(*xs), shape, reduce, monoid), element)
        if monoid is None and element == "i64":
            result.range = range_of(parse(expr), xs, names)
        return result

    def _inside(self, expr: str, xs: Sequence[Tensor], extents: Mapping[str, DimLike]) -> str:
        """``expr`` such that it reads inside of its operands: computed indices are clamped, others required to be."""
        parsed = parse(expr)
        for index, (low, high), extent in plain_ranges(parsed, xs, extents):
            for least, most in ((0, low), (high, extent - 1)):
                if least is None or most is None or at_least(most, least):
                    continue
                if at_least(least, most + 1):
                    raise ExprError(f"element {index}, which goes from {low} to {high}, of {extent} elements")
                self.require(most, least)
        return str(kept_inside(parsed, xs, extents))

    def positions(self, mask: Tensor) -> Tensor:
        """Where a vector of predicates is true, ascending: as many as there are when the model runs.

        Raises:
            NotSupported: it is no vector, or not of predicates.
        """
        if mask.element != "i1" or mask.rank != 1:
            raise NotSupported(f"a condition of type {mask}; give a vector of bool")
        if mask.known is not None:
            return Tensor.from_known(np.flatnonzero(mask.known).astype(np.int64))
        return self.emit(PositionsOp(self.size(), self.value(mask)))

    def run_number(self) -> Tensor:
        """The number of the run, as i64: what lets random operators draw anew."""
        return self.emit(RunNumberOp())

    def count_random(self) -> int:
        """A number that no other random operator of the model has got."""
        self.random += 1
        return self.random

    # -- texts

    def words(self, texts: Any) -> Tensor:
        """A known tensor of texts."""
        return Tensor.from_known(self.texts.numbers(texts), TEXT)

    def text(
        self, fn: str, *xs: Tensor, behind: Sequence[DimLike] = (), element: str | None = None, **how: Any
    ) -> Tensor:
        """A routine on texts; ``element`` is TEXT where it makes texts.

        The result has the shape of the first operand and, behind that, ``behind``.
        """
        return self.routine(f"text.{fn}", xs, (*xs[0].shape, *behind), element=element, **how)

    def routine(
        self,
        fn: str,
        xs: Sequence[Tensor],
        shape: Sequence[DimLike],
        words: Sequence[str] = (),
        numbers: Sequence[int] = (),
        element: str | None = None,
    ) -> Tensor:
        """A routine of ``ROUTINES``."""
        if all(x.known is not None and x.known.dtype != object for x in xs) and _small(shape):
            given = Given(self.texts, tuple(words), tuple(numbers), tuple(shape))  # type: ignore[arg-type]
            known = ROUTINES[fn].meaning(given, *(x.known for x in xs))
            return Tensor.from_known(known, element or ROUTINES[fn].result)
        return self.emit(RoutineOp(fn, self.values(*xs), shape, words, numbers), element)

    # -- moving

    def reshape(self, x: Tensor, shape: Sequence[DimLike]) -> Tensor:
        if tuple(shape) == x.shape:
            return x
        if x.known is not None and all(isinstance(d, int) for d in shape):
            return self._moved(x, x.known.reshape(tuple(shape)))
        had, has = product(x.shape), product(shape)
        if had != has and sizes_of([had, has]):
            why = f"Node '{self.node}': {list(x.shape)} has other elements than {list(shape)}"
            self.numbers.check(f"-abs(({had}) - ({has}))", why)
        result = self.emit(ReshapeOp(self.value(x), shape), x.element)
        return self._followed(result, lambda: self.numbers.of(x).reshape(tuple(shape)))

    def transpose(self, x: Tensor, perm: Sequence[int]) -> Tensor:
        if list(perm) == list(range(x.rank)):
            return x
        if x.known is not None:
            return self._moved(x, x.known.transpose(perm))
        return self.emit(TransposeOp(self.value(x), perm), x.element)

    def broadcast(self, x: Tensor, shape: Sequence[DimLike]) -> Tensor:
        if tuple(shape) == x.shape:
            return x
        if x.known is not None and _small(shape):
            return self._moved(x, np.broadcast_to(x.known, tuple(shape)))  # type: ignore[arg-type]
        result = self.emit(BroadcastOp(self.value(x), shape), x.element)
        return self._followed(result, lambda: np.broadcast_to(self.numbers.of(x), tuple(shape)))  # type: ignore[arg-type]

    def slice(
        self, x: Tensor, starts: Sequence[DimLike], sizes: Sequence[DimLike], steps: Sequence[int] | None = None
    ) -> Tensor:
        """``sizes[n]`` elements from ``starts[n]``, ``steps[n]`` apart, in each dimension."""
        steps = [1] * x.rank if steps is None else steps
        if tuple(sizes) == x.shape and all(s == 1 for s in steps):
            return x
        if x.known is not None and _small((*starts, *sizes)):
            return self._moved(x, x.known[_grid(starts, sizes, steps)])
        if values_of(starts):
            raise NeedsConstant("a place that is computed at run time")
        for extent, start, size, step in zip(x.shape, starts, sizes, steps, strict=True):
            if isinstance(extent, Dim) and isinstance(start, int) and isinstance(size, int) and size > 0:
                self.require(extent, start + max(0, (size - 1) * step) + 1)  # a fixed part of an open extent
        result = self.emit(SliceOp(self.value(x), starts, sizes, steps), x.element)
        return self._followed(result, lambda: self.numbers.of(x)[_grid(starts, sizes, steps)])

    def cut(self, x: Tensor, axis: int, start: DimLike, size: DimLike) -> Tensor:
        """A slice of one dimension."""
        axis %= x.rank
        starts = [start if n == axis else 0 for n in range(x.rank)]
        return self.slice(x, starts, [size if n == axis else d for n, d in enumerate(x.shape)])

    def elements(self, x: Stack) -> list[Tensor]:
        """The elements of a sequence one by one.

        Raises:
            NotSupported: their number is a symbol, or over MAX_PIECES.
        """
        length = x.whole.shape[0]
        if not isinstance(length, int):
            raise NotSupported(f"a sequence of {length} elements; fix that with dims={{name: size}}")
        if length > MAX_PIECES:
            raise NotSupported(f"{length} pieces; at most {MAX_PIECES} are made")
        return [self.element(x, n) for n in range(length)]

    def element(self, x: Stack, n: DimLike) -> Tensor:
        """Element ``n`` of a sequence."""
        return self.reshape(self.cut(x.whole, 0, n, 1), x.whole.shape[1:])

    def pad(
        self,
        x: Tensor,
        low: Sequence[DimLike],
        high: Sequence[DimLike],
        value: str = "0",
        interior: Sequence[int] | None = None,
    ) -> Tensor:
        """Surround with ``value`` (a scalar literal); negative amounts crop."""
        crop_low, crop_high = [_crop(p) for p in low], [_crop(p) for p in high]
        grow_low, grow_high = (
            [p + c for p, c in zip(low, crop_low, strict=True)],
            [p + c for p, c in zip(high, crop_high, strict=True)],
        )
        if any(p != 0 for p in (*grow_low, *grow_high, *(interior or ()))):
            x = self.emit(PadOp(self.value(x), grow_low, grow_high, value, interior), x.element)
        sizes = [d - a - b for d, a, b in zip(x.shape, crop_low, crop_high, strict=True)]
        return self.slice(x, crop_low, sizes)

    def concat(self, xs: Sequence[Tensor], axis: int) -> Tensor:
        if len(xs) == 1:
            return xs[0]
        xs = agreeing(self, xs, [[None if n == axis else n for n in range(x.rank)] for x in xs])
        if all(x.known is not None for x in xs):
            return self._moved(xs[0], np.concatenate([x.known for x in xs], axis))
        filled = [x for x in xs if x.shape[axis] != 0] or xs[:1]
        if len(filled) == 1:
            return filled[0]
        result = self.emit(ConcatOp(self.values(*filled), axis), xs[0].element)
        return self._followed(result, lambda: np.concatenate([self.numbers.of(x) for x in filled], axis))

    def _moved(self, x: Tensor, array: Array) -> Tensor:
        return Tensor.from_known(array, x.element)


def _grid(starts: Sequence[Any], sizes: Sequence[Any], steps: Sequence[int]) -> tuple[Array, ...]:
    """The index of a slice of concrete places."""
    return np.ix_(*(np.arange(n) * step + start for start, n, step in zip(starts, sizes, steps, strict=True)))


def _small(dims: Sequence[DimLike]) -> bool:
    return all(isinstance(d, int) for d in dims) and product(dims) <= KNOWN_LIMIT  # type: ignore[operator]


def _computed(
    expr: str, xs: Sequence[Tensor], shape: Sequence[DimLike], reduce: Sequence[DimLike], monoid: str | None
) -> Tensor:
    element = element_type(parse(expr), [x.element for x in xs]) or "i64"
    result = np.zeros(tuple(shape), numpy_dtype(element))  # type: ignore[type-var]
    names, over = " ".join(f"i{n}" for n in range(len(shape))), " ".join(f"r{n}" for n in range(len(reduce)))
    loops = statement(names, (*shape, *reduce), expr, reduce=over, monoid=monoid)
    evaluate_statement(loops, [x.known for x in xs], result, {})  # type: ignore[misc]
    return Tensor.from_known(result, element)


def _crop(amount: DimLike) -> DimLike:
    return -amount if isinstance(amount, int) and amount < 0 else 0
