"""Splitting of reductions (``split-reductions``): thread blocks of a GPU compute parts of a sum, and a second kernel
adds the parts.

    %y = kernel.call @k(%a, %b, %c)
    kernel.func @k:       S0[m, n, k] t[m, n] += a[m, k]·b[k, n];  S1 …
      →
    %p = kernel.call @k_parts(%a, %b)
    %y = kernel.call @k(%p, %c)
    kernel.func @k_parts: S0[part, m, n, k] b2[part, m, n] += a[m, 64·part + k]·b[64·part + k, n]
    kernel.func @k:       S0[m, n, part] t[m, n] += b0[part, m, n];  S1 …

The pass splits products of few rows and columns with long sums, which have fewer tiles than the GPU has multiprocessors
(split-K; CUTLASS). The property ``parts``, which ``apply-parts`` and ``apply-tuned`` set, is the number of parts (1:
the kernel is not split); without it the number is an estimate. The parts are in the arena, and are added in order, so
that results are the same in each run. In running reductions, such as attention of few queries, the keys are split
(split-KV), and the parts are combined likewise (``RunningParts``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mlc.dialects import kernel, poly
from mlc.dialects.poly import ScheduleError
from mlc.dialects.semantics.dims import Dim, DimLike, ceildiv, evaluate, floordiv, product
from mlc.dialects.types import element_of, memref, shape_of, tensor
from mlc.passes.context import MlcContext, gpu_of
from mlc.passes.cost.block_time import SplitSum, has_parts
from mlc.passes.schedule.apply_schedules import following
from mlc.passes.schedule.collapse_iterators import CollapseIterators
from mlc.passes.schedule.gpu.kernel_copy import KernelCopy
from mlc.passes.schedule.gpu.part_numbers import PART, PARTS_SUFFIX
from mlc.passes.schedule.gpu.parts import (
    is_splittable,
    open_parts,
    open_size,
    outer_parts,
    part_terms,
    rows_of,
    running_sum,
    split_stream,
    split_sum,
    splittable_stream,
)
from mlc.passes.schedule.gpu.running_parts import Kernel, RunningParts
from mlc.passes.schedule.polyhedral.bounded import ISL_OPERATIONS, IslLimit, bounded
from mlc.passes.schedule.polyhedral.dependences import components
from mlc.passes.schedule.polyhedral.merged_rows import merge_rows
from mlc.passes.schedule.polyhedral.statement_view import StatementView, statements_of
from mlc.target import GpuTarget

T = TypeVar("T")
Estimate = Callable[[Sequence[StatementView], GpuTarget, str], T]


@dataclass(frozen=True)
class SplitReductions(ModulePass):
    name = "split-reductions"
    numerics: str = "default"
    isl_operations: int = ISL_OPERATIONS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp) and o.schedule is None]:
            if pair := self._pair(fn, gpu_of(ctx)):
                _Calls(op, fn).replace(pair)

    def _pair(self, fn: kernel.FuncOp, target: GpuTarget) -> KernelPair | None:
        """Return the pair of kernels for the number of parts that the user, the tuner or the fuse stage gives, or that
        is estimated for a sum of one product; None if the kernel is not split."""
        if fn.parts is not None:
            return _given_split(fn)
        return _decided_split(fn) if fn.fusion.streamed else self._estimated(fn, target)

    def _estimated(self, fn: kernel.FuncOp, target: GpuTarget) -> KernelPair | None:
        """Return the pair of kernels for the estimated number of parts; None if the kernel is not split."""
        split = self._bounded(fn, split_sum, target)
        parts: DimLike | None = split.parts() if split else self._symbolic(fn, target)
        return None if parts is None or parts == 1 else _divided(fn, statements_of(fn), parts)

    def _symbolic(self, fn: kernel.FuncOp, target: GpuTarget) -> DimLike | None:
        """Return the number of parts of a sum over several iterators, or of a symbolic number of terms; None if it is
        not split."""
        found: DimLike | None = self._bounded(fn, outer_parts, target)
        return found or self._bounded(fn, open_parts, target)

    def split(self, fn: kernel.FuncOp, target: GpuTarget) -> SplitSum | None:
        """Return the estimated times of a kernel's sum in parts; None if its sum cannot be split."""
        if stream := splittable_stream(statements_of(fn)):
            return split_stream(stream, target) if isinstance(stream.any_extent(stream.along), int) else None
        return self._bounded(fn, split_sum, target)

    def _bounded(self, fn: kernel.FuncOp, found: Estimate[T], target: GpuTarget) -> T | None:
        """Return the result of ``found`` for the sum of a kernel; None if its sum cannot be split, or isl takes too
        long."""
        statements = statements_of(fn)
        if not is_splittable(statements):
            return None
        try:
            with bounded(fn, self.name, self.isl_operations):
                members = next(part for part in components(statements) if statements[0] in part)
                return found(members, target, self.numerics)
        except IslLimit:
            return None


