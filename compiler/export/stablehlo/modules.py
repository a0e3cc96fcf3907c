"""A graph module as the text of a StableHLO module: its function, loops and branches."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.ir import Block, Operation

from mlc.dialects.graph import IfOp, LoopOp
from mlc.dialects.semantics.interpreter import main_of, names
from mlc.dialects.weights import WeightStore
from mlc.errors import InputError
from mlc.export.blocks import written_block
from mlc.export.stablehlo.operators import written
from mlc.export.stablehlo.writer import Region, Value, Writer, type_of
from mlc.frontends.imported import Imported


def text_of(imported: Imported) -> str:
    """The StableHLO module of a graph module, whose function is ``main``.

    Raises:
        InputError: an operator has no form in StableHLO; names where it comes from.
    """
    main, writer = main_of(imported.module), Writer()
    block = main.body.block
    given, wanted = names(main.arg_attrs), names(main.res_attrs)
    inputs = [Value(f"%arg{n}", *type_of(x)) for n, x in enumerate(block.args)]
    writer.values.update(zip(block.args, inputs, strict=True))
    results = _written_block(writer, block, imported.weights)
    arguments = ", ".join(f"{x.name}: {x.type} {_named(n)}" for x, n in zip(inputs, given, strict=True))
    types = ", ".join(f"{x.type} {_named(n)}" for x, n in zip(results, wanted, strict=True))
    returned = ", ".join(x.name for x in results)
    end = f"    return {returned} : {', '.join(x.type for x in results)}" if results else "    return"
    name = re.sub(r"\W", "_", imported.name) or "model"
    head = f"module @{name} {{\n  func.func public @main({arguments}) -> ({types}) {{"
    return "\n".join([head, *writer.lines, end, "  }", "}", ""])


def _named(name: str) -> str:
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'{{mlc.name = "{quoted}"}}'


def _written_block(writer: Writer, block: Block, weights: WeightStore) -> list[Value]:
    """Add the operations of a block and return its results."""
    return written_block(block, writer.values, lambda op: _write(writer, op, weights))


def _write(writer: Writer, op: Operation, weights: WeightStore) -> None:
    if isinstance(op, LoopOp):
        results = _loop(writer, op, weights)
    elif isinstance(op, IfOp):
        results = _branch(writer, op, weights)
    else:
        results = [written(writer, op, weights)]
    writer.values.update(zip(op.results, results, strict=True))


def _loop(w: Writer, op: LoopOp, weights: WeightStore) -> list[Value]:
    """A while loop over the number of the iteration, the condition, the loop-carried values and the collected ones."""
    if op.strict is not None:
        raise InputError("export_stablehlo: a loop that fails after its last iteration has no form in StableHLO")
    if op.size is not None:
        what = "export_stablehlo: a loop that collects a number of values that is known at run time has no form"
        raise InputError(f"{what} in StableHLO", hint="Give the loop a fixed number of iterations: scan, fori_loop")
    trips, states = w.dim(op.most), [w.values[x] for x in op.states]
    if op.limit is not None:
        limit = w.values[op.limit]
        limit = limit if limit.element == "i64" else w.pointwise("convert", "i64", limit)
        trips = w.pointwise("minimum", "i64", trips, w.emit("reshape", [limit], "i64", ()) if limit.shape else limit)
    active = [] if op.active is None else [w.values[op.active]]
    start = [w.splat(0, "i64"), *active, *states]
    start += [w.splat(0, *type_of(x)) for x in op.res[len(states) :]]
    types = [(x.element, x.shape) for x in start]

    def condition(args: Sequence[Value]) -> list[Value]:
        below = w.compare("LT", args[0], trips)
        return [w.pointwise("and", "i1", below, args[1]) if active else below]

    def body(args: Sequence[Value]) -> list[Value]:
        number, carried = args[0], args[1 + len(active) :]
        with w.scope({op.step.data: number}):
            used = [w.values[x] for x in op.used]
            w.values.update(zip(op.body.block.args, [*carried[: len(states)], *used], strict=True))
            results = _written_block(w, op.body.block, weights)
            collected = results[len(active) + len(states) :]
            indices = [w.dim(at) for at in op.collect_at]
            rows = [
                _row(w, all_, x, at) for all_, x, at in zip(carried[len(states) :], collected, indices, strict=True)
            ]
        following = w.pointwise("add", "i64", number, w.splat(1, "i64"))
        return [following, *results[: len(active) + len(states)], *rows]

    return w.emit_regions("while", start, types, [(types, condition), (types, body)])[1 + len(active) :]


def _row(w: Writer, rows: Value, x: Value, at: Value) -> Value:
    """Rows with one of them replaced."""
    if 0 in rows.shape:
        return rows
    row = w.emit("reshape", [x], x.element, (1, *x.shape))
    zeros = [w.splat(0, "i64") for _ in x.shape]
    return w.emit("dynamic_update_slice", [rows, row, at, *zeros], rows.element, rows.shape)


def _branch(w: Writer, op: IfOp, weights: WeightStore) -> list[Value]:
    used = [w.values[x] for x in op.used]

    def side(block: Block) -> Region:
        def write(_: Sequence[Value]) -> list[Value]:
            with w.scope({}):
                w.values.update(zip(block.args, used, strict=True))
                return _written_block(w, block, weights)

        return [], write

    types = [type_of(x) for x in op.res]
    return w.emit_regions("if", [w.values[op.condition]], types, [side(op.then.block), side(op.otherwise.block)])
