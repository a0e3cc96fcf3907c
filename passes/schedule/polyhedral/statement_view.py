"""A view of a ``poly.statement`` for rules and passes: extents, strides, reduced iterators, isl domain and accesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mlc.dialects import kernel, poly
from mlc.dialects.semantics.dims import Atom, Dim, DimLike
from mlc.dialects.types import Shape, shape_of
from mlc.passes.schedule.polyhedral.isl_text import Params, access_text, domain_text, restricted_text


@dataclass(frozen=True)
class Access:
    array: str
    index: tuple[DimLike, ...]  # over iterators and symbols
    shape: Shape

    @cached_property
    def linear(self) -> DimLike:
        """The offset of the element in its row-major buffer."""
        offset: DimLike = 0
        for i, d in zip(self.index, self.shape, strict=True):
            offset = offset * d + i
        return offset

    def depends_on(self, name: str) -> bool:
        return name in self.symbols

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The symbols and iterators in the element's index."""
        return frozenset(name for i in self.index if isinstance(i, Dim) for name in i.symbols())

    def slides(self, along: str, over: str) -> bool:
        """Return whether points that differ along ``along`` and along ``over`` can read the same element, as in a
        sliding window."""
        return any(isinstance(i, Dim) and {along, over} <= i.symbols() for i in self.index)

    def stride(self, name: str) -> DimLike | None:
        """Return the distance in elements between neighbours along the iterator ``name``; None if it is not
        constant."""
        terms = [(m, c) for m, c in (self.linear.terms if isinstance(self.linear, Dim) else ()) if _mentions(m, name)]
        total: DimLike = 0
        for monomial, c in terms:
            rest = tuple(a for a in monomial if a != name)
            if len(rest) != len(monomial) - 1 or _mentions(rest, name):
                return None
            total = total + Dim.of({rest: c})
        return total


def _mentions(monomial: tuple[Atom, ...], name: str) -> bool:
    return any(a == name if isinstance(a, str) else name in Dim((((a,), 1),)).symbols() for a in monomial)


@dataclass(frozen=True)
class StatementView:
    op: poly.StatementOp
    name: str
    iters: tuple[str, ...]
    bounds: dict[str, DimLike]
    reads: tuple[Access, ...]
    write: Access
    params: Params
    conditions: tuple[DimLike, ...] = ()  # at least 0 where the term is not the identity

    @cached_property
    def reduced(self) -> tuple[str, ...]:
        """The iterators on which the written element does not depend."""
        return tuple(i for i in self.iters if not self.write.depends_on(i)) if self.op.monoid else ()

    @cached_property
    def domain(self) -> str:
        """The isl set of the statement's instances, masked ones included: a schedule may execute these."""
        return domain_text(self.name, self.bounds, self.params)

    @cached_property
    def required(self) -> str:
        """The isl set of the instances that a schedule must execute."""
        if not self.conditions:
            return self.domain
        return restricted_text(self.name, self.bounds, self.params, self.conditions)

    @cached_property
    def accesses(self) -> tuple[str, ...]:
        """The isl maps from instances to elements, the write last."""
        accesses = (*self.reads, self.write)
        return tuple(access_text(self.name, self.iters, a.array, a.index, self.params) for a in accesses)

    @cached_property
    def labelled(self) -> tuple[tuple[Access, str, bool], ...]:
        """Each access with its isl map, and whether it writes."""
        reads = [(read, text, False) for read, text in zip(self.reads, self.accesses, strict=False)]
        return (*reads, (self.write, self.accesses[-1], True))

    @cached_property
    def parallel(self) -> tuple[str, ...]:
        return tuple(i for i in self.iters if i not in self.reduced)


def statements_of(fn: kernel.FuncOp) -> list[StatementView]:
    """Return the statements of a kernel, which share its isl parameters."""
    ops = [op for op in fn.block.ops if isinstance(op, poly.StatementOp)]
    dims = [d for op in ops for d in (*(i for a in op.accesses for i in a.data[1]), *(n for _, n in op.domain.data))]
    params = Params(dims, frozenset(i for op in ops for i, _ in op.domain.data))
    return [_view(op, params) for op in ops]


def epilogue_follows(statements: Sequence[StatementView]) -> bool:
    """Return whether all statements after the first, a reduction, are its epilogue: elementwise over its parallel
    iterators."""
    first, *rest = statements
    return all(s.op.monoid is None and s.iters == first.parallel for s in rest)


def _view(op: poly.StatementOp, params: Params) -> StatementView:
    values = (*op.ins, op.out)
    accesses = [Access(*a.data, shape_of(v.type)) for a, v in zip(op.accesses, values, strict=True)]
    bounds = dict(op.domain.data)
    reads, conditions = tuple(accesses[:-1]), op.restrictions
    return StatementView(op, op.id.data, tuple(bounds), bounds, reads, accesses[-1], params, conditions)
