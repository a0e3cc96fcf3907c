"""The forward sweep: a strategy for each operator, in the order of the program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from mlc.dialects.dist import ReshardOp, ShardingAttr, ShardOp, State
from mlc.dialects.dist.states import WHOLE, PartialAttr, SplitAttr, WindowAttr
from mlc.dialects.graph import GraphOp, source_nodes
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.types import STRING, element_of, shape_of
from mlc.errors import InputError
from mlc.passes.distribute.choice.matching import linear_strategy, strategy_with
from mlc.passes.distribute.choice.planned import planned_states
from mlc.passes.distribute.choice.written import sharding_of
from mlc.passes.distribute.rules.cost import bytes_of, moved
from mlc.passes.distribute.rules.derive import rules_of
from mlc.passes.distribute.rules.extents import uneven
from mlc.passes.distribute.rules.strategy import Rules, Strategy, whole

SUM = PartialAttr.of("add")
Price = tuple[int, bool, int, int]


class Chooser:
    """The states of all values, and the strategies of all operators, along one mesh axis."""

    def __init__(self, main: FuncOp, axis: str, blocks: int) -> None:
        self.main, self.axis, self.blocks = main, axis, blocks
        self.states: dict[SSAValue, State] = {}
        self.chosen: dict[Operation, Strategy] = {}
        self.pinned: set[SSAValue] = set()
        """Arguments whose state the user has given."""
        self.deferred: set[Operation] = set()
        """Operators that keep the sum of their operands partial."""

    def forward(self) -> None:
        for n, x in enumerate(self.main.args):
            given = sharding_of(self.main.arg_attrs, n)
            self.states[x] = self._checked(x, given, f"argument {n}")
            if given is not None:
                self.pinned.add(x)
        for op in self.main.body.block.ops:
            strategy = self.chosen[op] = self._of(op)
            self.states.update(dict.fromkeys(op.results, strategy.result))

    def _checked(self, x: SSAValue, sharding: ShardingAttr | None, what: str) -> State:
        """Return the state that the user gives a value."""
        state = WHOLE if sharding is None else sharding.state(self.axis)
        if isinstance(state, SplitAttr) and element_of(x) == STRING:
            raise InputError(f"The {what} of strings is divided along '{self.axis}'", hint="Leave strings whole")
        extent = shape_of(x)[state.dim] if isinstance(state, SplitAttr) and state.dim < len(shape_of(x)) else 0
        if isinstance(state, SplitAttr) and (extent == 0 or sizes_of([extent])):
            size = f"{extent} elements, which are known within the program only" if extent != 0 else "no elements"
            where = f"The {what} of {x.type} is divided along '{self.axis}'"
            raise InputError(f"{where}: dimension {state.dim} has {size}", hint="Divide another dimension")
        return state

    def _of(self, op: Operation) -> Strategy:
        given = [self.states[x] for x in op.operands]
        planned = self._planned(op)
        match op:
            case _ if planned is not None:
                return planned
            case ShardOp():
                state = self._checked(op.input, op.sharding, f"tensor at {', '.join(source_nodes(op))}")
                return Strategy((state,), state, "the user divides it", divides=False)
            case ReturnOp():
                shardings = [sharding_of(self.main.res_attrs, n) for n in range(len(op.operands))]
                wanted = [self._checked(x, s, f"result {n}")
                          for n, (x, s) in enumerate(zip(op.operands, shardings, strict=True))]  # fmt: skip
                return Strategy(tuple(wanted), WHOLE, "a result of the function", divides=False)
            case GraphOp() if op in self.deferred and all(s in (WHOLE, SUM) for s in given):
                return Strategy((SUM,) * len(given), SUM, "a sum that is reduced later", divides=False)
            case GraphOp():
                return min(self._candidates(op, given), key=lambda each: self._price(op, given, each))
        return whole(len(op.operands), _alone(op))

    def _planned(self, op: Operation) -> Strategy | None:
        """Return the strategy that the plan names; None without one, or where parts have no such strategy."""
        states = planned_states(op, self.axis)
        if states is None or not isinstance(op, GraphOp):
            return None
        *operands, result = states
        found = strategy_with(op, self.blocks, tuple(operands), result)
        return None if found is None else replace(found, why=found.why or "the plan says so")

    def _candidates(self, op: GraphOp, given: list[State]) -> Iterator[Strategy]:
        """Yield the strategies to choose from; the last resort is whole operands."""
        split = [n for n, s in enumerate(given) if isinstance(s, SplitAttr)]
        if (linear := linear_strategy(op, tuple(given))) is not None:
            yield linear
        units = uneven(given, map(shape_of, op.operands), self.blocks)
        rules = rules_of(op, self.blocks, units) if split else Rules(())
        yield from rules.strategies
        yield whole(len(op.operands), "; ".join(rules.refused) if split else "its operands are whole")

    def _price(self, op: Operation, given: list[State], strategy: Strategy) -> Price:
        """Return what a strategy costs: bytes moved of split tensors, whether work is repeated, bytes reduced, and what
        ranks have of the operands."""
        shift = reduction = held = 0
        for x, source, target in zip(op.operands, given, strategy.operands, strict=True):
            cost = moved(x, source, target, self.blocks)
            users = len({use.operation for use in x.uses})
            held += bytes_of(x) // (self.blocks if isinstance(target, SplitAttr | WindowAttr) else 1)
            if isinstance(source, PartialAttr):
                reduction += cost // max(users, 1)
            else:
                shift += cost
        if isinstance(strategy.result, PartialAttr):
            reduction += moved(op.results[0], strategy.result, WHOLE, self.blocks)
        repeats = not strategy.divides and any(isinstance(s, SplitAttr) for s in given)
        return shift, repeats, reduction, held


def _alone(op: Operation) -> str:
    if isinstance(op, ReshardOp):
        return "it is of another axis"
    return "a constant" if not op.operands else f"{op.name} has a region, which is not divided"