def sum_of(fn: kernel.FuncOp, target: GpuTarget, numerics: str) -> SplitSum | None:
    """Return the estimated times of a sum in parts, for a kernel whose iterators are not collapsed yet; None if its sum
    cannot be split."""
    module, ctx = ModuleOp([fn.clone()]), MlcContext(target=target)
    CollapseIterators().apply(ctx, module)
    copy = module.body.block.first_op
    assert isinstance(copy, kernel.FuncOp)
    return SplitReductions(numerics).split(copy, target)


class KernelPair(Protocol):
    """The two kernels that replace one. ``types``: the types of the parts, which ``first`` writes and which are the
    first arguments of ``second``."""

    @property
    def types(self) -> Sequence[MemRefType]: ...

    def first(self, name: str) -> Kernel: ...

    def second(self, name: str) -> Kernel: ...


def _decided_split(fn: kernel.FuncOp) -> KernelPair | None:
    """Return the pair of kernels for the number of parts that the fuse stage has decided; None if it is 1. If the
    kernel cannot be split so, it is not split, and the reason is recorded."""
    if fn.fusion.parts is None:
        return None
    try:
        return _divided(fn, statements_of(fn), fn.fusion.parts)
    except ScheduleError as error:
        fn.fusion = replace(fn.fusion, parts=None, refused=str(error))
        return None


def _given_split(fn: kernel.FuncOp) -> KernelPair | None:
    """Return the pair of kernels for the number of parts that an attribute gives. Raises ScheduleError if the sum
    cannot be split into that many parts."""
    parts = fn.split_parts()
    assert parts is not None
    with following(fn):
        pair = _divided(fn, statements_of(fn), parts) if parts > 1 else None
    fn.parts, fn.origin = None, replace(fn.origin, line=None, tuned=False)
    return pair


def _divided(fn: kernel.FuncOp, statements: Sequence[StatementView], parts: DimLike) -> KernelPair:
    stream = splittable_stream(statements)
    if stream and len(rows := rows_of(stream)) > 1 and merge_rows(fn, statements, rows):
        return _divided(fn, statements_of(fn), parts)
    if stream is None and not is_splittable(statements):
        raise ScheduleError(f"{PART}@{parts}: its first statement is no sum that can have parts")
    terms = stream.any_extent(stream.along) if stream else statements[0].bounds[statements[0].reduced[0]]
    if parts != terms and not _has_parts(terms, parts, running_sum(stream) if stream else statements[0], bool(stream)):
        raise ScheduleError(f"{PART}@{parts}: its sum has {terms} terms, which are not {parts} equal parts")
    return RunningParts(fn, stream, parts) if stream else _SumParts(fn, statements[0], parts)


def _has_parts(terms: DimLike, parts: DimLike, sum_: StatementView, running: bool) -> bool:
    """Return whether a sum can be split into ``parts`` parts of one size. Only the parts of a ``running`` reduction
    need not divide the number of terms."""
    if isinstance(terms, Dim):
        return parts == ceildiv(terms, part_terms(sum_))
    if not isinstance(parts, int):
        return False
    return terms % parts == 0 or running and has_parts(terms, parts)


