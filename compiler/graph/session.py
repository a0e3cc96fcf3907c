"""``Session``: values of variables, and runs of what is fetched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.graph.ends import Variable
from mlc.graph.graphs import Graph, get_default_graph
from mlc.graph.node import Node
from mlc.graph.plan import Plan, as_numpy
from mlc.graph.updates import Group, Update

SMALL = 64  # elements, which are copied in less time than memory is compared
Pack = Callable[[dict[Any, Any]], Any]
Request = tuple[Plan, Pack]


class Session:
    """Values of variables; the first run that needs one takes its initial value.

    What is fetched is traced and compiled, once for each set of fetched and fed nodes, shapes and types; sessions of
    one graph share the programs. As a context it is the session of ``node.eval()``.
    """

    def __init__(self, graph: Graph | None = None) -> None:
        self.graph = graph or get_default_graph()
        self.values: dict[Variable, Array] = {}

    def run(
        self, fetches: Any = None, feed_dict: Mapping[Node, Any] | None = None, *, operation: Any = None
    ) -> Any:
        """The values of a node, or of a tree of them, as NumPy arrays; of a module, the module with its values.

        ``feed_dict`` has values of placeholders, and may have those of any other nodes, which then are not computed.
        ``operation``: another name of ``fetches``. Updates take place after all values are computed; where something
        fails none does.

        Raises:
            InputError: a placeholder without a value; what is fetched or fed is no node; an error in a node, by name.
        """
        wanted = fetches if operation is None else operation
        feeds = feed_dict or {}
        plan, pack = self._known(wanted, feeds) or self._made(wanted, feeds)
        values: dict[Any, Any] = {}
        for node, accepted in plan.feeding:
            values[node] = accepted(feeds[node])
        kept = self.values
        for variable in plan.variables:
            value = kept.get(variable)
            values[variable] = variable.initial if value is None else value
        for step in plan.steps:
            step(values)
        for variable, update in plan.updates:
            kept[variable] = values[update]
        return pack(values)

    def _known(self, wanted: Any, feeds: Mapping[Any, Any]) -> Request | None:
        try:
            return self.graph.plans.get(_key(wanted, feeds))
        except TypeError:  # lists within lists, and arrays of modules, have no hash
            leaves, structure = trees.flatten(wanted)
            return None if self._others(leaves) else self.graph.plans.get((structure, *leaves, None, *feeds))

    def _made(self, wanted: Any, feeds: Mapping[Any, Any]) -> Request:
        leaves, structure = trees.flatten(wanted)
        nodes = [self._node(x) for x in leaves]
        for x in feeds:
            if not isinstance(x, Node) or isinstance(x, Update):
                shown = x if isinstance(x, Node) else repr(x)
                raise InputError(f"feed_dict has {shown}, which is no node with a value", hint="Its keys are nodes")
        plan = Plan(nodes, frozenset(feeds))
        if self._others(leaves):
            return plan, _packing_leaves(leaves, nodes, structure)
        made = plan, _packing(wanted, leaves, structure, plan)
        try:
            self.graph.plans[_key(wanted, feeds)] = made
        except TypeError:
            self.graph.plans[structure, *leaves, None, *feeds] = made
        return made

    def _others(self, leaves: Sequence[Any]) -> bool:
        """Whether something other than nodes is fetched, such as the arrays of a module."""
        return not all(isinstance(x, Node) for x in leaves)

    def _node(self, leaf: Any) -> Node:
        if isinstance(leaf, Node):
            return leaf
        owned = self.graph.owned.get(id(leaf))
        if owned is None:
            shown = repr(leaf) if isinstance(leaf, str | int | float) else type(leaf).__name__
            raise InputError(f"{shown} is no operation to fetch", hint="Fetch nodes, and trees of them")
        return owned[1]

    def __enter__(self) -> Session:
        self._before = _default.get()
        _default.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        _default.set(self._before)

    def close(self) -> None:
        """Drop the values of variables."""
        self.values.clear()


class InteractiveSession(Session):
    """A session that is the default from its making on."""

    def __init__(self, graph: Graph | None = None) -> None:
        super().__init__(graph)
        self.__enter__()


_default: ContextVar[Session | None] = ContextVar("default session", default=None)


def get_default_session() -> Session:
    """The session of the ``with`` block around.

    Raises:
        InputError: there is none.
    """
    if (found := _default.get()) is None:
        raise InputError("There is no session", hint="Write 'with Session():' around, or session.run(node)")
    return found


def _key(wanted: Any, feeds: Mapping[Any, Any]) -> tuple[Any, ...]:
    kind = wanted.__class__
    return (kind, *wanted, None, *feeds) if kind is list or kind is tuple else (wanted, None, *feeds)


def _packing(wanted: Any, nodes: Sequence[Any], structure: trees.Tree, plan: Plan) -> Pack:
    """A function that makes the result of ``run`` from values."""
    each = [(node, _getting(node, plan)) for node in nodes]
    if isinstance(wanted, Node):
        get = each[0][1]
        return lambda values: get(values[wanted], values)
    kind = type(wanted)
    if kind in (list, tuple) and all(isinstance(x, Node) for x in wanted):
        return lambda values: kind([get(values[node], values) for node, get in each])
    return lambda values: trees.unflatten(structure, [get(values[node], values) for node, get in each])


def _getting(node: Node, plan: Plan) -> Callable[[Any, Any], Any]:
    """A function that makes a value a NumPy array, and copies it where the session keeps the value."""
    if isinstance(node, Group):
        return lambda value, values: None
    if node in plan.copied:
        return lambda value, values: _copied(value)
    updates = [update for _, update in plan.updates]
    return (lambda value, values: _apart(value, values, updates)) if updates else lambda value, values: _result(value)


def _packing_leaves(leaves: Sequence[Any], nodes: Sequence[Node], structure: trees.Tree) -> Pack:
    """For a module's arrays, arrays of mlc."""
    return lambda values: trees.unflatten(structure, [
        _copied(values[node]) if isinstance(x, Node) else as_array(values[node])
        for x, node in zip(leaves, nodes, strict=True)
    ])  # fmt: skip


def _result(value: Any) -> Any:
    """A value, or each of a tree, as NumPy's array."""
    if value.__class__ is Array and value.value is not None:
        return value.value
    return as_numpy(value)


def _apart(value: Any, values: Mapping[Any, Any], updates: Sequence[Node]) -> Any:
    """A value that shares no memory with the new values of variables."""
    found = _result(value)
    if found.__class__ is not np.ndarray:
        return _copied(found)
    if found.size <= SMALL or any(np.may_share_memory(found, values[each].numpy()) for each in updates):
        return found.copy()
    return found


def _copied(value: Any) -> Any:
    return trees.tree_map(np.array, as_numpy(value))
