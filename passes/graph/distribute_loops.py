"""Loop distribution (``distribute-loops``): a loop that adds up products becomes a loop that collects their factors,
and one product after it.

    %h, %w = graph.loop "step0" to "64" carry(%h0, %w0)   %h, %all = graph.loop "step0" to "64" carry(%h0)
      ^bb0(%s, %sum):                                       ^bb0(%s):
      …                                                     …
      %p = graph.contract "mk,mn->kn"(%s, %g)          →    graph.yield %new, (%s, %g collected)
      %t = graph.map "x0 + x1"(%sum, %p)                  %p = graph.contract "amk,amn->kn"(%all…)
      graph.yield %new, %t                                %w = graph.map "x0 + x1"(%w0, %p)

So the derivative of a recurrent cell by its weights is a product of large matrices, and not a short sum for each
element in each iteration. It applies where the factors of an iteration have at most as many elements as the sum reads
and writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_letters

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.graph import ContractOp, LoopOp, MapOp, source_nodes, with_nodes
from mlc.dialects.graph.loop import collect
from mlc.dialects.semantics.dims import Dim, product
from mlc.dialects.types import shape_of
from mlc.passes.graph.patterns.cleanup import eliminate_dead
from mlc.passes.op_builder import OpBuilder
from mlc.passes.rewriter import bodies, erase_unused, producer

SUM = ("(x0 + x1)", "(x1 + x0)")


@dataclass(frozen=True)
class DistributeLoops(ModulePass):
    """Move accumulated products after the loops that sum them."""

    name = "distribute-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for body in reversed(bodies(op)):  # inner loops first
            for loop in [o for o in body.ops if isinstance(o, LoopOp) and not o.counted]:
                _distribute(loop)
        eliminate_dead(op)


def _distribute(loop: LoopOp) -> None:
    terms = {n: term for n in range(len(loop.states)) if (term := _accumulated(loop, n)) and _pays(term)}
    if not terms:
        return
    for n, term in terms.items():
        loop.res[n].replace_all_uses_with(_total(loop, n, term))
    kept = [n for n in range(len(loop.states)) if n not in terms]
    new = _with_states(loop, kept)
    for old, each in zip([*(loop.res[n] for n in kept), *loop.res[len(loop.states) :]], new.res, strict=True):
        old.replace_all_uses_with(each)
    loop.detach()
    loop.erase()


def _accumulated(loop: LoopOp, n: int) -> ContractOp | None:
    """Return the contraction whose results the loop adds to state ``n``; None if the loop reads the state or the
    product elsewhere."""
    state, added = loop.carried[n], producer(loop.yielded[1][n], MapOp)
    if added is None or added.expr.data not in SUM or not state.has_one_use() or not added.result.has_one_use():
        return None
    others = [x for x in added.args if x is not state]
    term = producer(others[0], ContractOp) if len(others) == 1 else None
    if term is None or not term.result.has_one_use() or term.layouts or term.product:
        return None
    return term if any(_used_index(loop, x) is None for x in (term.lhs, term.rhs)) else None


def _pays(term: ContractOp) -> bool:
    """Return whether the two factors of an iteration have together at most twice as many elements as the sum, which an
    iteration reads and writes."""
    sizes = [product(shape_of(x)) for x in (term.lhs, term.rhs, term.result)]
    known = [n for n in sizes if isinstance(n, int)]
    return len(known) == 3 and known[0] + known[1] <= 2 * known[2]


def _total(loop: LoopOp, n: int, term: ContractOp) -> SSAValue:
    """Return, after the loop, its initial state ``n`` plus one product over all iterations, whose factors the loop
    collects."""
    assert loop.next_op is not None
    (lhs, rhs, out), builder = term.terms, OpBuilder(loop.next_op, source_nodes(term))
    letter = next(c for c in ascii_letters if c not in lhs + rhs)
    (left, x), (right, y) = (_factor(loop, letter, *each) for each in ((lhs, term.lhs), (rhs, term.rhs)))
    whole = builder.emit(ContractOp(f"{left},{right}->{out}", x, y))
    return builder.emit(MapOp("x0 + x1", [loop.states[n], whole]))


def _factor(loop: LoopOp, letter: str, letters: str, x: SSAValue) -> tuple[str, SSAValue]:
    """Return the letters and the value of a factor for all iterations: collected by the loop, or unchanged if it comes
    from outside the loop."""
    if (n := _used_index(loop, x)) is not None:
        return letters, loop.used[n]
    return letter + letters, collect(loop, x, Dim.symbol(loop.step.data))


def _used_index(loop: LoopOp, x: SSAValue) -> int | None:
    """Return the index in ``loop.used`` of the value ``x``; None if the loop computes or carries ``x``."""
    return x.index - len(loop.states) if isinstance(x, BlockArgument) and x.index >= len(loop.states) else None


def _with_states(loop: LoopOp, kept: Sequence[int]) -> LoopOp:
    """Insert before ``loop`` a loop that takes over its region and has only the loop-carried values ``kept``."""
    block, count = loop.body.block, len(loop.states)
    last, removed = block.last_op, [n for n in reversed(range(count)) if n not in kept]
    assert last is not None and loop.parent is not None
    sums = [last.operands[n].owner for n in removed]
    last.operands = [*(last.operands[n] for n in kept), *last.operands[count:]]
    erase_unused(op for op in sums if isinstance(op, Operation))
    for n in removed:
        block.erase_arg(block.args[n])
    loop.body.detach_block(block)
    strict = loop.strict.data if loop.strict else None
    states = [loop.states[n] for n in kept]
    new = LoopOp(loop.step.data, loop.most, states, loop.used, block, loop.collect_at, strict=strict)
    loop.parent.insert_op_before(with_nodes(new, source_nodes(loop)), loop)
    return new
