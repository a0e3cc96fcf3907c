"""Plans as text: what a search, or a user, says of the states of every operator; and how a module takes it over.

    mesh data=2,model=4
    argument 0 x 8x6xf32 | data: split 0; model: whole
    operator 1 graph.contract 8x8xf32 | data: split 0, whole -> split 0; model: whole, split 1 -> split 1
    held 1 | data: split 0; model: whole
    result 0 | data: whole; model: whole

What follows a ``#`` is a comment. ``held`` is the state in which several readers find a value. An operator without a
line is chosen for as in a module without a plan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.dist import MESH, PLAN, PLANNED, MeshAttr, ShardingAttr, ShardOp, State
from mlc.dialects.dist.states import WHOLE, PartialAttr, SplitAttr, WholeAttr, WindowAttr
from mlc.dialects.graph import WeightOp, source_nodes, with_nodes
from mlc.dialects.semantics.interpreter import main_of
from mlc.errors import InputError
from mlc.passes.distribute.choice.written import sharding_of

LINE = re.compile(r"(?P<kind>argument|operator|held|result) (?P<number>\d+)(?: (?P<what>[^|]*?))? ?\| ?(?P<axes>.*)")
States = Mapping[str, tuple[State, ...]]
"""For each mesh axis the states that a line names; of an operator those that it reads, then the one that it makes."""


@dataclass(frozen=True)
class Line:
    """A line of a plan: its number in the text, what it is of, and the states."""

    at: int
    kind: str
    number: int
    what: str
    states: States


def write_state(state: State) -> str:
    """Return a state as plans write it."""
    match state:
        case SplitAttr():
            return f"split {state.dim}" + (f" {state.granule}" if state.granule > 1 else "")
        case PartialAttr():
            return f"partial {state.fn.data}"
        case WindowAttr():
            return f"window {' '.join(map(str, (*state.parts, *([state.units] if state.units else []))))}"
    return "whole"


def read_state(text: str) -> State:
    """Return the state that a plan writes.

    Raises:
        ValueError: it is none.
    """
    name, *numbers = text.split()
    try:
        match name, len(numbers):
            case "whole", 0:
                return WHOLE
            case "split", 1 | 2:
                return SplitAttr.of(*map(int, numbers))
            case "partial", 1:
                return PartialAttr.of(numbers[0])
            case "window", 4 | 5:
                return WindowAttr.of(*map(int, numbers))
    except VerifyException as error:
        raise ValueError(str(error)) from None
    raise ValueError(f"'{text}' is no state")


def lines_of(text: str) -> Iterator[Line]:
    """Yield the lines of a plan, without that of the mesh.

    Raises:
        InputError: a line that is none; names it.
    """
    for at, line in enumerate(text.splitlines(), 1):
        said = line.partition("#")[0].strip()
        if not said or said.startswith("mesh "):
            continue
        found = LINE.fullmatch(said)
        try:
            if found is None:
                raise ValueError("it is no line of a plan")
            axes = [each.partition(":") for each in found["axes"].split(";")]
            states = {name.strip(): _states(value) for name, _, value in axes}
        except ValueError as error:
            what = f"Line {at} of the plan cannot be read: '{said}': {error}"
            hint = "Write 'operator 3 NAME TYPE | AXIS: whole, split 1 -> split 1', as mlc plan --auto does"
            raise InputError(what, hint=hint) from None
        yield Line(at, found["kind"], int(found["number"]), (found["what"] or "").strip(), states)


def _states(text: str) -> tuple[State, ...]:
    return tuple(read_state(each) for part in text.split("->") for each in part.split(",") if each.strip())


def mesh_of_plan(text: str) -> dict[str, int]:
    """Return the axes of the mesh that a plan is for; none where it does not say.

    Raises:
        InputError: the line is not ``mesh NAME=SIZE,…``.
    """
    for line in text.splitlines():
        if line.startswith("mesh "):
            pairs = [each.partition("=") for each in line.partition("#")[0].removeprefix("mesh ").strip().split(",")]
            if not all(size.isdecimal() for _, _, size in pairs):
                raise InputError(f"'{line}' names no mesh", hint="Write 'mesh data=2,model=4'")
            return {name: int(size) for name, _, size in pairs}
    return {}


def take_plan(module: ModuleOp) -> None:
    """Write what the plan of a module says to its operators, and hold values as it says. Nothing is changed without a
    plan.

    Raises:
        InputError: the plan is of another mesh or another program; names the line.
    """
    plan, mesh = module.attributes.pop(PLAN, None), module.attributes.get(MESH)
    if not isinstance(plan, StringAttr) or not isinstance(mesh, MeshAttr):
        return
    if (given := mesh_of_plan(plan.data)) and given != mesh.axes:
        raise InputError(f"The plan is for the mesh {given}, and the program for {mesh.axes}", hint="Search a new plan")
    main = main_of(module)
    ops = [op for op in main.body.block.ops if not isinstance(op, ReturnOp)]
    weights: list[Line] = []
    for line in lines_of(plan.data):
        if line.kind in ("operator", "held"):
            _check(line, ops, mesh)
        if line.kind == "operator" and isinstance(ops[line.number], WeightOp):
            weights.append(line)
        elif line.kind == "operator":
            ops[line.number].attributes[PLANNED] = _attribute(line.states)
        elif line.kind == "held":
            _hold(ops[line.number].results[0], line, mesh)
        elif line.kind == "argument" and line.what == "held":
            _hold(main.args[line.number], line, mesh)
    for line in weights:  # a weight is whole, and its readers find the part that the plan makes of it
        _hold(ops[line.number].results[0], line, mesh)


def _check(line: Line, ops: list[Operation], mesh: MeshAttr) -> None:
    name = line.what.split(" ")[0]
    what = None
    if line.number >= len(ops):
        what = f"the program has {len(ops)} operators"
    elif name and name != ops[line.number].name:
        what = f"the operator is {ops[line.number].name}"
    elif set(line.states) != set(mesh.axes):
        what = f"it names the axes {', '.join(line.states)} of {', '.join(mesh.axes)}"
    elif line.kind == "operator":
        count = len(ops[line.number].operands) + 1
        if any(len(states) != count for states in line.states.values()):
            what = f"{name} has {count - 1} operands and a result"
    if what is not None:
        raise InputError(f"Line {line.at} of the plan does not fit: {what}", hint="Search a new plan for this program")


def _attribute(states: States) -> DictionaryAttr:
    return DictionaryAttr({axis: ArrayAttr[Attribute](each) for axis, each in states.items()})


def _hold(x: SSAValue, line: Line, mesh: MeshAttr) -> None:
    """Let all readers of a value read it from the state that the plan holds it in."""
    states = {axis: each[0] for axis, each in line.states.items()}
    dims: dict[int, list[str]] = {}
    for axis, state in states.items():
        if isinstance(state, SplitAttr):
            dims.setdefault(state.dim, []).append(axis)
        elif not isinstance(state, WholeAttr):
            raise InputError(f"Line {line.at} of the plan holds a value {write_state(state)}", hint="Hold parts or all")
    made = ShardOp(x, ShardingAttr.of([dims.get(n, []) for n in range(max(dims, default=-1) + 1)]))
    made.attributes[PLANNED] = _attribute({axis: (state, state) for axis, state in states.items()})
    if isinstance(x.owner, Operation):
        assert x.owner.parent is not None
        x.owner.parent.insert_op_after(with_nodes(made, source_nodes(x.owner)), x.owner)
    else:
        first = x.owner.first_op
        assert first is not None
        nodes = next((source_nodes(use.operation) for use in x.uses if source_nodes(use.operation)), ())
        x.owner.insert_op_before(with_nodes(made, nodes), first)
    x.replace_uses_with_if(made.result, lambda use: use.operation is not made)


def planned_states(op: Operation, axis: str) -> tuple[State, ...] | None:
    """Return the states that the plan of an operator names along an axis; those of operands that partitioning has added
    are whole."""
    found = op.attributes.get(PLANNED)
    if not isinstance(found, DictionaryAttr) or axis not in found.data:
        return None
    states = found.data[axis]
    assert isinstance(states, ArrayAttr)
    *operands, result = states.data
    added = (WHOLE,) * (len(op.operands) - len(operands))
    return (*operands, *added, result)


def gathered_before(x: SSAValue, axis: str, source: State, target: State) -> DictionaryAttr | None:
    """Return the plan of a change of state along ``axis``: a dimension that it changes, and that later axes divide too,
    is gathered along these first, as their blocks are within those of ``axis``. None: there is no such dimension."""
    changed = {state.dim for state in (source, target) if isinstance(state, SplitAttr | WindowAttr)}
    states = {} if source == target else _result_states(x)
    names = list(states)
    later = names[names.index(axis) + 1 :] if axis in names else []
    found = {name: (WHOLE, WHOLE) for name in later if getattr(states[name], "dim", None) in changed}
    return _attribute(found) if found else None


def _result_states(x: SSAValue) -> dict[str, State]:
    """Return the states in which the plan makes a value, for each axis in the order of the mesh."""
    if isinstance(x.owner, Operation):
        found = x.owner.attributes.get(PLANNED)
        pairs = found.data.items() if isinstance(found, DictionaryAttr) else ()
        return {name: each.data[-1] for name, each in pairs if isinstance(each, ArrayAttr)}
    main = x.owner.parent_op()
    assert isinstance(main, FuncOp) and isinstance(x, BlockArgument)
    module, given = main.parent_op(), sharding_of(main.arg_attrs, x.index)
    mesh = None if module is None else module.attributes.get(MESH)
    return {name: given.state(name) for name in mesh.axes} if given and isinstance(mesh, MeshAttr) else {}


def plan_alike(ops: Iterable[Operation], plan: Attribute | None) -> None:
    """Let operators that a change of state has become read and make whole values where its plan says so."""
    for op in ops if isinstance(plan, DictionaryAttr) else ():
        op.attributes[PLANNED] = _attribute({name: (WHOLE,) * (len(op.operands) + 1) for name in plan.data})  # type: ignore[union-attr]
