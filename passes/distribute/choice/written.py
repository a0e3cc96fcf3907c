"""States and strategies as attributes of a module, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from mlc.dialects.dist import INFERRED, MESH, OPERANDS, RESULT, SHARDING, WHY, MeshAttr, ShardingAttr, ShardOp, State
from mlc.dialects.dist.states import SplitAttr
from mlc.dialects.semantics.interpreter import main_of
from mlc.dialects.types import shape_of
from mlc.errors import MlcError

if TYPE_CHECKING:
    from mlc.passes.distribute.choice.choosing import Chooser

STATE = "dist.state"
"""The attribute of an argument of the main function: its state along the axis at hand."""


def mesh_of(module: ModuleOp, axis: str) -> MeshAttr | None:
    """Return the mesh of a module; None if it has none.

    Raises:
        MlcError: it has no such axis.
    """
    mesh = module.attributes.get(MESH)
    if not isinstance(mesh, MeshAttr):
        return None
    if axis not in mesh.axes:
        raise MlcError(f"The mesh has no axis '{axis}'", hint=f"Give one of {', '.join(mesh.axes)}")
    return mesh


def axes_in_order(module: ModuleOp, mesh: MeshAttr) -> list[str]:
    """Return the axes of a mesh in the order in which the program is divided along them: those that divide an extent
    unevenly last, as what has no known extent is not divided further. A dimension of several axes keeps their order."""
    main = main_of(module)
    found: list[tuple[SSAValue, ShardingAttr | None]]
    found = [(x, sharding_of(main.arg_attrs, n)) for n, x in enumerate(main.args)]
    found += [(op.input, op.sharding) for op in main.body.block.ops if isinstance(op, ShardOp)]
    divided = [(d, names) for x, s in found if s for d, names in zip(shape_of(x), s.axes, strict=False)]
    if any(len(names) > 1 for _, names in divided):
        return list(mesh.axes)
    last = {names[0] for d, names in divided if names and (not isinstance(d, int) or d % mesh.axes[names[0]])}
    return sorted(mesh.axes, key=lambda axis: axis in last)


def sharding_of(attributes: ArrayAttr[DictionaryAttr] | None, n: int) -> ShardingAttr | None:
    """Return how argument or result n of the main function is divided; None where that is inferred."""
    found = attributes.data[n].data.get(SHARDING) if attributes is not None else None
    return found if isinstance(found, ShardingAttr) else None


def write(chooser: Chooser) -> None:
    """Write what a chooser has decided."""
    main = chooser.main
    states = [chooser.states[x] for x in main.args]
    main.arg_attrs = _with_inferred(chooser, _with_states(main.arg_attrs, states), states)
    for op, strategy in chooser.chosen.items():
        set_states(op, strategy.operands, strategy.result if op.results else None, strategy.why)


def _with_states(attributes: ArrayAttr[DictionaryAttr] | None, states: list[State]) -> ArrayAttr[DictionaryAttr]:
    given = attributes.data if attributes is not None else [DictionaryAttr({})] * len(states)
    return ArrayAttr(DictionaryAttr({**a.data, STATE: s}) for a, s in zip(given, states, strict=True))


def _with_inferred(
    chooser: Chooser, attributes: ArrayAttr[DictionaryAttr], states: list[State]
) -> ArrayAttr[DictionaryAttr]:
    """Return the attributes in which arguments without a sharding have the one that was inferred."""
    made = [dict(a.data) for a in attributes]
    for n, (x, state) in enumerate(zip(chooser.main.args, states, strict=True)):
        if x not in chooser.pinned and isinstance(state, SplitAttr):
            known = made[n].get(INFERRED, ShardingAttr.of([]))
            assert isinstance(known, ShardingAttr)
            made[n][INFERRED] = known.divided(state.dim, chooser.axis)
    return ArrayAttr(map(DictionaryAttr, made))


def set_states(op: Operation, operands: tuple[State, ...], result: State | None, why: str) -> None:
    op.attributes[OPERANDS] = ArrayAttr[Attribute](operands)
    op.attributes[WHY] = StringAttr(why)
    if result is not None:
        op.attributes[RESULT] = result


def operands_of(op: Operation) -> tuple[State, ...]:
    """Return the states in which an operator reads its operands."""
    found = op.attributes.get(OPERANDS)
    if not isinstance(found, ArrayAttr) or len(found) != len(op.operands):
        raise MlcError(f"{op.name} has no states of {len(op.operands)} operands", hint="Run propagate-shardings before")
    return cast("tuple[State, ...]", found.data)


def result_of(op: Operation) -> State:
    """Return the state that an operator makes."""
    found = op.attributes.get(RESULT)
    if found is None:
        raise MlcError(f"{op.name} has no state of its result", hint="Run propagate-shardings before")
    return cast("State", found)


def why_of(op: Operation) -> str:
    found = op.attributes.get(WHY)
    return found.data if isinstance(found, StringAttr) else ""


def argument_states(main: FuncOp) -> list[State]:
    """Return the states of the arguments of the main function."""
    found = [a.data.get(STATE) for a in main.arg_attrs or ()]
    if len(found) != len(main.args) or None in found:
        raise MlcError("The main function has no states of its arguments", hint="Run propagate-shardings before")
    return cast("list[State]", found)


__all__ = [
    "STATE", "argument_states", "axes_in_order", "main_of", "mesh_of", "operands_of", "result_of", "set_states",
    "sharding_of", "why_of", "write",
]  # fmt: skip
