"""Effects on memory, by which xDSL decides what is dead, equal or invariant. Every operation of the dialect declares
one."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, Pure

PURE = Pure()


@dataclass(frozen=True)
class Accesses(MemoryEffect):
    """The effect of an operation that reads, writes or allocates buffers, given by the names of its operands or
    results.

    A missing optional operand, or a vector in registers in place of a buffer, has no effect.
    """

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    allocates: tuple[str, ...] = ()

    def get_effects(self, op: Operation) -> Set[EffectInstance]:  # type: ignore[override]  # of one operation's names
        kinds = ((MemoryEffectKind.READ, self.reads), (MemoryEffectKind.WRITE, self.writes))
        pairs = [*kinds, (MemoryEffectKind.ALLOC, self.allocates)]
        return {EffectInstance(kind, v) for kind, names in pairs for name in names for v in _buffers(op, name)}


def _buffers(op: Operation, name: str) -> list[SSAValue]:
    found = getattr(op, name)
    values = [found] if isinstance(found, SSAValue) else list(found or ())
    return [v for v in values if isinstance(v.type, MemRefType)]


@dataclass(frozen=True)
class Orders(MemoryEffect):
    """The effect of an operation that orders threads, such as a barrier or wait: no access moves past it, and it is
    never dead."""

    def get_effects(self, op: Operation) -> Set[EffectInstance]:  # type: ignore[override]
        return frozenset(EffectInstance(kind) for kind in (MemoryEffectKind.READ, MemoryEffectKind.WRITE))


@dataclass(frozen=True)
class ReadsPosition(MemoryEffect):
    """The effect of an operation that reads the iteration of the enclosing loop: it may be dead, but stays in its
    loop."""

    def get_effects(self, op: Operation) -> Set[EffectInstance]:  # type: ignore[override]
        return frozenset({EffectInstance(MemoryEffectKind.READ)})


def declare_missing() -> None:
    """Declare the effects of pure operations of xDSL that lack one."""
    for op in (arith.ExtSIOp, arith.RemUIOp, vector.ReductionOp, vector.BitcastOp):
        if not any(isinstance(trait, MemoryEffect) for trait in op.traits.traits):
            op.traits.add_trait(PURE)


declare_missing()
