"""A graph module: arguments of ``@main`` for inputs, its results for outputs, guards and strings as its attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Region, SSAValue

from mlc.dialects.graph import RoutineOp
from mlc.dialects.graph.base import ALIAS, OPTIONAL, STATE
from mlc.dialects.graph.copies import rename_loops
from mlc.dialects.graph.custom import inline_custom
from mlc.dialects.semantics.dims import guard_text
from mlc.dialects.semantics.strings import escaped
from mlc.dialects.types import STRING, Shape, tensor
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.guards import merged
from mlc.frontends.build.tensors import Tensor


def argument(build: Builder, name: str, element: str, shape: Shape) -> Tensor:
    """A new argument of the module. An argument of strings holds their numbers in the table."""
    value = build.block.insert_arg(tensor(element, shape), len(build.block.args))
    given = build.named(Tensor.of(value), name)
    if element != STRING:
        return given
    with build.at(name):
        return build.string_routine("intern", given, element=STRING)


def returned(build: Builder, x: Tensor) -> SSAValue:
    """``x`` as callers get it: the strings, where ``x`` holds their numbers in the table."""
    value = build.value(x)
    return build.value(build.emit(RoutineOp("string.extern", [value], x.shape))) if x.element == STRING else value


def graph_module(
    build: Builder,
    inputs: Sequence[str],
    outputs: Mapping[str, SSAValue],
    aliases: Iterable[tuple[int, int]] = (),
    states: Mapping[int, str] | None = None,
    optional: Mapping[str, Iterable[int]] | None = None,
    keep_rules: bool = False,
) -> ModuleOp:
    """The module whose body ``build`` has made; ``inputs`` are the names of its arguments in order.

    ``aliases`` are pairs (result, argument): the result takes over the argument's memory. ``states`` are arguments that
    live in the model, with the names of the weights that are their first values ("": zeros). ``optional`` are axes of
    outputs that a caller's tensor does not have where their extent is 1. ``keep_rules``: functions with a rule for
    their derivative stay, since the module is to be differentiated.
    """
    block = build.block
    block.add_op(ReturnOp(*outputs.values()))
    if not keep_rules:
        inline_custom(block)
    rename_loops(block)
    types = [a.type for a in block.args], [o.type for o in outputs.values()]
    main = FuncOp("main", types, Region(block), arg_attrs=_names(inputs), res_attrs=_names(list(outputs)))
    _annotate(main, aliases, states or {})
    _annotate_optional(main, [(optional or {}).get(name, ()) for name in outputs])
    if build.derivatives:
        main.attributes["graph.derivatives"] = UnitAttr()
    if build.guards:
        guards = merged(build.guards)
        main.attributes["graph.guards"] = ArrayAttr(StringAttr(guard_text(*each)) for each in guards.items())
    if any(isinstance(op, RoutineOp) and op.fn.data.startswith("string.") for op in block.ops):
        main.attributes["graph.strings"] = ArrayAttr(StringAttr(escaped(string)) for string in build.string_table.known)
    return ModuleOp([main])


def _annotate(main: FuncOp, aliases: Iterable[tuple[int, int]], states: Mapping[int, str]) -> None:
    assert main.arg_attrs is not None and main.res_attrs is not None
    results, arguments = ([dict(each.data) for each in attrs] for attrs in (main.res_attrs, main.arg_attrs))
    for result, argument in aliases:
        results[result][ALIAS] = IntegerAttr(argument, i64)
    for argument, entry in states.items():
        arguments[argument][STATE] = StringAttr(entry)
    main.res_attrs, main.arg_attrs = (ArrayAttr(map(DictionaryAttr, each)) for each in (results, arguments))


def _annotate_optional(main: FuncOp, axes: Sequence[Iterable[int]]) -> None:
    assert main.res_attrs is not None
    results = [dict(each.data) for each in main.res_attrs]
    for result, own in zip(results, axes, strict=True):
        if found := sorted(own):
            result[OPTIONAL] = ArrayAttr(IntegerAttr(n, i64) for n in found)
    main.res_attrs = ArrayAttr(map(DictionaryAttr, results))


def _names(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    entries: list[dict[str, Attribute]] = [{"graph.name": StringAttr(n)} for n in names]
    return ArrayAttr(DictionaryAttr(e) for e in entries)
