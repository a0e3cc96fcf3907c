"""Chains of products: several products of one shape, elementwise operators on them, and the products that read the
results.

    s[m, n] = q[m, k]·k[k, n]   d[m, n] = g[m, v]·v[v, n]   →   e = exp(s - lse[m]) * (d - rows[m])
      →   dq[m, k] = e[m, n]·k[n, k]   dk[n, k] = e[m, n]·q[m, k]

The backward pass of attention has this form after ``recompute-scores``, which lets it compute scores of its own. The
intermediate matrices are computed block by block and stay in cache (Dao, FlashAttention-2, 2023).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph import ContractOp, MapOp
from mlc.dialects.kernel import Fusion
from mlc.dialects.semantics.dims import product
from mlc.dialects.semantics.expr import Call, Load
from mlc.dialects.types import Shape, element_of, is_float, shape_of
from mlc.passes.context import cpu_facts, gpu_facts
from mlc.passes.fuse.grouping.attention import HALVES
from mlc.target import CpuTarget, GpuTarget, Target


@dataclass(frozen=True)
class Chain:
    """The operators of a chain, in order. ``sources`` compute matrices of shape ``scores``; ``sinks`` sum along the
    rows or columns of the final matrices; ``rounded`` are the maps that round the results of sinks to halves."""

    ops: tuple[Operation, ...]
    scores: Shape
    sources: tuple[ContractOp, ...]
    sinks: tuple[ContractOp, ...]
    rounded: tuple[Operation, ...] = ()

    def parts(self) -> tuple[tuple[ContractOp, ...], tuple[ContractOp, ...]]:
        """Return the sinks that sum along rows of the matrices, and those that sum along columns."""
        along = {op: _summed(op, self._matrix(op)) for op in self.sinks}
        return tuple(op for op in self.sinks if along[op]), tuple(op for op in self.sinks if not along[op])

    def of(self, sinks: tuple[ContractOp, ...]) -> Chain:
        """Return the chain with ``sinks`` as its only sinks."""
        rounded = tuple(op for op in self.rounded if op.operands[0].owner in sinks)
        without = {*self.sinks, *self.rounded} - {*sinks, *rounded}
        return replace(self, ops=tuple(op for op in self.ops if op not in without), sinks=sinks, rounded=rounded)

    @property
    def matrices(self) -> tuple[Operation, ...]:
        """The operators that compute matrices of scores."""
        return tuple(op for op in self.ops if op not in self.sinks and op not in self.rounded)

    def _matrix(self, sink: ContractOp) -> SSAValue:
        return next(v for v in sink.operands if v.owner in self.ops)


@dataclass
class _Search:
    scores: Shape
    sources: set[Operation] = field(default_factory=set)
    maps: set[Operation] = field(default_factory=set)
    sinks: dict[Operation, SSAValue] = field(default_factory=dict)  # and the matrix that each reads

    def run(self, first: ContractOp) -> bool:
        """Collect all operators connected with ``first`` through matrices of scores; return False if an operator of
        another kind reads one of them."""
        waiting: list[Operation] = [first]
        while waiting:
            op = waiting.pop()
            if op in self.maps or op in self.sources:
                continue
            (self.sources if isinstance(op, ContractOp) else self.maps).add(op)
            for use in op.results[0].uses:
                if isinstance(use.operation, MapOp) and shape_of(use.operation.result) == self.scores:
                    waiting.append(use.operation)
                elif isinstance(use.operation, ContractOp):
                    self.sinks[use.operation] = op.results[0]
                else:
                    return False
            waiting += self._producers(op) if isinstance(op, MapOp) else ()
        return not (self.sources & self.sinks.keys())

    def _producers(self, op: MapOp) -> Iterator[Operation]:
        for value in op.args:
            if shape_of(value) == self.scores and isinstance(value.owner, MapOp | ContractOp):
                yield value.owner


def chains(ops: Sequence[Operation]) -> list[Chain]:
    """Return all chains among a block's operators, in order."""
    position = {op: n for n, op in enumerate(ops)}
    found: dict[Operation, Chain] = {}
    for op in ops:
        if isinstance(op, ContractOp) and op not in found and (chain := _chain(op, position)):
            found |= dict.fromkeys(chain.ops, chain)
    return list(dict.fromkeys(found.values()))


def _chain(first: ContractOp, position: Mapping[Operation, int]) -> Chain | None:
    scores = shape_of(first.result)
    if not is_source(first):
        return None
    search = _Search(scores)
    if not search.run(first) or len(search.sources) < 2 or not all(map(is_source, search.sources)):
        return None
    if not search.sinks or not all(is_sink(op, matrix) for op, matrix in search.sinks.items()):
        return None
    rounded = _roundings(search.sinks)
    parts = (search.sources, search.sinks, set(rounded.values()))
    found = sorted((op for part in (*parts, search.maps) for op in part), key=position.__getitem__)
    if _leaves_and_returns(found, {rounded.get(op, op) for op in search.sinks}, position):
        return None
    return Chain(tuple(found), scores, *(tuple(op for op in found if op in part) for part in parts))  # type: ignore[arg-type]


def _roundings(sinks: Iterable[Operation]) -> dict[Operation, Operation]:
    """Return the maps that round the results of products of halves and are their only readers, by product."""
    found: dict[Operation, Operation] = {}
    for op in sinks:
        readers = [use.operation for use in op.results[0].uses]
        if len(readers) == 1 and _multiplies_halves(op) and _rounds(readers[0]):
            found[op] = readers[0]
    return found


def _rounds(op: Operation) -> bool:
    return isinstance(op, MapOp) and op.scalar == Call(element_of(op.result), (Load(0),))


