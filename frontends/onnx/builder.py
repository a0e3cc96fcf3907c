"""Builds graph operators from tensors; what is known at import is computed instead.

Because every operator of ONNX is written in these few methods, shapes that a model computes (Shape, Gather, Concat, …)
become symbols without a rule for each operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.dims import Dim, DimLike, condition, evaluate, product
from mlc.dialects.evaluate import evaluate_statement
from mlc.dialects.expr import ExprError, element_type, parse
from mlc.dialects.graph import (
    BroadcastOp,
    ComputeOp,
    ConcatOp,
    ConstantOp,
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
    WeightOp,
    broadcast_shapes,
    with_nodes,
)
from mlc.dialects.graph.loop import steps_of
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.routines import ROUTINES, Given
from mlc.dialects.statement import statement
from mlc.dialects.texts import Texts
from mlc.dialects.types import TEXT, is_narrow, numpy_dtype, tensor
from mlc.dialects.weights import WeightStore
from mlc.frontends.onnx.errors import NeedsConstant, NotSupported
from mlc.frontends.onnx.fold import Array, Undecided, at_least, fold_expr, fold_reduce, symbolic
from mlc.frontends.onnx.inside import kept_inside, plain_ranges, range_of
from mlc.frontends.onnx.literals import choices, inlined
from mlc.frontends.onnx.narrow import check_combines, check_computes
from mlc.frontends.onnx.numbers import Numbers, followed, values_of
from mlc.frontends.onnx.scopes import Scope, block_of
from mlc.frontends.onnx.tensors import KNOWN_LIMIT, Tensor

INLINE_LIMIT = 8  # elements of a float constant that stays visible in the IR (integers: all that a constant may hold)
CONSTANT_LIMIT = 64
CHOICES = 16  # elements of a symbolic value that one expression chooses from


class Builder:
    """Emits into a block; every operation carries the name of the ONNX node being imported."""

    def __init__(self, block: Block, weights: WeightStore) -> None:
        self.scopes = [Scope(block)]
        self.weights = weights
        self.node = ""
        self.texts = Texts()
        self.guards: list[Dim] = []
        self.sizes = 0  # that depend on data, so far
        self.random = 0  # operators that draw numbers, and were given no seed
        self.turns: dict[str, DimLike] = {}  # of each loop, at most
        self.numbers = Numbers(self)

    @property
    def block(self) -> Block:
        """Where operators go."""
        return self.scopes[-1].block

    @contextmanager
    def region(self, *like: Tensor, step: str | None = None) -> Iterator[Scope]:
        """The body of a loop or branch, whose first arguments are like these tensors; what it reads of the values
        around it becomes further ones."""
        scope = Scope(Block(arg_types=[tensor(x.element, x.shape) for x in like]), step)
        self.scopes.append(scope)
        try:
            yield scope
        finally:
            self.scopes.pop()

    def size(self) -> str:
        """The name of a new size that depends on data."""
        self.sizes += 1
        return f"size{self.sizes - 1}"

    def step(self, turns: DimLike) -> str:
        """The name of a new loop's number of turns so far."""
        name = f"step{len(self.turns)}"
        self.turns[name] = turns
        return name

    def erase_behind(self, last: Operation | None) -> None:
        """Take back what has been written behind ``last`` (None: all); its checks must not make a run fail."""
        while (op := self.block.last_op) is not None and op is not last:
            op.detach()
            op.erase()

    @contextmanager
    def at(self, node: str) -> Iterator[None]:
        """Operations made inside come from ``node``; the outermost name wins (a node whose body is a function)."""
        before, self.node = self.node, self.node or node
        try:
            yield
        finally:
            self.node = before

    def emit(self, op: Operation, element: str | None = None) -> Tensor:
        """Add an operator; ``element`` says TEXT where its result are the numbers of texts.

        Raises:
            NotSupported: a size of the result is below 0.
        """
        result = Tensor.of(self._insert(op), element)
        if any(isinstance(d, int) and d < 0 for d in result.shape):
            raise NotSupported(f"sizes below 0 in {op.name} to {result}")
        if values_of(result.shape):
            raise NeedsConstant("a size that is computed at run time")
        return result

    def _followed(self, result: Tensor, trace: Callable[[], Array]) -> Tensor:
        """``result``, a tensor of the run's, whose numbers ``trace`` says if they are asked for."""
        if result.known is None and followed(result):
            result.trace = trace
        return result

    def emit_all(self, op: Operation) -> list[Tensor]:
        """Add an operator of several results."""
        self._insert(op)
        return [Tensor.of(r) for r in op.results]

    def require(self, lhs: DimLike, rhs: DimLike) -> None:
        """The model is only right where lhs >= rhs; checked before it runs unless it is always so, or while it runs
        where that depends on data."""
        if at_least(lhs, rhs) is None and (guard := lhs - rhs) not in self.guards:
            for step in steps_of([guard]):  # what holds in the first and in the last turn does in all
                for turn in (0, self.turns[step] - 1):
                    self.require(evaluate(guard, {step: turn}), 0)
                return
            if sizes_of([guard]) or values_of([guard]):
                self.numbers.check(guard, f"Node '{self.node}': {condition(guard)} does not hold")
            else:
                self.guards.append(guard)  # type: ignore[arg-type]

    # -- values

    def value(self, x: Tensor) -> SSAValue:
        """The SSA value of a tensor, made on first use."""
        if x.value is None or (x.known is not None or x.store) and block_of(x.value) is not self.block:
            x.value = self._again(x.value) or self._materialise(x)
        return self._visible(x.value, len(self.scopes) - 1)

    def _again(self, value: SSAValue | None) -> SSAValue | None:
        """A weight or constant that stands in another block already, in this one."""
        made = value.owner if value is not None else None
        return self._insert(made.clone()) if isinstance(made, WeightOp | ConstantOp) else None

    def _visible(self, value: SSAValue, depth: int) -> SSAValue:
        """``value`` as the scope of that depth sees it."""
        scope = self.scopes[depth]
        if block_of(value) is scope.block:
            return value
        if value not in scope.seen:
            scope.used.append(self._visible(value, depth - 1))
            scope.seen[value] = scope.block.insert_arg(value.type, len(scope.block.args))
        return scope.seen[value]

    def _materialise(self, x: Tensor) -> SSAValue:
        if x.store is not None:
            entry = x.store()
            return self._insert(WeightOp(entry, self.weights.entry(entry).type))
        assert x.known is not None
        if symbolic([x.known]):
            return self._symbols(x.known, x.element)
        limit = 0 if is_narrow(x.element) else CONSTANT_LIMIT if x.known.dtype.kind in "iub" else INLINE_LIMIT
        if 0 < x.known.size <= limit:
            return self._insert(ConstantOp(x.known))
        entry = self.weights.add(x.name or f"{self.node}.constant", x.known)
        return self._insert(WeightOp(entry, self.weights.entry(entry).type))

    def _symbols(self, array: Array, element: str) -> SSAValue:
        """A runtime tensor of dimensions; long ones in pieces, so that no expression grows deep."""
        if array.size <= CHOICES or len(set(array.flat)) == 1:
            return self._insert(choices(array, element))
        flat = array.reshape(-1)
        pieces = [self._symbols(flat[n : n + CHOICES], element) for n in range(0, flat.size, CHOICES)]
        return self._insert(ReshapeOp(self._insert(ConcatOp(pieces, 0)), array.shape))

    def _insert(self, op: Operation) -> SSAValue:
        self.block.add_op(with_nodes(op, [self.node] if self.node else []))
        return op.results[0]

    def values(self, *xs: Tensor) -> list[SSAValue]:
        return [self.value(x) for x in xs]

    def constant(self, value: Any, element: str) -> Tensor:
        """A known tensor of a Python number or array."""
        return Tensor.from_known(np.asarray(value, numpy_dtype(element)), element)

    # -- computing

    def map(self, expr: str, *xs: Tensor) -> Tensor:
        """An elementwise expression of x0, x1, … with broadcasting. Known scalars become literals in it.

        Raises:
            NotSupported: it computes in a narrow type.
        """
        element = check_computes(expr, xs)
        xs = tuple(self.numbers.agreeing(xs))
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

    def contract(self, equation: str, a: Tensor, b: Tensor) -> Tensor:
        """Sum of products; 16-bit floats are summed in f32."""
        check_combines("a product", a.element, b.element)
        wide = ContractOp(equation, self.value(self.wide(a)), self.value(self.wide(b)))
        return self.cast(self.emit(wide), a.element)

    def conv(self, x: Tensor, w: Tensor, strides: Sequence[int], dilations: Sequence[int], groups: int) -> Tensor:
        """Convolution without padding; 16-bit floats are summed in f32."""
        check_combines("a convolution", x.element, w.element)
        if groups > 1 and not isinstance(w.shape[0], int):
            raise NotSupported(f"{w.shape[0]} filters in {groups} groups; fix their number with dims={{name: size}}")
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

    def steps(self) -> list[Tensor]:
        """The numbers of turns so far of the loops round here, as i64."""
        return [self.compute(f"i64({s.step})", [], ()) for s in self.scopes if s.step]

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
        if x.known is not None:
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
