"""Rematerialization (``rematerialize``): a derivative computes a value anew if that is cheaper than to save it.

    %n = graph.map "(x0 - x1) * x2"(%c, %m, %s)           %n = graph.map "(x0 - x1) * x2"(%c, %m, %s)
    %y = graph.map "max(x0, 0)"(%n)                       %y = graph.map "max(x0, 0)"(%n)
    …                                                  →  …
    %d = graph.map "where(x0 > 0, x1, 0)"(%n, %g)         %d = graph.map "where((x1 - x2) * x3 > 0, x0, 0)"(%g, %c, …)

The boundary is the step at which most bytes are alive: values that are computed before it and read after it are saved.
A minimum cut by bytes chooses the values that stay saved; the others are substituted into their later readers, if these
then move no more bytes. Then a small share of the time is spent to save memory: values that cost least for a byte are
computed anew just before they are read. Functions without derivatives (attribute ``graph.derivatives``) are not
changed. ``peak_memory``, in bytes, is a budget for the arena of any function: more values are computed anew in this way
until the memory plan fits in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from mlc.errors import InputError
from mlc.passes.context import machine_of
from mlc.passes.fuse.autodiff.saving.budget import Budget, Recomputation
from mlc.passes.fuse.autodiff.saving.elementwise import Boundary
from mlc.passes.fuse.autodiff.saving.live_values import LiveValues
from mlc.passes.fuse.autodiff.saving.planned import planned_arena
from mlc.passes.fuse.autodiff.saving.recompute import Recompute
from mlc.passes.fuse.grouping.kernel_order import ops_of
from mlc.passes.graph.patterns.cleanup import eliminate_dead

DERIVATIVES = "graph.derivatives"
SHARE = 0.03  # of the estimated time of a function with derivatives, to spend for less memory
ROUNDS = 3  # boundaries, the largest first: a derivative of a derivative has several
ATTEMPTS = 8  # to fit in a budget: the plan of buffers may need more than the bytes alive


@dataclass(frozen=True)
class Rematerialize(ModulePass):
    """Compute values anew in functions with derivatives. ``peak_memory``: the most bytes of the arena; 0: no limit.

    Raises InputError if the arena cannot be that small, or depends on symbolic dimensions.
    """

    name = "rematerialize"
    peak_memory: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [f for f in op.ops if isinstance(f, FuncOp) and DERIVATIVES in f.attributes]:
            for _ in range(ROUNDS):
                live = LiveValues(function.body.block, machine_of(ctx))
                if not Boundary(live, live.boundary()).recompute():
                    break
            if _recompute(ctx, function.body.block, lambda budget: budget.choose_cheap(SHARE)):
                eliminate_dead(op)
        if self.peak_memory:
            _fit(ctx, op, self.peak_memory)


def _fit(ctx: Context, module: ModuleOp, most: int) -> None:
    """Replace the module's functions by functions that compute values anew, with an arena of at most ``most`` bytes."""
    whole = smallest = _arena(ctx, module)
    for least in (most, 0) if smallest > most else ():  # at last all that helps, whatever the budget is
        for arena, trial in _attempts(ctx, module, whole, least):
            if arena <= most:
                return _replace(module, trial)
            smallest = min(smallest, arena) if not least else smallest
    if smallest > most:
        raise _too_small(most, smallest)
    return None


def _attempts(ctx: Context, module: ModuleOp, arena: int, most: int) -> Iterator[tuple[int, ModuleOp]]:
    """Yield copies of the module with smaller and smaller arenas, each with its arena. Several attempts may be needed:
    recomputed values may fuse differently, and a plan needs more than the bytes alive."""
    trial = module.clone()
    for _ in range(ATTEMPTS):
        before = arena
        fits = partial(_values_to_recompute, most=most, over=arena - most)
        helps = [_recompute(ctx, f.body.block, fits) for f in trial.ops if isinstance(f, FuncOp)]
        if not any(helps):
            return
        eliminate_dead(trial)
        arena = _arena(ctx, trial)
        yield arena, trial
        if arena >= before:
            return


def _arena(ctx: Context, module: ModuleOp) -> int:
    arena = planned_arena(ctx, module)
    if arena is None:
        hint = "Fix them by dims= or --dim, or give arguments of fixed shapes"
        raise InputError("A budget of memory needs fixed dimensions", stage="rematerialize", hint=hint)
    return arena


def _values_to_recompute(budget: Budget, most: int, over: int) -> list[Recomputation]:
    """Return the values to compute anew until at most ``most`` bytes are alive at each step, or no value helps. If no
    more are alive already, the plan needs ``over`` bytes more than are alive, and the bytes alive are reduced by as
    many."""
    alive = max(budget.alive, default=0)
    return budget.choose(most if alive > most else alive - over)


def _recompute(ctx: Context, block: Block, choose: Callable[[Budget], list[Recomputation]]) -> bool:
    """Compute the chosen values anew; return whether there are any."""
    for item in LiveValues(block, machine_of(ctx)).order:
        for op in ops_of(item):
            op.detach()
            block.add_op(op)
    live = LiveValues(block, machine_of(ctx))
    chosen = choose(Budget(live))
    Recompute(block, live).run(chosen)
    return bool(chosen)


def _replace(module: ModuleOp, trial: ModuleOp) -> None:
    block = module.body.block
    for old in list(module.ops):
        old.detach()
        old.erase()
    for new in list(trial.ops):
        new.detach()
        block.add_op(new)


def _too_small(most: int, smallest: int) -> InputError:
    what = f"The intermediate values need {smallest:,} bytes, even where all that helps is computed anew"
    return InputError(f"{what}; the budget is {most:,}", stage="rematerialize",
                      hint=f"Give peak_memory={smallest} or more, or a smaller batch")  # fmt: skip
