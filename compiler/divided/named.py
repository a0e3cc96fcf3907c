"""Shardings of a module's tensors by their names: inputs, weights, and what operators make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from xdsl.ir import Operation, SSAValue

from mlc.comm.mesh import Mesh, P
from mlc.dialects.dist import ShardOp
from mlc.dialects.graph import WeightOp, source_nodes, with_nodes
from mlc.dialects.semantics.interpreter import main_of, names
from mlc.dialects.types import shape_of
from mlc.errors import InputError
from mlc.frontends.build.symbols import value_name
from mlc.frontends.imported import Imported


def constrain(imported: Imported, mesh: Mesh, shardings: Mapping[str, P]) -> None:
    """Divide the named tensors of a module as its user says.

    Raises:
        InputError: no tensor or several have a name, or a sharding does not fit the tensor or the mesh; names it.
    """
    known = _tensors(imported)
    for name, spec in shardings.items():
        for x in _found(known, name):
            try:
                spec.check_shape(shape_of(x), mesh)
            except InputError as error:
                raise InputError(f"Tensor '{name}' is divided wrongly: {error.message}", hint=error.hint) from None
            if any(spec.axes):
                _constrain(x, spec)


def _found(known: Mapping[str, list[SSAValue]], name: str) -> list[SSAValue]:
    found = known.get(name) or known.get(value_name(name)) or []
    if not found:
        near = get_close_matches(name, known, 3)
        guess = f"Did you mean {', '.join(map(repr, near))}? " if near else ""
        hint = f"{guess}Name an input, a weight, or what a node makes that is no constant"
        raise InputError(f"The model has no tensor '{name}' to divide", hint=hint)
    if len(found) > 1 and not all(isinstance(x.owner, WeightOp) for x in found):
        hint = "Rename the tensors of the model, or divide what they are computed of"
        raise InputError(f"The model has {len(found)} tensors '{name}'", hint=hint)
    return found


def _tensors(imported: Imported) -> dict[str, list[SSAValue]]:
    """Return the tensors of the main function by the names of the model, then by those that the text of the IR has."""
    main = main_of(imported.module)
    found: dict[str, list[SSAValue]] = {}
    for name, x in [*zip(names(main.arg_attrs), main.args, strict=True), *_made(main.body.block.ops)]:
        found.setdefault(name, []).append(x)
    return found


def _made(ops: object) -> Iterator[tuple[str, SSAValue]]:
    for op in ops:  # type: ignore[attr-defined]
        if isinstance(op, WeightOp):
            yield op.entry.data, op.result
            continue
        yield from ((x.name_hint, x) for x in op.results if x.name_hint)


def _constrain(x: SSAValue, spec: P) -> None:
    """Let all readers of a tensor find it divided."""
    made = ShardOp(x, spec.attribute)
    if isinstance(x.owner, Operation):
        assert x.owner.parent is not None
        x.owner.parent.insert_op_after(with_nodes(made, source_nodes(x.owner)), x.owner)
    else:
        assert x.owner.first_op is not None
        x.owner.insert_op_before(made, x.owner.first_op)
    made.result.name_hint = x.name_hint
    x.replace_uses_with_if(made.result, lambda use: use.operation is not made)
