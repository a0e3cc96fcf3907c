"""Elementwise fusion (``fuse-maps``): an elementwise operator that reads another computes both.

    %1 = graph.map "x0 + x1"(%x, %bias)
    %2 = graph.map "max(x0, 0)"(%1)              →  %2 = graph.map "max((x0 + x1), 0)"(%x, %bias)

The producer has one reader, or it is cheap, has one large operand and is fused into all of its few readers. A producer
of a smaller shape is recomputed for every element to which it is broadcast, so it must be cheap. Expressions are
written when all is fused, so the time grows with the length of a chain and not with its square.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import MapOp, source_nodes, with_nodes
from mlc.dialects.semantics.expr import CHEAP, Call, Expr, Load, height, rename_operands, substitute, walk
from mlc.dialects.types import shape_of
from mlc.passes.graph.patterns.map_patterns import needed_operands
from mlc.passes.rewriter import bodies, erase_unused

READERS = 3  # of a cheap producer, which is fused into each of them
NODES = 128  # in one expression: a kernel of as many is bound by arithmetic, and the C compiler's time grows faster
DEPTH = 48  # of one expression: Python's parser takes 200 parentheses, one in the other


@dataclass(frozen=True)
class FuseMaps(ModulePass):
    """Fuse maps into maps. ``operands``: the most operands of a fused map."""

    name = "fuse-maps"
    operands: int = 12

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in bodies(op):
            _Fusion(self.operands).run(body)


@dataclass
class _Draft:
    """The expression of a map while maps are fused. Its loads name values by number (``_Fusion.numbers``), not by
    operand, so that substituting a producer takes time proportional to the reader's expression only."""

    expr: Expr
    reads: Counter[int]  # how often it reads each value
    nodes: int
    height: int
    cheap: bool
    sources: list[str]


@dataclass
class _Fusion:
    """Elementwise fusion in one block. Operands and uses in the IR are kept up to date; expressions are in ``drafts``
    and are written to the IR at the end (``_write``)."""

    operands: int
    drafts: dict[Operation, _Draft] = field(default_factory=dict)
    numbers: dict[SSAValue, int] = field(default_factory=dict)
    fused: dict[MapOp, None] = field(default_factory=dict)

    def run(self, block: Block) -> None:
        for reader in [o for o in block.ops if isinstance(o, MapOp)]:
            self._absorb(reader)
        for op in self.fused:
            if op.parent is not None:
                self._write(op)

    def _absorb(self, op: MapOp) -> None:
        """Fuse the producers of ``op`` into it where that pays. Producers come earlier in the block, so theirs are
        fused already."""
        for arg in dict.fromkeys(op.operands):
            producer = arg.owner
            if arg in op.operands and isinstance(producer, MapOp) and self._worthwhile(producer, op):
                self._fuse(producer, op)

    def _worthwhile(self, producer: MapOp, reader: MapOp) -> bool:
        readers = {use.operation for use in islice(producer.results[0].uses, self.operands * (READERS + 1))}
        if len(readers) > READERS:
            return False
        if shape_of(producer.results[0]) != shape_of(reader.results[0]):
            return len(readers) == 1 and self._draft(producer).cheap
        if len(readers) == 1:
            return True
        large = [a for a in producer.operands if shape_of(a) == shape_of(producer.results[0])]
        alike = len(large) <= 1 and all(_same_map(r, producer) for r in readers)
        return alike and self._draft(producer).cheap

    def _fuse(self, producer: MapOp, reader: MapOp) -> None:
        """Substitute the producer's expression into the reader's, unless the result has too many operands, nodes or
        levels."""
        inner, outer, number = self._draft(producer), self._draft(reader), self._number(producer.results[0])
        times = outer.reads[number]
        nodes, deep = outer.nodes + times * (inner.nodes - 1), outer.height + inner.height - 1
        reads = Counter({v: outer.reads[v] + times * inner.reads[v] for v in (*outer.reads, *inner.reads)})
        del reads[number]
        read = {v for v in (*reader.operands, *producer.operands) if self._number(v) in reads}
        args = needed_operands([*reader.operands, *producer.operands], read, shape_of(reader.results[0]))
        if len(args) > self.operands or nodes > NODES or deep > DEPTH:
            return
        expr = substitute(outer.expr, lambda load: inner.expr if load.operand == number else load)
        sources, cheap = [*inner.sources, *outer.sources], inner.cheap and outer.cheap
        self.drafts[reader] = _Draft(expr, reads, nodes, deep, cheap, sources)
        reader.operands = args
        self.fused[reader] = None
        erase_unused([producer])

    def _draft(self, op: MapOp) -> _Draft:
        if op not in self.drafts:
            expr = rename_operands(op.scalar, [self._number(a) for a in op.operands])
            parts = list(walk(expr))
            reads = Counter(e.operand for e in parts if isinstance(e, Load))
            self.drafts[op] = _Draft(expr, reads, len(parts), height(expr), is_cheap(expr), [*source_nodes(op)])
        return self.drafts[op]

    def _number(self, value: SSAValue) -> int:
        return self.numbers.setdefault(value, len(self.numbers))

    def _write(self, op: MapOp) -> None:
        """Write the drafted expression of ``op`` to the IR, in terms of the operands of ``op``."""
        draft, place = self.drafts[op], {self._number(a): n for n, a in enumerate(op.operands)}
        expr = substitute(draft.expr, lambda load: Load(place[load.operand]))
        op.properties["expr"] = StringAttr(str(expr))
        op.attributes.clear()
        with_nodes(op, draft.sources)


def _same_map(reader: Operation, producer: MapOp) -> bool:
    return isinstance(reader, MapOp) and shape_of(reader.results[0]) == shape_of(producer.results[0])


def is_cheap(expr: Expr) -> bool:
    """Return whether computing ``expr`` again costs no more than reading its value: it has no division and calls no
    function of the math library."""
    return all(e.fn in CHEAP for e in walk(expr) if isinstance(e, Call))