@dataclass(frozen=True)
class _Calls:
    module: ModuleOp
    fn: kernel.FuncOp

    def replace(self, pair: KernelPair) -> None:
        """Replace the function and its calls by the two kernels and their calls."""
        name = self.fn.sym_name.data
        first, second = pair.first(name + PARTS_SUFFIX), pair.second(name)
        first[0].fusion = second[0].fusion = replace(self.fn.fusion, parts=None)
        if digest := self.fn.origin.digest:
            first[0].origin = kernel.Origin(digest=digest + PARTS_SUFFIX)
        self.module.body.block.insert_op_before(first[0], self.fn)
        self.module.body.block.insert_op_before(second[0], self.fn)
        types = [tensor(element_of(each), shape_of(each)) for each in pair.types]
        for call in [o for o in self.module.walk() if isinstance(o, kernel.CallOp) and self._calls(o)]:
            self._replace(call, first, second, types)
        Rewriter.erase_op(self.fn)

    def _calls(self, op: kernel.CallOp) -> bool:
        return bool(op.callee.root_reference == self.fn.sym_name)

    def _replace(self, call: kernel.CallOp, first: Kernel, second: Kernel, types: Sequence[Attribute]) -> None:
        block = call.parent_block()
        assert block is not None
        made = kernel.CallOp(first[0].sym_name.data, [call.args[n] for n in first[1]], types)
        rest = [call.args[n] for n in second[1] if n < len(call.args)]
        total = kernel.CallOp(second[0].sym_name.data, [*made.res, *rest], call.result_types)
        for new in (made, total):
            new.attributes |= call.attributes
            block.insert_op_before(new, call)
        for old, result in zip(call.results, total.results, strict=True):
            old.replace_all_uses_with(result)
        Rewriter.erase_op(call)


@dataclass(frozen=True)
class _SumParts:
    """The two kernels for the sum ``s`` in ``parts`` parts. A part is a range of the outermost reduced iterator, or one
    point of it."""

    fn: kernel.FuncOp
    s: StatementView
    parts: DimLike

    @property
    def types(self) -> list[MemRefType]:
        return [memref(element_of(self.s.op.out), (self.parts, *(self.s.bounds[i] for i in self.s.parallel)))]

    def first(self, name: str) -> Kernel:
        """Return the kernel that computes the parts, and the numbers of the old kernel's arguments that it has."""
        old, along = self.s.op, self.s.reduced[0]
        extent = self.s.bounds[along]
        size, most = self._size(extent)
        known = {along: Dim.symbol(PART) * most + (Dim.symbol(along) if size != 1 else 0)}
        kept = [n for n, arg in enumerate(self.fn.block.args) if arg in old.ins]
        made = KernelCopy(self.fn, kept)
        ins, out = [made.values[v] for v in old.ins], made.argument(*self.types)
        bounds = {PART: self.parts, **self.s.bounds, along: size}
        if size == 1:
            del bounds[along]
        indices = [tuple(evaluate(i, known) for i in r.index) for r in self.s.reads]
        made.statement(old, [*bounds.items()], ins, out, [*indices, self._index], old.body.clone())
        return made.function(name, self.fn.work.flops), kept

    def _size(self, extent: DimLike) -> tuple[DimLike, DimLike]:
        """Return the number of terms of a part, and of the first part."""
        if extent == self.parts:
            return 1, 1
        if isinstance(extent, Dim):
            return open_size(self.s), part_terms(self.s)
        return floordiv(extent, self.parts), floordiv(extent, self.parts)

    def second(self, name: str) -> Kernel:
        """Return the kernel that adds the parts, which are its first argument, and computes the other statements."""
        old, statements = self.s.op, [o for o in self.fn.block.ops if isinstance(o, poly.StatementOp)]
        used = {v for o in statements for v in ((o.out,) if o is old else (*o.ins, o.out))}
        kept = [n for n, arg in enumerate(self.fn.block.args) if arg in used]
        made = KernelCopy(self.fn, kept, self.types)
        element = Block(arg_types=[type_.element_type for type_ in self.types])
        element.add_op(poly.YieldOp(element.args[0]))
        bounds = [*((i, self.s.bounds[i]) for i in self.s.parallel), (PART, self.parts)]
        first, out, indices = made.block.args[0], made.values[old.out], [self._index, self.s.write.index]
        made.statement(old, bounds, [first], out, indices, Region(element))
        for o in statements[1:]:
            ins, out = [made.values[v] for v in o.ins], made.values[o.out]
            made.statement(o, o.domain.data, ins, out, [a.data[1] for a in o.accesses], o.body.clone())
        flops = product([self.parts, *(self.s.bounds[i] for i in self.s.parallel)])
        return made.function(name, flops), kept

    @property
    def _index(self) -> tuple[DimLike, ...]:
        """The index of the element of the parts at a point."""
        return (Dim.symbol(PART), *map(Dim.symbol, self.s.parallel))
