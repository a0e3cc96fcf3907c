"""Running reductions in parts, which different thread blocks of a GPU compute (split-KV; Dao et al., Flash-Decoding,
2023).

    S1[m, n]: t1[m] max= s[m, n]   S3[m, n]: t3[m] += exp(s[m, n] - t1[m])   S4[m]: y[m] = 1 / t3[m]
      →
    S1[part, m, n]: t1[part, m] max= …   S3[part, m, n]: t3[part, m] += …   and copies of t1 and t3 to arguments
      and
    S1[m, part]: t1[m] max= b0[part, m]   S1w[part, m]: w[part, m] = exp(b0[part, m] - t1[m])
    S3[m, part]: t3[m] += b1[part, m]·w[part, m]   S4[m]: y[m] = 1 / t3[m]

If the parts do not divide the number of terms, the last part begins earlier. For terms that the part before has too,
its maximum is -inf and its sums are 0 (``part_masks``). For a symbolic number of terms each part has SCHEDULED terms,
and the last part the rest: min(256, n - 256·part). A part without any term has the maximum -inf. Exponents subtract at
least the lowest finite number, so its sums are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, FloatAttr, MemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from mlc.dialects import kernel, poly
from mlc.dialects.semantics.dims import Dim, DimLike, evaluate, floordiv, product
from mlc.dialects.types import element_name, element_of, lowest, memref, shape_of
from mlc.passes.cost.block_time import part_size
from mlc.passes.schedule.gpu.kernel_copy import Index, KernelCopy
from mlc.passes.schedule.gpu.part_numbers import PART
from mlc.passes.schedule.gpu.parts import open_size, part_terms, running_sum
from mlc.passes.schedule.polyhedral.part_masks import mask_first, masked_statements
from mlc.passes.schedule.polyhedral.running_reductions import Running, running_reductions
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView
from mlc.passes.schedule.rules.streaming import Stream

Kernel = tuple[kernel.FuncOp, list[int]]  # and which arguments of the kernel that was split it has


@dataclass(frozen=True)
class RunningParts:
    """The two kernels for a stream whose reduction is split into ``parts`` parts."""

    fn: kernel.FuncOp
    stream: Stream
    parts: DimLike

    @cached_property
    def running(self) -> Running:
        return running_reductions(self.stream.inside, self.stream.along)

    @cached_property
    def results(self) -> list[StatementView]:
        """The running reductions of the stream, in order."""
        return [s for s in self.stream.inside if s.name in self.running.scales]

    @property
    def types(self) -> list[MemRefType]:
        """The types of the arrays of parts, one for each result."""
        return [memref(element_of(s.op.out), (self.parts, *shape_of(s.op.out.type))) for s in self.results]

    # -- the parts -----------------------------------------------------------------------------------------------------

    def first(self, name: str) -> Kernel:
        """Return the kernel that computes the parts, and the numbers of the old kernel's arguments that it has."""
        inside = [s.op for s in self.stream.inside]
        kept = [n for n, arg in enumerate(self.fn.block.args) if any(arg in op.ins for op in inside)]
        made = KernelCopy(self.fn, kept)
        arrays = {s.op.out: s for s in self.stream.inside}  # weights may be in place of scores
        made.values |= {out: _local(made, self._part_of(s)) for out, s in arrays.items()}
        for s in self.stream.inside:
            self._part(made, s)
        for s, type_ in zip(self.results, self.types, strict=True):
            self._copy(made, s, made.values[s.op.out], made.argument(type_))
        return made.function(name, self.fn.work.flops), kept

    def _part(self, made: KernelCopy, s: StatementView) -> None:
        along = self.stream.along[s.name]
        terms = self._terms
        bounds = [(PART, self.parts), *((i, terms if i == along else n) for i, n in s.bounds.items())]
        body = s.op.body.clone()
        if self._overlap and s.name in self.masked:
            assert isinstance(self.parts, int)
            maximum = s.op.monoid is not None and s.op.monoid.data == "max"
            mask_first(body.block, PART, self.parts - 1, along, self._overlap, float("-inf") if maximum else 0.0)
        for arg, read in zip(body.block.args, s.reads, strict=True):
            if read.array in self.running.maxima:
                _limit(arg, body.block)
        ins, out = [made.values[v] for v in s.op.ins], made.values[s.op.out]
        made.statement(s.op, bounds, ins, out, [self._index(a, s) for a in (*s.reads, s.write)], body)

    def _copy(self, made: KernelCopy, s: StatementView, parts: SSAValue, out: SSAValue) -> None:
        """Add the statement ``out[part, m] = parts[part, m]``."""
        index = (Dim.symbol(PART), *s.write.index)
        body = _body([parts], lambda args: [])
        made.add(poly.StatementOp(f"{s.name}p", self._domain(s), [], [parts], out, body), [index, index])

    @cached_property
    def _extent(self) -> DimLike:
        return self.stream.any_extent(self.stream.along)

    @property
    def _size(self) -> int:
        """The number of keys of a part; the last part of a symbolic number of keys may have fewer."""
        if isinstance(self._extent, Dim):
            return part_terms(running_sum(self.stream))
        assert isinstance(self.parts, int)
        return part_size(self._extent, self.parts)

    @property
    def _terms(self) -> DimLike:
        """The number of keys of a part, as a function of the iterator over the parts."""
        return open_size(running_sum(self.stream)) if isinstance(self._extent, Dim) else self._size

    @property
    def _overlap(self) -> int:
        """The number of keys at the start of the last part that also belong to the part before, which alone counts
        them."""
        extent, parts = self._extent, self.parts
        return parts * self._size - extent if isinstance(extent, int) and isinstance(parts, int) else 0

    @cached_property
    def masked(self) -> frozenset[str]:
        return masked_statements(self.stream.inside, self.stream.along)

    def _index(self, access: Access, s: StatementView) -> Index:
        """Return the index of an element in a part: of an array that the part computes, or of an argument."""
        if access.array in {other.write.array for other in self.stream.inside}:
            return (Dim.symbol(PART), *access.index)
        along = self.stream.along[s.name]
        last = floordiv(Dim.symbol(PART), self.parts - 1) if self._overlap else 0  # 1 in the last part
        known = {along: Dim.symbol(PART) * self._size - self._overlap * last + Dim.symbol(along)}
        return tuple(evaluate(i, known) for i in access.index)

    def _part_of(self, s: StatementView) -> MemRefType:
        along = Dim.symbol(self.stream.along[s.name])
        shape = zip(s.write.index, shape_of(s.op.out.type), strict=True)
        return memref(element_of(s.op.out), (self.parts, *(self._size if i == along else n for i, n in shape)))

    # -- their combination ---------------------------------------------------------------------------------------------

    def second(self, name: str) -> Kernel:
        """Return the kernel that combines the parts, which are its first arguments, and computes the statements after
        the stream."""
        after = [s.op for s in self.stream.after]
        used = {v for op in after for v in (*op.ins, op.out)}
        kept = [n for n, arg in enumerate(self.fn.block.args) if arg in used]
        made = KernelCopy(self.fn, kept, self.types)
        weights: dict[str, SSAValue] = {}
        for s, arg in zip(self.results, made.block.args, strict=False):
            scale = self.running.scales[s.name]
            parts = self._load(made, s, arg) if s.write.array in self.running.maxima else arg
            self._combine(made, s, parts, None if scale is None else (weights[scale.array], scale.index))
            if s.write.array in self.running.maxima:
                weights[s.write.array] = self._weights(made, s, parts)
        for op in after:
            ins, out = [made.values[v] for v in op.ins], made.values[op.out]
            made.statement(op, op.domain.data, ins, out, [a.data[1] for a in op.accesses], op.body.clone())
        points = sum((product([self.parts, *(s.bounds[i] for i in s.parallel)]) for s in self.results), 0)
        return made.function(name, points), kept

    def _load(self, made: KernelCopy, s: StatementView, parts: SSAValue) -> SSAValue:
        """Add ``t[part, m] = parts[part, m]`` and return t, a local array whose readers have the same axes."""
        local = _local(made, parts.type)
        self._copy(made, s, parts, local)
        return local

    def _combine(
        self, made: KernelCopy, s: StatementView, parts: SSAValue, scale: tuple[SSAValue, Index] | None
    ) -> None:
        """Add the statement ``t[m] += parts[part, m]``, or with ``scale``, ``t[m] += parts[part, m] * scale[part,
        m]``."""
        part = Dim.symbol(PART)
        ins, indices = [parts], [(part, *s.write.index)]
        if scale:
            ins, indices = [*ins, scale[0]], [*indices, (part, *scale[1])]
        body = _body(ins, _product if scale else lambda args: [])
        bounds = [*((i, s.bounds[i]) for i in s.parallel), (PART, self.parts)]
        made.statement(s.op, bounds, ins, made.values[s.op.out], [*indices, s.write.index], body)

    def _weights(self, made: KernelCopy, s: StatementView, parts: SSAValue) -> SSAValue:
        """Add ``w[part, m] = exp(parts[part, m] - t[m])`` and return w: the factors by which the sums of each part are
        rescaled to the total maximum."""
        local, index = _local(made, parts.type), (Dim.symbol(PART), *s.write.index)
        ins, body = [parts, made.values[s.op.out]], _body([parts, made.values[s.op.out]], _power)
        for arg in body.block.args:
            _limit(arg, body.block)
        made.add(poly.StatementOp(f"{s.name}w", self._domain(s), [], ins, local, body), [index, s.write.index, index])
        return local

    def _domain(self, s: StatementView) -> poly.DomainAttr:
        """Return the domain of the parts of a result."""
        return poly.DomainAttr([(PART, self.parts), *((i, s.bounds[i]) for i in s.parallel)])


