"""Derivatives of loops.

    %s, … = graph.loop "step0" to "T"          →    %s, …, %before = graph.loop …  // collects %state, too
        carry(%s0) use(%x) { … f(%state, %u) }      %sbar, %ubar = graph.loop "step0" to "T" carry(%bar, %zeros) {
                                                      … f and its pullback at %before[T - 1 - step0] }

A loop saves its states of all iterations, and its products whose elements are long sums. The pullback recomputes the
rest of an iteration, in reverse order of the iterations, and differentiates it. The adjoint of a row that an iteration
reads by its number is collected, not summed. The pullback of an outer loop recomputes the inner loop: two nested loops
of √T iterations save 2√T states. Forward mode carries tangents beside the states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import Block, SSAValue

from mlc.dialects.autodiff.branches import into, is_float, or_zeros
from mlc.dialects.autodiff.emitting import Adjoints, Emit, filled, mapped, padded, reshaped, reversed_along
from mlc.dialects.autodiff.forward import REGIONS as FORWARD
from mlc.dialects.autodiff.forward import Tangents, pushforward
from mlc.dialects.autodiff.reverse import REGIONS as REVERSE
from mlc.dialects.autodiff.reverse import pullback
from mlc.dialects.autodiff.scalar import NoDerivative
from mlc.dialects.graph import ContractOp, ConvOp, LoopOp, SliceOp, TransposeOp, YieldOp, dims_of, ints_of
from mlc.dialects.graph.copies import copied
from mlc.dialects.graph.loop import collect, local_symbols
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate, product, symbols_of
from mlc.dialects.types import element_of, shape_of

LONG = 32  # terms of a sum that take longer to compute than to write and read


@dataclass(frozen=True)
class Row:
    """A slice in a loop: iteration n reads index ``first + sign * n`` of dimension ``axis`` of the used value
    ``used``."""

    op: SliceOp
    used: int
    axis: int
    first: DimLike
    sign: int


@dataclass(frozen=True)
class Reverse:
    """The pullback of a loop. ``needed`` says which of its used values need an adjoint."""

    op: LoopOp
    needed: Sequence[bool]

    @property
    def step(self) -> Dim:
        return Dim.symbol(self.op.step.data)

    @cached_property
    def trips(self) -> DimLike:
        """The number of iterations.

        Raises:
            NoDerivative: a condition decides it, and no bound is known.
        """
        if self.op.counted and self.op.size is None:
            raise NoDerivative("a loop on a condition has no derivative in reverse mode (give it max_iterations)")
        return self.op.most if self.op.size is None else Dim.symbol(self.op.size.data)

    @property
    def undone(self) -> DimLike:
        """The iteration of the loop that the current iteration of the pullback differentiates."""
        return self.trips - 1 - self.step

    @cached_property
    def floats(self) -> list[int]:
        """The numbers of the states that have adjoints."""
        return [n for n, s in enumerate(self.op.states) if is_float(s)]

    @cached_property
    def rows(self) -> list[Row]:
        made = (self._row(each) for each in self.op.body.block.ops if isinstance(each, SliceOp))
        return [row for row in made if row is not None and self.needed[row.used]]

    @cached_property
    def whole(self) -> list[int]:
        """The numbers of the used values whose adjoints are summed over the iterations."""
        arguments, rows = self.op.body.block.args[len(self.op.states) :], {row.op for row in self.rows}
        read = [any(use.operation not in rows for use in argument.uses) for argument in arguments]
        return [n for n, need in enumerate(self.needed) if need and read[n]]

    @cached_property
    def products(self) -> list[SSAValue]:
        """The values of an iteration that are saved beside the states: products whose elements are long sums."""
        made = (op.result for op in self.op.body.block.ops if isinstance(op, ContractOp | ConvOp) and _is_long(op))
        return [value for value in made if not local_symbols(shape_of(value))]

    def _row(self, op: SliceOp) -> Row | None:
        arguments, name = self.op.body.block.args[len(self.op.states) :], self.op.step.data
        starts, sizes = dims_of(op.starts), dims_of(op.sizes)
        moving = [n for n, start in enumerate(starts) if name in symbols_of([start])]
        if op.input not in arguments or len(moving) != 1 or name in symbols_of(sizes) or set(ints_of(op.steps)) != {1}:
            return None
        (axis,) = moving
        rest = {sign: starts[axis] - sign * self.step for sign in (1, -1)}
        sign = next((sign for sign in rest if name not in symbols_of([rest[sign]])), 0)
        return Row(op, arguments.index(op.input), axis, rest[sign], sign) if sign and sizes[axis] == 1 else None

    def emit(self, bars: Adjoints, emit: Emit) -> Adjoints:
        """Emit the pullback as a loop. Return the adjoints of the loop's operands from ``bars``, those of its
        results."""
        op, count = self.op, len(self.op.states)
        saved = [collect(op, value, self.step) for value in (*op.carried, *self.products)]
        seeds = {n: bar for n, bar in enumerate(bars[count : count + len(op.at)]) if bar is not None}
        sums = [op.used[n] for n in self.whole]
        states = [or_zeros(bars[n], op.states[n], emit) for n in self.floats]
        states += [filled(emit, 0, element_of(x), shape_of(x)) for x in sums]
        used = [*op.used, *saved, *seeds.values()]
        body = self._body(states, used, [*seeds])
        loop = LoopOp(op.step.data, self.trips, states, used, body, [self.undone] * len(self.rows))
        emit(loop)
        return self._parts(loop.res, emit)

    def _body(self, states: Sequence[SSAValue], used: Sequence[SSAValue], seeds: Sequence[int]) -> Block:
        """Return the body of the pullback's loop: an iteration recomputed, then its pullback. ``seeds`` are the numbers
        of the collected values that have adjoints."""
        op, block = self.op, Block(arg_types=[v.type for v in (*states, *used)])
        emit, bars, rest = into(block, op), block.args[: len(states)], block.args[len(states) :]
        plain, count = rest[: len(op.used)], len(op.states)
        saved, of_results = rest[len(plain) : len(rest) - len(seeds)], rest[len(rest) - len(seeds) :]
        before, products = ([_element(x, self.undone, emit) for x in part] for part in (saved[:count], saved[count:]))
        results, values = copied(op.body.block, [*before, *plain], emit, {op.step.data: self.undone})
        _, new, seen = _split(op, results)
        at = [evaluate(op.collect_at[n], {op.step.data: self.undone}) for n in seeds]
        of_seen = [_element(x, n, emit) for x, n in zip(of_results, at, strict=True)]
        xs = [*(before[n] for n in self.floats), *(plain[n] for n in self.whole)]
        xs += [values[row.op.result] for row in self.rows]
        ys = [*(new[n] for n in self.floats), *(seen[n] for n in seeds)]
        found = pullback(ys, xs, [*bars[: len(self.floats)], *of_seen], emit)
        block.add_op(YieldOp(self._yielded(found, xs, bars, emit)))
        for value, read in zip(self.products, products, strict=True):  # last: the pullback has read their operators
            values[value].replace_all_uses_with(read)
        return block

    def _yielded(self, found: Adjoints, xs: Sequence[SSAValue], bars: Sequence[SSAValue], emit: Emit) -> list[SSAValue]:
        """Return what an iteration yields: the adjoints of states, the running sums of the adjoints of used values, and
        the adjoints of rows."""
        first, last = len(self.floats), len(bars)
        made = [or_zeros(bar, x, emit) for bar, x in zip(found[:first], xs, strict=False)]
        for bar, total in zip(found[first:last], bars[first:], strict=True):
            made.append(total if bar is None else mapped(emit, "x0 + x1", total, bar))
        return made + [or_zeros(bar, x, emit) for bar, x in zip(found[last:], xs[last:], strict=True)]

    def _parts(self, results: Sequence[SSAValue], emit: Emit) -> Adjoints:
        states: Adjoints = [None] * len(self.op.states)
        used: Adjoints = [None] * len(self.op.used)
        given = iter(results)
        for n in self.floats:
            states[n] = next(given)
        for n in self.whole:
            used[n] = next(given)
        for row, bars in zip(self.rows, given, strict=True):
            part, had = self._spread(row, bars, emit), used[row.used]
            used[row.used] = part if had is None else mapped(emit, "x0 + x1", had, part)
        return [*[None] * (len(self.op.operands) - len(states) - len(used)), *states, *used]

    def _spread(self, row: Row, bars: SSAValue, emit: Emit) -> SSAValue:
        """Return the adjoint of a tensor from the adjoints of the rows that all iterations read; it is 0 outside of the
        rows."""
        shape, low, sizes = shape_of(self.op.used[row.used]), [*dims_of(row.op.starts)], dims_of(row.op.sizes)
        axis = row.axis
        rows = reshaped(emit, bars, (self.trips, *sizes[:axis], *sizes[axis + 1 :]))
        perm = [*range(1, axis + 1), 0, *range(axis + 1, len(shape))]
        moved = rows if axis == 0 else emit(TransposeOp(rows, perm))
        found = reversed_along(emit, moved, [axis] if row.sign < 0 else [])
        low[axis] = row.first if row.sign > 0 else row.first - self.trips + 1
        high = [d - a - size for d, a, size in zip(shape, low, shape_of(found), strict=True)]
        return padded(emit, found, low, high, [0] * len(shape))


def _is_long(op: ContractOp | ConvOp) -> bool:
    """Return whether an element of the result is a sum of at least ``LONG`` terms."""
    (sum_,) = op.statements()
    terms = product(n for n, reduced in zip(sum_.bounds, sum_.reduction, strict=True) if reduced)
    return not isinstance(terms, int) or terms >= LONG


def of_loop(op: LoopOp, bars: Adjoints, needed: Sequence[bool], emit: Emit) -> Adjoints:
    return Reverse(op, needed[len(op.operands) - len(op.used) :]).emit(bars, emit)


def along_loop(op: LoopOp, given: Tangents, emit: Emit) -> Tangents:
    """Emit a loop of the states and their tangents, which also collects tangents. Its number of iterations is that of
    ``op``. Return the tangents of the results of ``op``."""
    head, count = len(op.operands) - len(op.states) - len(op.used), len(op.states)
    floats = [n for n, s in enumerate(op.states) if is_float(s)]
    known = {n: t for n, t in enumerate(given[head + count :]) if t is not None}
    kept = [n for n, y in enumerate(op.res[count:]) if is_float(y)]
    states = [*op.states, *(or_zeros(given[head + n], op.states[n], emit) for n in floats)]
    used = [*op.used, *known.values()]
    body = _body_along(op, states, used, floats, [*known], kept)
    at = [op.collect_at[n] for n in kept]
    if op.size is None:
        loop = LoopOp(op.step.data, op.most, states, used, body, at, op.limit, op.active)
    else:
        loop = LoopOp(op.step.data, Dim.symbol(op.size.data), states, used, body, at)
    emit(loop)
    found = dict(zip([*floats, *(count + n for n in kept)], loop.res[count:], strict=True))
    return [found.get(n) for n in range(len(op.res))]


def _body_along(
    op: LoopOp,
    states: Sequence[SSAValue],
    used: Sequence[SSAValue],
    floats: Sequence[int],
    known: Sequence[int],
    kept: Sequence[int],
) -> Block:
    """Return the body of the loop: an iteration, and the tangents of the states ``floats`` and the collected values
    ``kept``."""
    block = Block(arg_types=[v.type for v in (*states, *used)])
    emit, count = into(block, op), len(op.states)
    before, plain, along = (
        block.args[:count],
        block.args[len(states) :][: len(op.used)],
        block.args[count : len(states)],
    )
    results, _ = copied(op.body.block, [*before, *plain], emit)
    goes_on, new, seen = _split(op, results)
    ys = [*(new[n] for n in floats), *(seen[n] for n in kept)]
    xs = [*(before[n] for n in floats), *(plain[n] for n in known)]
    found = pushforward(ys, xs, [*along, *block.args[len(states) + len(op.used) :]], emit)
    ends = goes_on if op.size is None else []
    block.add_op(YieldOp([*ends, *new, *(or_zeros(t, y, emit) for t, y in zip(found, ys, strict=True))]))
    return block


def _split(
    op: LoopOp, results: Sequence[SSAValue]
) -> tuple[Sequence[SSAValue], Sequence[SSAValue], Sequence[SSAValue]]:
    """Split the values that an iteration yields: the condition (if there is one), the states, and the values to
    collect."""
    first = int(op.active is not None)
    last = first + len(op.states)
    return results[:first], results[first:last], results[last:]


def _element(x: SSAValue, n: DimLike, emit: Emit) -> SSAValue:
    """Emit ``x[n]``."""
    _, *rest = shape_of(x)
    row = emit(SliceOp(x, [n, *(0 for _ in rest)], [1, *rest], [1] * (1 + len(rest))))
    return reshaped(emit, row, rest)


REVERSE[LoopOp], FORWARD[LoopOp] = of_loop, along_loop
