"""Recomputed scores (``recompute-scores``): the derivative of an attention computes scores again where it reads them.

    %s = graph.contract "mk,kn->mn"(%q, %k)               %s = …   %m, %l, %p, %o as before, of which only %o, %m, %l
    %p = …softmax(%s), with %m and %l of each row         are read later
    %o = graph.contract "mn,nv->mv"(%p, %v)            →  %s' = graph.contract "mk,kn->mn"(%q, %k)
    …                                                     %p' = graph.map "exp(x0 - x1) * x2"(%s', %m, %l)
    %dv = graph.contract "mn,mv->nv"(%p, %g)              %dv = graph.contract "mn,mv->nv"(%p', %g)

The forward and the backward products then become kernels whose scores are never in memory as a whole: the forward
kernel is an attention, the backward kernel a chain of products (Dao, FlashAttention-2, 2023). Only the maxima and sums
of rows are saved. They are read through a reshape that is a barrier, like all operands of values that are computed
anew. Results keep their bits. On a GPU only scores larger than L2 are computed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, MapOp, ReduceOp, ReshapeOp, ints_of, source_nodes, with_nodes
from mlc.dialects.types import Shape, shape_of
from mlc.passes.context import machine_of
from mlc.passes.fuse.grouping.product_chains import Chain, is_sink, is_source, is_streamed
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.passes.rewriter import bodies
from mlc.target import Target


@dataclass(frozen=True)
class RecomputeScores(ModulePass):
    name = "recompute-scores"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in bodies(op):
            for first in [o for o in block.ops if isinstance(o, ContractOp) and is_source(o)]:
                if found := _softmax(first):
                    _separate(found, block, machine_of(ctx))
        eliminate_dead(op)


@dataclass
class Softmax:
    """The operators that read the scores of a product, of shape ``scores``.

    ``matrices`` are operators whose results have that shape, ``rows`` those whose results have one number for each row,
    and ``readers`` the products that sum matrices, each with the matrix that it reads.
    """

    scores: Shape
    matrices: dict[Operation, None] = field(default_factory=dict)
    rows: dict[Operation, None] = field(default_factory=dict)
    readers: dict[Operation, SSAValue] = field(default_factory=dict)

    def forward(self) -> set[Operation]:
        """Return the operators of the attention: maxima, sums, and the product of the weights, which depends on the
        scores of one product only."""
        reduces = [op for op in self.rows if isinstance(op, ReduceOp)]
        return self.upstream([*reduces, *(op for op, matrix in self.readers.items() if self._is_attention(op, matrix))])

    def _is_attention(self, op: Operation, matrix: SSAValue) -> bool:
        assert isinstance(op, ContractOp)
        sources = [o for o in self.upstream([op]) if o in self.matrices and isinstance(o, ContractOp)]
        return op.lhs is matrix and op.terms[0][-1] not in op.terms[2] and len(sources) == 1

    def upstream(self, ops: Sequence[Operation]) -> set[Operation]:
        """Return ``ops``, and the matrices and rows from which they are computed."""
        found: set[Operation] = set()
        waiting = list(ops)
        while waiting:
            op = waiting.pop()
            if op not in found:
                found.add(op)
                owners = (v.owner for v in op.operands if isinstance(v.owner, Operation))
                waiting += [o for o in owners if o in self.matrices or o in self.rows]
        return found


def _softmax(first: ContractOp) -> Softmax | None:
    """Return the operators of the softmax of ``first``'s scores, or None if they are no softmax, or another operator
    reads a matrix."""
    found = Softmax(shape_of(first.result))
    waiting: list[Operation] = [first]
    while waiting:
        op = waiting.pop()
        if op in found.matrices or op in found.rows:
            continue
        (found.rows if _is_row(op, found.scores) else found.matrices)[op] = None
        waiting += _matrices(op, found.scores)
        for use in op.results[0].uses:
            if isinstance(use.operation, MapOp | ReduceOp) and _is_part(use.operation, found.scores):
                waiting.append(use.operation)
            elif op in found.matrices and isinstance(use.operation, ContractOp):
                found.readers[use.operation] = op.results[0]
            elif op in found.matrices:
                return None
    kinds = sorted(op.fn.data for op in found.rows if isinstance(op, ReduceOp))
    return found if kinds == ["add", "max"] else None


def _is_row(op: Operation, scores: Shape) -> bool:
    return shape_of(op.results[0]) == (*scores[:-1], 1)


def _is_part(op: Operation, scores: Shape) -> bool:
    if isinstance(op, ReduceOp):
        return ints_of(op.axes) == (len(scores) - 1,) and _is_row(op, scores)
    return shape_of(op.results[0]) == scores or _is_row(op, scores)


def _matrices(op: Operation, scores: Shape) -> Iterator[Operation]:
    """Yield the operators that compute the matrices which ``op`` reads."""
    for value in op.operands if isinstance(op, MapOp | ReduceOp) else ():
        if shape_of(value) == scores and isinstance(value.owner, MapOp | ContractOp):
            yield value.owner


def _separate(found: Softmax, block: Block, target: Target) -> None:
    """Let the products of the derivative compute scores of their own, if they then form one streamed kernel."""
    forward = found.forward()
    late = [op for op in found.readers if isinstance(op, ContractOp) and op not in forward]
    sources = [op for op in found.upstream(late) if op in found.matrices and isinstance(op, ContractOp)]
    fits = all(is_source(op) for op in sources) and all(is_sink(op, found.readers[op]) for op in late)
    if late and fits and len(sources) > 1 and len(late) < len(found.readers):
        matrices = (op for op in found.upstream(late) if op in found.matrices)
        if is_streamed(Chain((*matrices, *late), found.scores, tuple(sources), tuple(late)), target):
            _Separation(found, forward, block).run()


@dataclass
class _Separation:
    """The rewriting that copies operators of the attention to just before the operators of the derivative that read
    their results."""

    found: Softmax
    forward: set[Operation]
    block: Block
    copies: dict[SSAValue, SSAValue] = field(default_factory=dict)

    def run(self) -> None:
        position = {op: n for n, op in enumerate(self.block.ops)}
        matrices = [op.results[0] for op in self.found.matrices if op in self.forward]
        rows = [op.results[0] for op in self.found.rows if op in self.forward]
        late = {use.operation for v in (*matrices, *rows) for use in v.uses} - self.forward
        self.before = min(late, key=position.__getitem__)
        for op in late:
            op.operands = [self._copy(x) for x in op.operands]

    def _copy(self, value: SSAValue) -> SSAValue:
        """Return the value that the derivative reads in place of ``value``."""
        if value.owner not in self.forward:
            return value
        if value not in self.copies:
            assert isinstance(value.owner, Operation)
            self.copies[value] = self._saved(value) if value.owner in self.found.rows else self._anew(value.owner)
        return self.copies[value]

    def _anew(self, op: Operation) -> SSAValue:
        copy = op.clone({x: self._copy(x) for x in op.operands})
        self.block.insert_op_before(copy, self.before)
        return copy.results[0]

    def _saved(self, row: SSAValue) -> SSAValue:
        """Return a number for each row after a barrier. For a running maximum it is a copy of the last one."""
        op = row.owner
        assert isinstance(op, Operation)
        if isinstance(op, ReduceOp) and op.fn.data == "max":
            op = with_nodes(MapOp("x0", [row]), source_nodes(op))
            assert isinstance(row.owner, Operation)
            self.forward.add(op)
            self.block.insert_op_after(op, row.owner)
        barrier = with_nodes(ReshapeOp(op.results[0], shape_of(row), barrier=True), source_nodes(self.before))
        self.block.insert_op_before(barrier, self.before)
        return barrier.results[0]
