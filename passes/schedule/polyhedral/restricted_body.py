"""Bodies of statements with restricted domains: they read no mask, and yield the identity outside of the conditions.

S1[m, n]: t1[m] max= t0[m, n] + b2[m, n]   →   S1[m, n], m - n >= 0: t1[m] max= where(n <= m, t0[m, n], -inf)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, UnitAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel, poly
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.passes.effects import erase_dead
from mlc.passes.schedule.polyhedral.masks import MASK, Conditions, Masks, Number
from mlc.passes.schedule.polyhedral.statement_view import StatementView


@dataclass(frozen=True)
class RestrictedBody:
    """The rewriting of a statement that reads masks: it uses their values inside of the band, and yields the identity
    outside."""

    s: StatementView
    conditions: Conditions
    masks: Masks

    def rewritten(self) -> poly.StatementOp:
        """Replace the statement by one that reads no mask, and return that."""
        old, block = self.s.op, self.s.op.body.block
        read = [n for n, r in enumerate(self.s.reads) if r.array in self.masks.bands]
        for n in read:
            arg = block.args[n]
            arg.replace_all_uses_with(self._first(constant(self.masks.bands[self.s.reads[n].array].inside, arg)))
        _fold(list(block.ops))
        self._mask()
        return without_reads(old, read)

    def _first(self, op: Operation) -> SSAValue:
        block = self.s.op.body.block
        assert block.first_op is not None
        block.insert_op_before(op, block.first_op)
        return op.results[0]

    def _mask(self) -> None:
        """Select the identity as the yielded value if a condition is less than 0."""
        last = self.s.op.body.block.last_op
        assert isinstance(last, poly.YieldOp)
        value = last.operands[0]
        build = Comparisons(last)
        whole = build.all_hold(self.conditions)
        outside = build.add(constant(self.masks.masked[self.s.name], value))
        select = arith.SelectOp(whole, value, outside)
        select.attributes[MASK] = UnitAttr()
        last.operands[0] = build.add(select)


def without_reads(old: poly.StatementOp, read: Sequence[int]) -> poly.StatementOp:
    """Replace ``old`` by a statement without the operands numbered ``read``, which its body does not use, and return
    it."""
    for n in reversed(read):
        old.body.block.erase_arg(old.body.block.args[n])
    ins = [v for n, v in enumerate(old.ins) if n not in read]
    accesses = [a for n, a in enumerate(old.accesses) if n not in read]
    monoid, body = old.monoid.data if old.monoid else None, old.detach_region(old.body)
    new = poly.StatementOp(old.id.data, old.domain, accesses, ins, old.out, body, monoid, old.init)
    new.properties |= {name: value for name, value in old.properties.items() if name not in new.properties}
    assert (kernel_ := old.parent_block()) is not None
    kernel_.insert_op_before(new, old)
    Rewriter.erase_op(old)
    return new


@dataclass(frozen=True)
class Comparisons:
    """A builder of comparisons of iterators in the body of a statement, before the operation ``before``."""

    before: Operation
    element: IntegerType = i64

    def add(self, op: Operation) -> SSAValue:
        block = self.before.parent_block()
        assert block is not None
        block.insert_op_before(op, self.before)
        return op.results[0]

    def all_hold(self, conditions: Sequence[DimLike]) -> SSAValue:
        """Return a value that is true if all ``conditions``, which are sums of iterators, are at least 0."""
        whole, *others = map(self.compare, conditions)
        for other in others:
            whole = self.add(arith.AndIOp(whole, other))
        return whole

    def compare(self, condition: DimLike) -> SSAValue:
        """Return a value that is true if ``condition``, a sum of iterators, is at least 0: the negative terms are moved
        to the other side."""
        assert isinstance(condition, Dim)
        terms = [(monomial, c) for monomial, c in condition.terms]
        sides = [Dim.of({m: sign * c for m, c in terms if sign * c > 0}) for sign in (-1, 1)]
        less, more = map(self._sum, sides)
        return self.add(arith.CmpiOp(less, more, "sle"))

    def _sum(self, dim: DimLike) -> SSAValue:
        total: SSAValue | None = None
        for monomial, c in dim.terms if isinstance(dim, Dim) else (((), dim),):
            value = self._iterator(str(monomial[0])) if monomial else self._integer(c)
            if monomial and c != 1:
                value = self.add(arith.MuliOp(value, self._integer(c)))
            total = value if total is None else self.add(arith.AddiOp(total, value))
        assert total is not None
        return total

    def _integer(self, value: int) -> SSAValue:
        return self.add(arith.ConstantOp(IntegerAttr(value, self.element)))

    def _iterator(self, name: str) -> SSAValue:
        return self.add(arith.IndexCastOp(self.add(kernel.IndexOp(name)), self.element))


def constant(value: Number, like: SSAValue) -> arith.ConstantOp:
    type_ = like.type
    if isinstance(type_, IntegerType):
        return arith.ConstantOp(IntegerAttr(int(bool(value)), type_))
    assert isinstance(type_, AnyFloat) and value is not None
    return arith.ConstantOp(FloatAttr(float(value), type_))


def _fold(ops: Sequence[Operation]) -> None:
    """Fold selections by constant conditions and additions of zero, and erase dead operations."""
    for op in ops:
        match op:
            case arith.SelectOp(cond=SSAValue(owner=arith.ConstantOp(value=IntegerAttr() as chosen))):
                op.result.replace_all_uses_with(op.lhs if chosen.value.data else op.rhs)
            case arith.AddfOp():
                zeros = [v for v in op.operands if _is_zero(v)]
                if zeros:
                    op.result.replace_all_uses_with(op.lhs if op.rhs is zeros[-1] else op.rhs)
    erase_dead(ops)


def _is_zero(value: SSAValue) -> bool:
    match value.owner:
        case arith.ConstantOp(value=FloatAttr() as number):
            return bool(number.value.data == 0)
    return False
