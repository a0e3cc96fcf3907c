"""Running reductions: statements that can be computed block by block of a reduction, in order (online softmax).

    S1[m, n]: t1[m] max= s[m, n]     S2[m, n]: p[m, n] = exp(s[m, n] - t1[m])     S3[m, n]: t3[m] += p[m, n]

After some blocks of n, t1 is the maximum so far, and t3 the sum for that maximum. When a block raises the maximum, what
was summed is multiplied by ``exp(old - new)``: the pair (maximum, sum) is a monoid of two components, whose combination
rescales the second one. A product that sums p[m, n]·v[n, k] is a third component (Milakov and Gimelshein, Online
normalizer calculation for softmax, 2018; Dao et al., FlashAttention, 2022).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Operation, SSAValue

from mlc.dialects.poly import LoopNest, ScheduleError, YieldOp
from mlc.dialects.semantics.dims import Dim, evaluate
from mlc.dialects.types import element_name, lowest
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView


class Kind(Enum):
    """How a value depends on the running maximum M."""

    PLAIN = "not"
    MAXIMUM = "it is M"
    SHIFTED = "plain - M"
    SCALED = "plain * exp(-M)"


@dataclass(frozen=True)
class Dependence:
    """How a value depends on a running maximum. ``maximum``: the element of the maximum, over the statement's
    iterators; None for plain values."""

    kind: Kind = Kind.PLAIN
    maximum: Access | None = None


PLAIN = Dependence()
PRODUCTS = ("arith.mulf", "arith.divf")
SUMS = ("arith.addf", "arith.subf", "arith.negf")
COPIES = ("builtin.unrealized_conversion_cast", "arith.extf", "arith.truncf")


@dataclass(frozen=True)
class Running:
    """The running reductions of a stream. ``scales``: the running maximum by which each of them is rescaled, None if it
    is not; ``arrays``: the arrays that they write; ``statements``: all statements of the stream."""

    scales: Mapping[str, Access | None]
    arrays: frozenset[str]
    statements: frozenset[str]

    @property
    def maxima(self) -> frozenset[str]:
        """The arrays of the maxima by which other reductions are rescaled."""
        return frozenset(a.array for a in self.scales.values() if a)


NOTHING = Running({}, frozenset(), frozenset())


def running_of(nests: Sequence[LoopNest], statements: Mapping[str, StatementView]) -> Running:
    """Return the running reductions of a schedule.

    Raises:
        ScheduleError: a statement of a streamed nest cannot be computed block by block.
    """
    along = {s: n.streamed.iterator for n in nests if n.streamed for s in n.statements}
    return running_reductions([s for name, s in statements.items() if name in along], along)


def running_reductions(statements: Sequence[StatementView], along: Mapping[str, str]) -> Running:
    """Return the running reductions among ``statements``, which are in order. ``along``: the streamed iterator of each
    statement.

    Raises:
        ScheduleError: a statement cannot be computed block by block.
    """
    made: dict[str, tuple[Access, Dependence]] = {}
    scales: dict[str, Access | None] = {}
    results: set[str] = set()
    for s in statements:
        if along[s.name] not in s.iters:
            raise ScheduleError(f"{s.name} has no iterator {along[s.name]}, along which its nest is streamed")
        if read := next((r.array for r in s.reads if r.array in results), None):
            raise ScheduleError(f"{s.name} reads {read} before all blocks of {along[s.name]} have been combined")
        value = _value(s, made)
        if along[s.name] in s.reduced:
            scales[s.name] = value.maximum
            if value == PLAIN and s.op.monoid and s.op.monoid.data == "max":
                made[s.write.array] = s.write, Dependence(Kind.MAXIMUM, s.write)
                continue
            results.add(s.write.array)
        made[s.write.array] = s.write, value
    arrays = results | {s.write.array for s in statements if s.name in scales}
    return Running(scales, frozenset(arrays), frozenset(along))


def masked_beyond(nest: LoopNest, statements: Sequence[StatementView]) -> dict[str, str]:
    """Return the statements of a nest whose values must be the identity, or 0, beyond the extent of a stream in padded
    blocks, each with the streamed iterator: reductions, and statements that compute a factor of a sum of products."""
    split = nest.streamed
    if split is None or not split.points:
        return {}
    factors = {r.array for s in statements if _is_product(s) for r in s.reads}
    members = [s for s in statements if s.name in nest.statements and split.iterator in s.iters]
    reductions = {s.name for s in members if split.iterator in s.reduced and not _is_product(s)}
    maps = {s.name for s in members if s.op.monoid is None and s.write.array in factors}
    return dict.fromkeys(reductions | maps, split.iterator)


def _is_product(s: StatementView) -> bool:
    """Return whether a statement sums products of its operands, which are 0 if a factor is 0."""
    names = {o.name for o in s.op.body.block.ops}
    sums = s.op.monoid is not None and s.op.monoid.data == "add"
    return sums and "arith.mulf" in names and names <= {"arith.mulf", "poly.yield", *COPIES}


def _value(s: StatementView, made: Mapping[str, tuple[Access, Dependence]]) -> Dependence:
    """Return how the value that a statement yields depends on a running maximum."""
    values: dict[SSAValue, Dependence] = {}
    for arg, read in zip(s.op.body.block.args, s.reads, strict=True):
        values[arg] = _read(read, *made[read.array]) if read.array in made else PLAIN
    found = PLAIN
    for op in s.op.body.block.ops:
        if isinstance(op, YieldOp):
            found = values[op.operands[0]]
            break
        combined = _combined(op, [values.get(v, PLAIN) for v in op.operands])
        if combined is None:
            raise ScheduleError(f"{s.name} does not follow a running maximum by a factor exp(old - new): {op.name}")
        values |= dict.fromkeys(op.results, combined)
    sums = s.op.monoid is None or s.op.monoid.data == "add"
    if found.kind in (Kind.MAXIMUM, Kind.SHIFTED) or found != PLAIN and not sums:
        raise ScheduleError(f"{s.name} does not follow a running maximum by a factor exp(old - new)")
    if found.maximum and any(found.maximum.depends_on(i) for i in s.reduced):
        raise ScheduleError(f"{s.name} sums over elements of several running maxima")
    return found


def _read(read: Access, write: Access, value: Dependence) -> Dependence:
    """Return the dependence of an element that an earlier statement has written, with the maximum over the reader's
    iterators."""
    if value.maximum is None:
        return value
    names = {str(i): r for i, r in zip(write.index, read.index, strict=True) if isinstance(i, Dim)}
    index = tuple(evaluate(i, names) for i in value.maximum.index)
    return replace(value, maximum=replace(value.maximum, index=index))


def _lowest(value: SSAValue) -> bool:
    """Return whether a value is the lowest finite number of its type."""
    match value.owner:
        case arith.ConstantOp(value=FloatAttr() as number):
            return bool(number.value.data == lowest(element_name(number.type)))
    return False


def _is_zero(value: SSAValue) -> bool:
    match value.owner:
        case arith.ConstantOp(value=FloatAttr() as number):
            return bool(number.value.data == 0)
    return False


def _combined(op: Operation, args: Sequence[Dependence]) -> Dependence | None:
    """Return the dependence of the result of ``op``; None if it is of no kind."""
    kinds = [a.kind for a in args]
    dependent = next((a for a in args if a != PLAIN), PLAIN)
    if dependent == PLAIN:
        return PLAIN
    if any(a.maximum not in (None, dependent.maximum) for a in args):
        return None
    if kinds.count(Kind.MAXIMUM) == 1 and op.name == "arith.maximumf" and any(map(_lowest, op.operands)):
        return dependent  # of finite numbers it is the maximum, and for -inf there are no terms yet
    if kinds == [Kind.PLAIN, Kind.MAXIMUM] and op.name == "arith.subf":
        return Dependence(Kind.SHIFTED, dependent.maximum)
    if kinds == [Kind.SHIFTED] and op.name == "math.exp":
        return Dependence(Kind.SCALED, dependent.maximum)
    scaled = kinds.count(Kind.SCALED)
    if op.name == "arith.select":  # zeros where elements are masked
        return dependent if kinds == [Kind.PLAIN, Kind.SCALED, Kind.PLAIN] and _is_zero(op.operands[2]) else None
    linear = op.name in PRODUCTS and scaled == 1 and kinds[0] == Kind.SCALED or op.name == "arith.mulf" and scaled == 1
    whole = op.name in (*SUMS, *COPIES) and scaled == len(kinds)
    return dependent if linear or whole else None
