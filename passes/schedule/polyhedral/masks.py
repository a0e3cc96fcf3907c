"""Masked iterations: those whose terms are the identity of their reductions, because a constant mask is a band matrix.

    S1[m, n]: t1[m] max= s[m, n] + b2[m, n]          b2[m, n] = 0 where n <= m, -inf elsewhere
    S2[m, n]: p[m, n] = exp(s[m, n] + b2[m, n] - t1[m])    S3[m, n]: t3[m] += p[m, n]

Outside of n <= m the term of S1 is -inf and p is 0, and so are the terms of S3 and of a product with p. These
statements, and the statement of the scores s, if no other statement reads them, therefore need iterations only for n <=
m (FlexAttention calls the condition a mask function; Dong et al., 2024). Scores outside of n <= m are assumed to be
finite, and larger than the lowest finite number, which masks as -inf does. Each row must have an iteration: the softmax
of a row of masked elements is NaN, or their mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.poly import YieldOp
from mlc.dialects.semantics.band import Band
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate, symbols_of
from mlc.dialects.types import element_name, lowest
from mlc.passes.schedule.polyhedral.isl_text import restricted_text
from mlc.passes.schedule.polyhedral.running_reductions import COPIES
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView

Number = float | bool | None
"""A value outside of the conditions; None if it is not known. -inf also stands for the lowest finite number."""
Conditions = tuple[DimLike, ...]
"""Expressions of iterators, which are at least 0 in the domain."""
MASK = "mask"
"""The attribute of the operation that selects the identity outside of a statement's conditions."""
MASKED = float("-inf")
IDENTITIES = {"add": 0.0, "max": MASKED}


@dataclass(frozen=True)
class Outside:
    """An array whose elements outside of ``conditions`` all equal ``value``. The conditions are over the iterators of
    the writer."""

    write: Access
    conditions: Conditions
    value: Number


@dataclass
class Masks:
    """The masked iterations of a kernel. ``bands``: the constant masks, by array; ``conditions``: those of each
    statement with a restricted domain; ``masked``: the value outside, of each statement that reads a mask."""

    statements: Sequence[StatementView]
    bands: Mapping[str, Band]
    conditions: dict[str, Conditions] = field(default_factory=dict)
    masked: dict[str, Number] = field(default_factory=dict)
    made: dict[str, Outside] = field(default_factory=dict)

    def holds(self) -> bool:
        """Return whether each statement that reads a mask, or a value computed from one, can have a restricted domain;
        fill ``conditions`` and ``masked``."""
        return all(map(self._forward, self.statements)) and self._backward() and bool(self.masked)

    def _forward(self, s: StatementView) -> bool:
        found = {c for r in s.reads if (c := self._conditions_of(r))}
        if not found:
            return True
        if len(found) > 1:
            return False
        (conditions,) = found
        value = self._value(s)
        if any(r.array in self.bands for r in s.reads):
            self.masked[s.name] = value
        self.conditions[s.name] = conditions
        if s.op.monoid is None:
            self.made[s.write.array] = Outside(s.write, conditions, value)
            return value is not None
        reduced = symbols_of(conditions) & set(s.reduced)
        is_identity = value is not None and value == IDENTITIES.get(s.op.monoid.data)
        return bool(reduced) and is_identity and has_rows(s, conditions)

    def _conditions_of(self, read: Access) -> Conditions:
        """Return the conditions of the element that ``read`` reads, over the reader's iterators."""
        if read.array in self.bands:
            return conditions_of(self.bands[read.array], read)
        if outside := self.made.get(read.array):
            names = {str(i): r for i, r in zip(outside.write.index, read.index, strict=True) if isinstance(i, Dim)}
            return tuple(evaluate(c, names) for c in outside.conditions)
        return ()

    def _value(self, s: StatementView) -> Number:
        """Return the value that a statement yields outside of its conditions."""
        known: dict[SSAValue, Number] = {}
        for arg, read in zip(s.op.body.block.args, s.reads, strict=True):
            if read.array in self.bands:
                known[arg] = _number(self.bands[read.array].outside, arg)
            elif read.array in self.made:
                known[arg] = self.made[read.array].value
        for op in s.op.body.block.ops:
            if isinstance(op, YieldOp):
                return known.get(op.operands[0])
            known[op.results[0]] = _value_outside(op, [known.get(v) for v in op.operands])
        return None

    def _backward(self) -> bool:
        """Restrict the domains of statements whose results are read under conditions only; return whether the
        conditions of all readers agree."""
        for s in reversed(self.statements):
            uses = [(r, reader) for reader in self.statements for r in reader.reads if r.array == s.write.array]
            local = isinstance(s.op.out.owner, kernel.LocalOp)
            if s.name in self.conditions:
                if s.write.array in self.made and not (local and all(u.name in self.conditions for _, u in uses)):
                    return False
            elif uses and local and all(reader.name in self.conditions for _, reader in uses):
                found = {_translated(self.conditions[u.name], r, s.write) for r, u in uses}
                if len(found) == 1 and (conditions := found.pop()) and symbols_of(conditions) <= set(s.iters):
                    self.conditions[s.name] = conditions
        return True


def conditions_of(band: Band, read: Access) -> Conditions:
    """Return the conditions under which an element of a band matrix is inside the band; () if its index is not
    affine."""
    row, column = (0, *read.index)[-2:]
    found = [] if band.lower is None else [column - row - band.lower]
    found += [] if band.upper is None else [band.upper + row - column]
    whole = tuple(c for c in found if isinstance(c, Dim))
    affine = all(isinstance(a, str) for c in whole for m, _ in c.terms for a in m)
    return whole if affine else ()  # a part of a sum may begin at a quotient


def _translated(conditions: Conditions, read: Access, write: Access) -> Conditions:
    """Return the conditions of a reader over the iterators of the statement that writes what it reads."""
    names = {str(r): w for r, w in zip(read.index, write.index, strict=True) if isinstance(r, Dim)}
    return tuple(evaluate(c, names) for c in conditions)


def has_rows(s: StatementView, conditions: Conditions) -> bool:
    """Return whether each result of a reduction has a term under the conditions."""
    whole, part = isl.Set(s.domain), isl.Set(restricted_text(s.name, s.bounds, s.params, conditions))
    for n, i in reversed([*enumerate(s.iters)]):
        if i in s.reduced:
            whole, part = (each.project_out(isl.dim_type.set, n, 1) for each in (whole, part))
    return bool(whole.is_subset(part))


def _number(value: float, of: SSAValue) -> Number:
    """Return a constant as a Number: the lowest number of its type becomes -inf."""
    return MASKED if isinstance(of.type, AnyFloat) and value <= lowest(element_name(of.type)) else value


def _value_outside(op: Operation, args: Sequence[Number]) -> Number:
    """Return the result of an operation on values outside of the conditions, where values that are not known are
    finite."""
    match op.name, args:
        case "arith.constant", _:
            assert isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr | IntegerAttr)
            return _number(op.value.value.data, op.result)
        case "arith.select", [bool() | int() as condition, x, y]:
            return x if condition else y
        case "arith.addf" | "arith.subf", [x, y] if x == MASKED and y != MASKED:
            return MASKED
        case "arith.addf", [x, y] if y == MASKED:
            return MASKED
        case "arith.addf", [float() as x, float() as y]:
            return x + y
        case "math.exp", [x] if x == MASKED:
            return 0.0
        case "arith.mulf", [x, y] if (x == 0 or y == 0) and MASKED not in args:
            return 0.0
        case "arith.divf", [x, _] if x == 0:
            return 0.0
        case name, [x] if name in COPIES:
            return x
    return None
