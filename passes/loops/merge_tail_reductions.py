"""Merging of tail reductions (``merge-tail-reductions``): the loop over a tail goes on with the body's accumulators.

    %a = scf.for … iter_args(%x = %zero)          %a = scf.for … iter_args(%x = %zero)
    %s = vector.reduction <add>, %a               %b = scf.for … iter_args(%y = %a)
    %b = scf.for … iter_args(%y = %zero)    →     %r = vector.reduction <add>, %b
    %t = vector.reduction <add>, %b
    %r = arith.addf %t, %s

A reduction of a distributed vector takes shuffles and two barriers of the block. An extent that is no multiple of the
tile has a loop over whole tiles and one over the rest, and so two reductions. The terms of a sum are the same, in
another order.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp
from xdsl.dialects.vector import CombiningKindFlag as Kind
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel

Reduction = vector.ReductionOp | kernel.MultiReductionOp
KINDS: dict[type[Operation], tuple[Kind, object]] = {
    arith.AddfOp: (Kind.ADD, 0.0), arith.AddiOp: (Kind.ADD, 0), arith.MulfOp: (Kind.MUL, 1.0),
    arith.MuliOp: (Kind.MUL, 1), arith.MaximumfOp: (Kind.MAXIMUMF, None), arith.MinimumfOp: (Kind.MINIMUMF, None),
    arith.MaxSIOp: (Kind.MAXSI, None), arith.MinSIOp: (Kind.MINSI, None), arith.MaxUIOp: (Kind.MAXUI, None),
    arith.MinUIOp: (Kind.MINUI, None), arith.AndIOp: (Kind.AND, None), arith.OrIOp: (Kind.OR, None),
}  # fmt: skip
"""The kind of a reduction whose results an operation combines, and its identity; None: any value is idempotent."""


@dataclass(frozen=True)
class MergeTailReductions(ModulePass):
    name = "merge-tail-reductions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            for combination in [o for o in fn.walk() if type(o) in KINDS]:
                _merge(combination)


@dataclass(frozen=True)
class _Accumulation:
    """A reduction of the accumulator that a loop carries, as result ``number``."""

    reduction: Reduction
    loop: scf.ForOp
    number: int

    @property
    def initial(self) -> SSAValue:
        return self.loop.iter_args[self.number]


def _merge(combination: Operation) -> None:
    """Merge the two accumulations whose reductions ``combination`` combines."""
    kind, identity = KINDS[type(combination)]
    tail, body = (_accumulation(value, kind) for value in combination.operands)
    if tail is None or body is None:
        return
    if not body.loop.is_before_in_block(tail.loop):
        tail, body = body, tail
    if not _is_continued(body, tail, identity):
        return
    tail.loop.operands[3 + tail.number] = body.loop.results[body.number]
    combination.results[0].replace_all_uses_with(tail.reduction.results[0])
    for op in (combination, body.reduction):
        op.detach()
        op.erase()


def _accumulation(value: SSAValue, kind: Kind) -> _Accumulation | None:
    """The accumulation that ``value`` alone is the result of; None where it is not one of this kind."""
    op = value.owner
    if not isinstance(op, Reduction) or op.kind.data != kind or len(list(value.uses)) != 1:
        return None
    if isinstance(op, vector.ReductionOp) and op.acc is not None:
        return None
    source = op.operands[0]
    if not isinstance(source, OpResult) or not isinstance(source.owner, scf.ForOp) or len(list(source.uses)) != 1:
        return None
    return _Accumulation(op, source.owner, source.index)


def _is_continued(body: _Accumulation, tail: _Accumulation, identity: object) -> bool:
    """Return whether the tail's accumulator may begin with that of the body, in place of the value with which both
    begin."""
    if body.loop is tail.loop or body.loop.parent is not tail.loop.parent:
        return False
    first, other = _constant(body.initial), _constant(tail.initial)
    same_type = body.loop.results[body.number].type == tail.loop.results[tail.number].type
    return same_type and first is not None and first == other and identity in (None, first)


def _constant(value: SSAValue) -> object:
    """The number that each lane of a value is; None where it is not known."""
    op = value.owner
    if isinstance(op, vector.BroadcastOp):
        op = op.source.owner
    if not isinstance(op, arith.ConstantOp) or not isinstance(op.value, FloatAttr | IntegerAttr):
        return None
    return op.value.value.data