def is_source(op: Operation) -> bool:
    """Return whether a product computes, for each point of the outer axes, which both operands have, a matrix of
    constant size."""
    assert isinstance(op, ContractOp)
    scores, (lhs, rhs, out) = shape_of(op.result), op.terms
    constant = len(scores) > 2 and all(isinstance(d, int) for d in scores)
    if op.layouts or not constant or not is_float(element_of(op.result)):
        return False
    rows, columns = (lhs, rhs) if out[-2] in lhs else (rhs, lhs)
    own = out[-2] not in columns and out[-1] not in rows
    return own and out[-2] in rows and out[-1] in columns and all(c in lhs and c in rhs for c in out[:-2])


def is_sink(op: Operation, matrix: SSAValue) -> bool:
    """Return whether a product sums along the rows or columns of ``matrix``, for each point of its outer axes."""
    assert isinstance(op, ContractOp)
    if op.layouts or op.lhs is op.rhs:
        return False
    (mine, other), out = (op.terms[:2] if op.lhs is matrix else op.terms[1::-1]), op.terms[2]
    summed = [c for c in mine if c not in out]
    return len(summed) == 1 and summed[0] in mine[-2:] and all(c in other and c in out for c in mine[:-2])


def _summed(op: ContractOp, matrix: SSAValue) -> bool:
    """Return whether a sink sums along the rows of its matrix; if not, it sums along columns."""
    mine = op.terms[0] if op.lhs is matrix else op.terms[1]
    return mine[-1] not in op.terms[2]


def _leaves_and_returns(ops: Sequence[Operation], results: set[Operation], position: Mapping[Operation, int]) -> bool:
    """Return whether an operator of the chain depends, through operators outside of it, on one of its ``results``."""
    inside, last = set(ops), position[ops[-1]]
    waiting = [use.operation for op in results for r in op.results for use in r.uses]
    seen: set[Operation] = set()
    while waiting:
        op = waiting.pop()
        if op in inside:
            return True
        if op not in seen and position.get(op, last + 1) <= last:
            seen.add(op)
            waiting += [use.operation for r in op.results for use in r.uses]
    return False


def fusion_of(chain: Chain, target: Target) -> Fusion | None:
    """Return what is decided of a chain that becomes one kernel; None if it does not."""
    return Fusion("chain", streamed=True) if is_one_kernel(chain, target) else None


def is_one_kernel(chain: Chain, target: Target) -> bool:
    """Return whether a chain becomes one kernel, whose schedule chooses blocks of columns (``streaming``). On a GPU all
    of its sinks must sum along the same axis; ``split-chains`` splits other chains."""
    return is_streamed(chain, target) and not (target.thread_blocks and all(chain.parts()))


def is_streamed(chain: Chain, target: Target) -> bool:
    """Return whether the matrices of a chain stay in cache block by block, in one kernel, or on a GPU in one kernel for
    each summed axis.

    On a GPU a matrix of all scores must be larger than L2: smaller ones are written to L2 and read there, which needs
    fewer products.
    """
    read = {v for op in chain.sinks for v in op.operands if v.owner in chain.ops}
    arrays = len(chain.sources) + len(read) - 1
    if not target.thread_blocks:
        return _stays_in_l2(chain.scores, arrays, cpu_facts(target))
    gpu = gpu_facts(target)
    if not _exceeds_l2(chain.scores, gpu):
        return False
    if all(map(_multiplies_halves, (*chain.sources, *chain.sinks))):
        arrays = 0
    rows, columns = chain.parts()
    *outer, m, n = chain.scores
    along_rows = not rows or _is_block((*outer, m), rows, arrays, gpu)
    return along_rows and (not columns or _is_block((*outer, n), columns, arrays, gpu))


def _stays_in_l2(scores: Shape, arrays: int, target: CpuTarget) -> bool:
    """Return whether there are matrices for all threads, and blocks of ``arrays`` matrices, one vector of columns wide,
    fit in L2 and on the stack."""
    *outer, rows, _ = scores
    matrices = product(outer)
    assert isinstance(matrices, int) and isinstance(rows, int)
    return matrices >= target.threads and arrays * 4 * rows * target.lanes <= target.local_bytes


def _exceeds_l2(scores: Shape, target: GpuTarget) -> bool:
    """Return whether an array of all scores is larger than the L2 of a GPU."""
    size = product(scores)
    assert isinstance(size, int)
    return 4 * size > target.l2_bytes


def _is_block(axes: Shape, sinks: Sequence[ContractOp], arrays: int, target: GpuTarget) -> bool:
    """Return whether there are several blocks of the last of ``axes`` for thread blocks, and the smallest blocks fit in
    shared memory: ``arrays`` matrices of as many rows as columns, and the results of ``sinks``. If tensor cores
    multiply halves, ``arrays`` is 0, because the results are in registers."""
    *outer, points = axes
    matrices = product(outer)
    assert isinstance(points, int) and isinstance(matrices, int)
    columns = [product(shape_of(op.result)) // (matrices * points) for op in sinks]
    least, widest = target.heuristics.queries, target.heuristics.stream_columns
    several = points >= least and (matrices != 1 or points > least and points % least == 0)
    if not arrays:
        return several and all(isinstance(n, int) and n <= widest for n in columns)
    size = arrays * least + 2 * sum(columns)
    return several and isinstance(size, int) and 4 * least * size <= target.shared


def _multiplies_halves(op: Operation) -> bool:
    """Return whether a product has factors of one type of 16 bits, and sums in f32."""
    assert isinstance(op, ContractOp)
    factors = {element_of(op.lhs), element_of(op.rhs)}
    return len(factors) == 1 and factors <= {*HALVES} and element_of(op.result) == "f32"
