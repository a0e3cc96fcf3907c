"""SPMD partitioning (``partition``): the program of one rank, on the parts that it has, with collectives for reshards.

    %h = graph.contract "mk,kn->mn"(%x, %w)                    %h = graph.contract "mk,kn->mn"(%x, %w) :
           {dist.result = #dist.partial<"add">}                        (tensor<4x4xf32>, …
    %s = dist.reshard(%h) {source = #dist.partial<"add">,  →   %s = comm.all_reduce "add"(%h)
           target = #dist.whole}                                       {group = array<i64: 2, 1, 2>}

It works on the states that ``insert-reshards`` leaves. What the user divides along other axes stays. Source: GSPMD.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.comm import AllGatherOp
from mlc.dialects.dist import DIVIDES, LETS_GO, OPERANDS, PLANNED, RESULT, WHY, ReshardOp, ShardOp, State
from mlc.dialects.dist.states import WholeAttr
from mlc.dialects.graph import ComputeOp, GraphOp, SizedOp
from mlc.dialects.graph.sizes import sizes_of
from mlc.dialects.semantics.dims import Dim, DimLike, symbols_of
from mlc.dialects.types import element_of, shape_of, tensor
from mlc.errors import MlcError
from mlc.passes.context import weights_of
from mlc.passes.distribute.choice.matching import strategy_of
from mlc.passes.distribute.choice.planned import plan_alike
from mlc.passes.distribute.choice.written import STATE, argument_states, main_of, mesh_of, operands_of, result_of
from mlc.passes.distribute.lowering.computing import counting, gathering
from mlc.passes.distribute.lowering.extents import give_extents
from mlc.passes.distribute.lowering.ranks import Ranks
from mlc.passes.distribute.lowering.reshards import resharded
from mlc.passes.distribute.lowering.weights import block_of_weight
from mlc.passes.distribute.rules.extents import mangled, symbol, uneven
from mlc.passes.distribute.rules.local_form import local_form
from mlc.passes.distribute.rules.strategy import Strategy
from mlc.passes.op_builder import OpBuilder

NAMES = (OPERANDS, RESULT, WHY)


@dataclass(frozen=True)
class Partition(ModulePass):
    """Rewrite the main function for one rank along ``axis``. Nothing is changed without a mesh."""

    name = "partition"
    axis: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if (mesh := mesh_of(op, self.axis)) is None:
            return
        main = main_of(op)
        strategies = _strategies(main, mesh.axes[self.axis])
        ranks = Ranks(mesh.group(self.axis), main.body.block, weights_of(ctx) if DIVIDES in op.attributes else None)
        known = symbols_of(d for x in main.args for d in shape_of(x))
        divided = _name_sizes(main, ranks, self.axis)
        _localize_arguments(main, ranks)
        give_extents(main, known, divided, self.axis, ranks.blocks)
        for each in list(main.body.block.ops):
            _localize(each, strategies, ranks)
        _sign(main)


def _name_sizes(main: FuncOp, ranks: Ranks, axis: str) -> dict[str, DimLike]:
    """Name the sizes of uneven blocks: dimensions of the arguments that are divided so, or computed of the rank.

    Returns:
        the names of those that arguments give, with what is divided.
    """
    given = _uneven(main.args, argument_states(main), ranks.blocks)
    names = {f"{axis}_{mangled(n)}": n for n in given}
    ranks.sizes.update({symbol(n): Dim.symbol(name) for name, n in names.items()})
    used: set[DimLike] = set()
    for op in main.body.block.ops:
        if isinstance(op, ReshardOp):
            used |= _uneven([op.input] * 2, [op.source, op.target], ranks.blocks)  # type: ignore[list-item]
        else:
            results = [result_of(op)] * len(op.results) if op.results else []
            used |= _uneven([*op.operands, *op.results], [*operands_of(op), *results], ranks.blocks)
    taken = 1 + max((int(each.removeprefix("size")) for each in _sizes_in(main)), default=-1)
    for n, units in enumerate(sorted(used - given, key=lambda each: (len(str(each)), str(each))), start=taken):
        ranks.define(units, f"size{n}")
    return names


def _sizes_in(main: FuncOp) -> set[str]:
    """Return the names of run-time dimensions that the program has."""
    made = {op.size.data for op in main.walk() if isinstance(op, SizedOp)}
    return made | sizes_of(d for op in main.walk() for x in op.results for d in shape_of(x))


def _uneven(values: Sequence[SSAValue], states: Sequence[State], blocks: int) -> frozenset[DimLike]:
    return uneven(states, map(shape_of, values), blocks)


def _localize_arguments(main: FuncOp, ranks: Ranks) -> None:
    for x, state in zip(main.args, argument_states(main), strict=True):
        x._type = tensor(element_of(x), ranks.local(shape_of(x), state))
    kept = [{name: a for name, a in each.data.items() if name != STATE} for each in main.arg_attrs or ()]
    main.arg_attrs = ArrayAttr(map(DictionaryAttr, kept))


def _strategies(main: FuncOp, blocks: int) -> dict[Operation, Strategy]:
    """Return the strategies of the operators that ranks share, by the types of whole tensors.

    Raises:
        MlcError: states that no rule has.
    """
    found: dict[Operation, Strategy] = {}
    for op in main.body.block.ops:
        if isinstance(op, ReturnOp | ReshardOp | ShardOp) or all(isinstance(s, WholeAttr) for s in _states(op)):
            continue
        strategy = strategy_of(op, blocks) if isinstance(op, GraphOp) else None
        if strategy is None:
            raise MlcError(f"{op.name} has states that no rule has", hint="Run verify-spmd, which names them")
        found[op] = strategy
    return found


def _states(op: Operation) -> tuple[State, ...]:
    return (*operands_of(op), *([result_of(op)] if op.results else []))


def _localize(op: Operation, strategies: dict[Operation, Strategy], ranks: Ranks) -> None:
    """Replace an operator by what a rank does; its operands are local already."""
    made = _made(op, strategies.get(op), ranks)
    if made is None:
        for name in NAMES:
            op.attributes.pop(name, None)
        return
    if PLANNED in op.attributes and isinstance(made.owner, Operation) and not isinstance(op, ReshardOp):
        made.owner.attributes[PLANNED] = op.attributes[PLANNED]
    op.results[0].replace_all_uses_with(made)
    op.detach()
    op.erase()


def _made(op: Operation, strategy: Strategy | None, ranks: Ranks) -> SSAValue | None:
    """Return the local value of an operator; None where the operator itself is it."""
    build = OpBuilder(op)
    if isinstance(op, ReshardOp):
        return _resharded(build, op, ranks)
    if isinstance(op, ShardOp):
        return build.emit(ShardOp(op.input, op.sharding))
    if strategy is None or not isinstance(op, GraphOp):
        return None
    return build.emit(_local(op, strategy, ranks))


def _resharded(build: OpBuilder, op: ReshardOp, ranks: Ranks) -> SSAValue:
    if (own := block_of_weight(build, op.input, op.target, op.axis.data, ranks)) is not None:  # type: ignore[arg-type]
        return own
    before, block = op.prev_op, op.parent
    made = resharded(build, op.input, shape_of(op.result), op.source, op.target, ranks)  # type: ignore[arg-type]
    assert block is not None
    first = block.first_op if before is None else before.next_op
    found = list(takewhile(lambda each: each is not op, _from(first)))
    plan_alike(found, op.attributes.get(PLANNED))
    for each in found if LETS_GO in op.attributes else ():
        if isinstance(each, AllGatherOp):
            each.properties["ahead"] = IntegerAttr(1, 64)
    return made


def _from(op: Operation | None) -> Iterator[Operation]:
    while op is not None:
        yield op
        op = op.next_op


def _local(op: GraphOp, strategy: Strategy, ranks: Ranks) -> GraphOp:
    if strategy.gathers is not None:
        assert isinstance(op, ComputeOp)
        return gathering(op, op.operands, strategy, ranks)
    local = local_form(op, op.operands, strategy, ranks.blocks, sizes=ranks.sizes)
    if strategy.counts:
        assert isinstance(op, ComputeOp)
        return counting(op, local, strategy, ranks)
    return local


def _sign(main: FuncOp) -> None:
    last = main.body.block.last_op
    assert isinstance(last, ReturnOp)
    main.function_type = FunctionType.from_lists([x.type for x in main.args], [x.type for x in last.operands])