def _local(made: KernelCopy, type_: Attribute) -> SSAValue:
    local = kernel.LocalOp(type_)
    made.block.add_op(local)
    return local.result


def _body(ins: Sequence[SSAValue], compute: Callable[[Sequence[SSAValue]], list[Operation]]) -> Region:
    """Return a body that yields the last result of ``compute``, or its first argument if ``compute`` returns no
    operation."""
    block = Block(arg_types=[v.type.element_type for v in ins if isinstance(v.type, MemRefType)])
    made = compute(block.args)
    block.add_ops([*made, poly.YieldOp(made[-1].results[0] if made else block.args[0])])
    return Region(block)


def _product(args: Sequence[SSAValue]) -> list[Operation]:
    part, weight = args
    return [arith.MulfOp(part, weight)]


def _power(args: Sequence[SSAValue]) -> list[Operation]:
    part, whole = args
    difference = arith.SubfOp(part, whole)
    return [difference, math.ExpOp(difference.result)]


def _limit(arg: SSAValue, block: Block) -> None:
    """Replace ``arg`` by the larger of ``arg`` and the lowest finite number."""
    first = block.first_op
    assert isinstance(arg.type, AnyFloat) and first is not None
    number = arith.ConstantOp(FloatAttr(lowest(element_name(arg.type)), arg.type))
    limited = arith.MaximumfOp(arg, number.result)
    arg.replace_uses_with_if(limited.result, lambda use: use.operation is not limited)
    block.insert_ops_before([number, limited], first)
