"""Resharding (``insert-reshards``): where an operator reads another state than its operand has, an operation says it.

    %h = … {dist.result = #dist.partial<"add">}         %h = … {dist.result = #dist.partial<"add">}
    %y = graph.map "tanh(x0)"(%h)                  →    %s = dist.reshard(%h) {axis = "model", bytes = 64 : i64,
           {dist.operands = [#dist.whole]}                     source = #dist.partial<"add">, target = #dist.whole, …}
                                                         %y = graph.map "tanh(x0)"(%s)

Each is listed with the bytes that a rank sends and the reason: nothing is gathered in silence. Readers of one state
share one.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from mlc.dialects.dist import LETS_GO, PLANNED, ReshardOp, ShardOp, State
from mlc.dialects.dist.states import text
from mlc.dialects.graph import source_nodes, with_nodes
from mlc.passes.distribute.choice.planned import gathered_before
from mlc.passes.distribute.choice.written import argument_states, main_of, mesh_of, operands_of, result_of, why_of
from mlc.passes.distribute.rules.cost import moved


@dataclass(frozen=True)
class InsertReshards(ModulePass):
    """Insert ``dist.reshard`` along ``axis``. Nothing is changed without a mesh."""

    name = "insert-reshards"
    axis: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if (mesh := mesh_of(op, self.axis)) is None:
            return
        main, blocks = main_of(op), mesh.axes[self.axis]
        states: dict[SSAValue, State] = dict(zip(main.args, argument_states(main), strict=True))
        made: dict[tuple[SSAValue, State], SSAValue] = {}
        for each in list(main.body.block.ops):
            if isinstance(each, ReshardOp):
                states[each.result] = each.target  # type: ignore[assignment]
                continue
            for n, target in enumerate(operands_of(each)):
                x = each.operands[n]
                if states[x] != target:
                    if (x, target) not in made:
                        made[x, target] = self._reshard(each, x, states[x], target, blocks)
                    each.operands[n] = made[x, target]
            states.update((x, result_of(each)) for x in each.results)

    def _reshard(self, reader: Operation, x: SSAValue, source: State, target: State, blocks: int) -> SSAValue:
        what = "the result" if isinstance(reader, ReturnOp) else reader.name
        why = f"{what} reads it {text(target)}: {why_of(reader)}"
        made = ReshardOp(x, self.axis, source, target, moved(x, source, target, blocks), why)
        if (plan := gathered_before(x, self.axis, source, target)) is not None:
            made.attributes[PLANNED] = plan
        if isinstance(x, BlockArgument) and PLANNED in reader.attributes and not isinstance(reader, ShardOp):
            made.attributes[LETS_GO] = UnitAttr()  # a plan that lets it stay whole holds it
        assert reader.parent is not None
        nodes = source_nodes(reader) or (source_nodes(x.owner) if isinstance(x.owner, Operation) else ())
        reader.parent.insert_op_before(with_nodes(made, nodes), reader)
        return made.result
