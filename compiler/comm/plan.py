"""The plan of a partition as text: the states of each operator, what moves, what a rank holds, and why."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from mlc.comm.mesh import Mesh
from mlc.dialects.dist import DIVIDES, ReshardOp, State
from mlc.dialects.dist.states import PartialAttr, WholeAttr, text
from mlc.dialects.graph import WeightOp, source_nodes
from mlc.dialects.semantics.dims import symbols_of
from mlc.dialects.semantics.interpreter import main_of, names
from mlc.dialects.types import shape_of
from mlc.expressions import source_names
from mlc.frontends.imported import Imported
from mlc.options import Options
from mlc.passes.assumed_extents import TYPICAL
from mlc.passes.context import MlcContext
from mlc.passes.distribute.choice.planned import take_plan
from mlc.passes.distribute.choice.written import argument_states, axes_in_order, operands_of, result_of, why_of
from mlc.passes.distribute.insert_reshards import InsertReshards
from mlc.passes.distribute.lowering.weights import is_block
from mlc.passes.distribute.partition import Partition
from mlc.passes.distribute.propagate_shardings import PropagateShardings
from mlc.passes.distribute.rules.cost import bytes_of
from mlc.passes.distribute.verify_spmd import VerifySpmd
from mlc.passes.graph import graph_pipeline


def planned(imported: Imported, options: Options, mesh: Mesh) -> str:
    """The plan of a module with a mesh, an axis after another. The module is partitioned by it."""
    ctx = MlcContext(weights=imported.weights, target=options.target)
    for each in graph_pipeline(options.numerics):
        each.apply(ctx, imported.module)
    take_plan(imported.module)
    lines = [str(mesh)]
    for axis in axes_in_order(imported.module, mesh.attribute):
        ranks = mesh.axes[axis]
        for step in (PropagateShardings(axis), InsertReshards(axis), VerifySpmd(axis)):
            step.apply(ctx, imported.module)
        lines += ["", *_of_axis(main_of(imported.module), axis, ranks)]
        Partition(axis).apply(ctx, imported.module)
    return "\n".join(lines)


def _of_axis(main: FuncOp, axis: str, ranks: int) -> Iterator[str]:
    rows = [*_arguments(main), *_operators(main)]
    widths = [max(len(row[n]) for row in rows) for n in range(4)]
    moved = sum(op.bytes.value.data for op in main.body.block.ops if isinstance(op, ReshardOp) and op.axis.data == axis)
    held, whole = _memory(main, ranks)
    does = f"a rank sends {moved:,} bytes and holds {held:,} of {whole:,} bytes of arguments"
    if (of_weights := _weights(main, ranks)) is not None:
        does += f" and {of_weights[0]:,} of {of_weights[1]:,} bytes of weights"
    open_ = sorted(map(source_names, symbols_of(d for x in main.args for d in shape_of(x))))
    yield f"axis '{axis}' of {ranks} ranks: {does}" + (f", for {' = '.join(open_)} = {TYPICAL}" if open_ else "")
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, [*widths, 0], strict=True)).rstrip()


def _arguments(main: FuncOp) -> Iterator[tuple[str, ...]]:
    for name, x, state in zip(names(main.arg_attrs), main.args, argument_states(main), strict=True):
        yield "argument", name, _type(x), text(state), ""


def _operators(main: FuncOp) -> Iterator[tuple[str, ...]]:
    states: dict[SSAValue, State] = dict(zip(main.args, argument_states(main), strict=True))
    for op in main.body.block.ops:
        if isinstance(op, ReturnOp):
            continue
        where = ", ".join(source_nodes(op))
        if isinstance(op, ReshardOp):
            states[op.result] = op.target  # type: ignore[assignment]
            if op.bytes.value.data or isinstance(op.source, PartialAttr):
                what = f"{text(op.source)} → {text(op.target)}"  # type: ignore[arg-type]
                yield "MOVED", where, _type(op.result), what, f"{op.bytes.value.data:,} bytes: {op.why.data}"
            continue
        states.update((x, result_of(op)) for x in op.results)
        if _is_shown(op):
            read = ", ".join(map(text, operands_of(op)))
            yield op.name, where, _type(op.results[0]), f"{read} → {text(result_of(op))}", why_of(op)


def _is_shown(op: Operation) -> bool:
    """Whether a rank has a part of what an operator reads or makes, or computes it again."""
    return bool(op.operands) and not (op.name == "dist.shard" and isinstance(result_of(op), WholeAttr))


def _memory(main: FuncOp, ranks: int) -> tuple[int, int]:
    """The bytes of arguments that a rank holds, and of all."""
    states = argument_states(main)
    pairs = list(zip(main.args, states, strict=True))
    held = sum(bytes_of(x) // (1 if isinstance(state, WholeAttr) else ranks) for x, state in pairs)
    return held, sum(map(bytes_of, main.args))


def _weights(main: FuncOp, ranks: int) -> tuple[int, int] | None:
    """The bytes of weights that a rank holds, and of all; None where weights are not in parts."""
    module = main.parent_op()
    if module is None or DIVIDES not in module.attributes:
        return None
    found = [op for op in main.body.block.ops if isinstance(op, WeightOp)]
    held = sum(bytes_of(op.result) // (ranks if _is_divided(op, ranks) else 1) for op in found)
    return held, sum(bytes_of(op.result) for op in found)


def _is_divided(op: WeightOp, ranks: int) -> bool:
    readers = [use.operation for use in op.result.uses]
    return all(isinstance(r, ReshardOp) and is_block(op.result, r.target, ranks) for r in readers)  # type: ignore[arg-type]


def _type(x: SSAValue) -> str:
    return str(x.type).removeprefix("tensor<").removesuffix(">")
