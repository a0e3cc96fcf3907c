"""Computation of band matrices (``compute-bands``): a read of a constant band matrix becomes a comparison of
iterators.

    %mask = graph.weight "mask"                      // 0 where n <= m, -10000 elsewhere
    S1[m, n]: t1[m] max= t0[m, n] + b2[m, n]
      →
    S1[m, n]: t1[m] max= t0[m, n] + where(n <= m, 0, -10000)

The pass handles the masks that ``restrict-domains`` leaves. Values stay the same, so numerics do not matter. The matrix
is then neither stored nor read. Factors of products stay arrays, which tiles pack and copy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects import kernel, poly
from mlc.dialects.semantics.band import Band
from mlc.dialects.semantics.dims import Dim
from mlc.dialects.types import bytes_of, element_of, shape_of
from mlc.passes.constant_bands import bands_of_argument, calls_of
from mlc.passes.context import machine_of, weights_of
from mlc.passes.schedule.masks.restrict_domains import drop_arguments
from mlc.passes.schedule.polyhedral.masks import conditions_of
from mlc.passes.schedule.polyhedral.restricted_body import Comparisons, constant, without_reads
from mlc.passes.schedule.polyhedral.statement_view import Access, StatementView, statements_of
from mlc.target import Target


@dataclass(frozen=True)
class ComputeBands(ModulePass):
    name = "compute-bands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        calls = calls_of(op)
        for fn in [o for o in op.ops if isinstance(o, kernel.FuncOp)]:
            called = calls.get(fn.sym_name.data, [])
            statements = statements_of(fn)
            found: dict[str, Band] = {}
            for arg in [arg for arg in fn.block.args if _is_computed(arg, statements)]:
                ways = bands_of_argument(arg, called, weights_of(ctx))
                if ways and _pays(arg, band := _simplest(ways), machine_of(ctx)):
                    found[f"b{arg.index}"] = band
            if found:
                for s in statements:
                    if any(read.array in found for read in s.reads):
                        _compute(s, found)
                drop_arguments(fn, called, [int(name[1:]) for name in found])


def _is_computed(arg: BlockArgument, statements: Sequence[StatementView]) -> bool:
    """Return whether the elements of an argument are read only at affine indices, and not as factors of a sum."""
    if len(shape_of(arg)) < 2 or not all(isinstance(use.operation, poly.StatementOp) for use in arg.uses):
        return False
    reads = [(s, read) for s in statements for read in s.reads if read.array == f"b{arg.index}"]
    return bool(reads) and all(_is_elementwise(s) and _is_affine(s, read) for s, read in reads)


def _pays(arg: BlockArgument, band: Band, target: Target) -> bool:
    """Return whether comparisons cost less than reads.

    Registers of CPUs hold bits in another format than memory, so a read of bits takes two instructions a vector more
    than one comparison. Other reads save a comparison and a selection, and are faster if a cache holds the matrix: L2
    if comparisons have mask registers, otherwise L3. (Softmax of 1448 keys takes 3 to 8 % less time with AVX-512
    without reads, and 10 to 25 % more with AVX2.)
    """
    if target.thread_blocks or (element_of(arg) == "i1" and _conditions(band) == 1):
        return True
    size = bytes_of(arg)
    return isinstance(size, int) and size > target.mask_bytes


def _conditions(band: Band) -> int:
    return (band.lower is not None) + (band.upper is not None)


def _is_elementwise(s: StatementView) -> bool:
    """Return whether a statement reads an element that depends on all iterators, so that it is no product of
    matrices."""
    return s.op.monoid is None or any(read.symbols >= set(s.iters) for read in s.reads)


def _is_affine(s: StatementView, read: Access) -> bool:
    """Return whether the row and the column are sums of iterators."""
    row, column = read.index[-2:]
    terms = [m for i in (row, column) if isinstance(i, Dim) for m, _ in i.terms]
    return isinstance(column - row, Dim) and all(m == () or m in [(i,) for i in s.iters] for m in terms)


def _simplest(ways: Sequence[Band]) -> Band:
    """Return the band with the fewest conditions; of two bands of bits, the one that is true inside."""
    return min(ways, key=lambda band: (_conditions(band), band.inside is not True))


def _compute(s: StatementView, bands: Mapping[str, Band]) -> None:
    """Replace the reads of band matrices in the body of a statement. Their extents, and so the sums of iterators, fit
    in 32 bits."""
    block = s.op.body.block
    assert block.first_op is not None
    build = Comparisons(block.first_op, i32)
    for n, read in enumerate(s.reads):
        if band := bands.get(read.array):
            block.args[n].replace_all_uses_with(_element(build, band, read, block.args[n]))
    without_reads(s.op, [n for n, read in enumerate(s.reads) if read.array in bands])


def _element(build: Comparisons, band: Band, read: Access, like: SSAValue) -> SSAValue:
    """Return the element of a band matrix: one of its two values, selected by the conditions."""
    whole = build.all_hold(conditions_of(band, read))
    if band.inside is True:
        return whole
    inside, outside = (build.add(constant(value, like)) for value in (band.inside, band.outside))
    return build.add(arith.SelectOp(whole, inside, outside))
