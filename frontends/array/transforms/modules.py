"""Graph modules as functions on arrays: the operators of an imported model become part of a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from mlc.dialects.graph import WeightOp
from mlc.dialects.graph.copies import copied, sizes_defined
from mlc.dialects.semantics.dims import Dim, DimLike, condition, evaluate, parse_guard
from mlc.dialects.semantics.interpreter import main_of
from mlc.dialects.types import element_of, shape_of
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array
from mlc.frontends.array.record import Unique
from mlc.frontends.array.transforms.bodies import results_of
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.imported import Imported

Dims = tuple[tuple[str, DimLike], ...]


@dataclass(frozen=True)
class Module:
    """An imported model; ``digest`` says all that it depends on."""

    digest: str
    imported: Imported = field(compare=False, repr=False)


def call(module: Module, xs: Sequence[Array]) -> list[Array]:
    """The results of a module.

    Raises:
        InputError: arguments of other types or shapes, or a module with dimensions that depend on data, or strings.
    """
    main = main_of(module.imported.module)
    assert (end := main.body.block.last_op) is not None
    if "graph.strings" in main.attributes or _sizes_of(end.operands) & sizes_defined(main.body.block):
        raise InputError(f"{module.imported.name} has strings, or dimensions that depend on data", hint="Compile it")
    dims = _bound(main, xs, module.imported.name)
    types = [(element_of(y), tuple(evaluate(d, dims) for d in shape_of(y))) for y in end.operands]
    return results_of(applied, xs, (module, tuple(sorted(dims.items()))), types)


def _sizes_of(values: Sequence[SSAValue]) -> set[str]:
    return {name for x in values for d in shape_of(x) if isinstance(d, Dim) for name in d.symbols()}


def _bound(main: FuncOp, xs: Sequence[Array], name: str) -> dict[str, DimLike]:
    """The dimensions of a module as those of the arrays that it is called with."""
    dims: dict[str, DimLike] = {}
    if len(xs) != len(main.args):
        raise InputError(f"{name} takes {len(main.args)} arrays, not {len(xs)}")
    for argument, x in zip(main.args, xs, strict=True):
        for wanted, given in zip(shape_of(argument), x.shape, strict=False):
            if isinstance(wanted, Dim) and wanted.symbols() == {str(wanted)}:
                dims.setdefault(str(wanted), given)
        shape = tuple(evaluate(d, dims) for d in shape_of(argument))
        if (element_of(argument), shape) != (x.element, tuple(x.shape)):
            types = dtypes.text(x.element, x.shape), dtypes.text(element_of(argument), shape_of(argument))
            raise InputError(f"{name} was given {types[0]} in place of {types[1]}")
    return dims


def applied(build: Builder, operands: Sequence[Tensor], module: Module, dims: Dims, unique: Unique) -> list[Tensor]:
    """Emit the operators of a module at the Builder's insertion point, for these dimensions."""
    main, values = main_of(module.imported.module), dict(dims)
    for guard in main.attributes.get("graph.guards", ArrayAttr([])):  # type: ignore[attr-defined]
        needed, where = parse_guard(guard.data)
        _check(build, evaluate(needed, values), f"{condition(needed)} ({where})" if where else condition(needed))
    names = _weights(build, module.imported, main)
    values |= {size: Dim.symbol(build.new_size()) for size in sorted(sizes_defined(main.body.block))}

    def emit(op: Operation) -> SSAValue:
        for each in op.walk():
            if isinstance(each, WeightOp):
                each.properties["entry"] = StringAttr(names[each.entry.data])
        return build.value(build.emit(op))

    with build.detached():
        results, _ = copied(main.body.block, build.values(*operands), emit, values)
    return [Tensor.of(y) for y in results]


def _check(build: Builder, guard: DimLike, text: str) -> None:
    if isinstance(guard, int) and guard < 0:
        raise NotSupported(f"a model that needs {text}")
    build.require(guard, 0)


def _weights(build: Builder, imported: Imported, main: FuncOp) -> Mapping[str, str]:
    """The names under which the module's weights are in the Builder's store."""
    found: dict[str, str] = {}
    for op in main.walk():
        if isinstance(op, WeightOp) and op.entry.data not in found:
            entry = imported.weights.entry(op.entry.data)
            found[op.entry.data] = build.weights.add_lazy(op.entry.data, entry.dtype, entry.shape, entry.load)
    return found
