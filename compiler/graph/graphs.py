"""``Graph``: the nodes of a program in the order in which they were made, with the default graph of a context."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from mlc.errors import InputError
from mlc.graph.drawing import dot, listing, svg

if TYPE_CHECKING:
    from mlc.graph.node import Node
    from mlc.graph.session import Request


class Graph:
    """Nodes by name. A new one becomes the default by ``as_default()``, for good or as a context."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.plans: dict[Any, Request] = {}
        """Compiled programs by what is fetched and fed; all sessions share them."""
        self.owned: dict[int, tuple[Any, Node]] = {}
        """By identity the arrays of modules, which live, and the variables that stand for them."""
        self._by_name: dict[str, Node] = {}
        self._counts: dict[str, int] = {}

    def add(self, node: Node, name: str) -> str:
        """Add a node and return its name, which gets a number where another node has the name already."""
        prefix = _scope.get()
        wanted = unique = f"{prefix}/{name}" if prefix else name
        while unique in self._by_name:
            self._counts[wanted] = self._counts.get(wanted, 0) + 1
            unique = f"{wanted}_{self._counts[wanted]}"
        self.nodes.append(node)
        self._by_name[unique] = node
        return unique

    def as_default(self) -> _Default:
        """Make it the graph of new nodes, at once; as ``with graph.as_default():`` until the end of the block."""
        return _Default(self)

    set_as_default = as_default

    def of_kind(self, kind: type) -> list[Node]:
        """The nodes of a class, such as ``graph.of_kind(Variable)``."""
        return [node for node in self.nodes if isinstance(node, kind)]

    @property
    def placeholders(self) -> list[Node]:
        """The nodes that are fed."""
        from mlc.graph.ends import Placeholder

        return self.of_kind(Placeholder)

    @property
    def variables(self) -> list[Node]:
        """The nodes that sessions keep."""
        from mlc.graph.ends import Variable

        return self.of_kind(Variable)

    @property
    def operations(self) -> list[Node]:
        """The nodes that compute."""
        from mlc.graph.ends import End

        return [node for node in self.nodes if not isinstance(node, End)]

    def __getitem__(self, name: str) -> Node:
        """The node of a name.

        Raises:
            InputError: there is none.
        """
        if name not in self._by_name:
            raise InputError(f"The graph has no node '{name}'", hint="print(graph) lists its nodes")
        return self._by_name[name]

    def find(self, name: str) -> Node | None:
        """The node of a name, or None."""
        return self._by_name.get(name)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        """A line for each node: ``name = function(inputs)``."""
        return listing(self.nodes)

    def dot(self) -> str:
        """The graph in Graphviz' language: ``dot -Tsvg`` draws it."""
        return dot(self.nodes)

    def svg(self) -> str:
        """A drawing, which needs no other program: each node below its inputs."""
        return svg(self.nodes)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __getstate__(self) -> Any:
        from mlc.graph.pickling import state_of

        return state_of(self)

    def __setstate__(self, state: Any) -> None:
        from mlc.graph.pickling import restore

        restore(self, state)


_default: ContextVar[Graph | None] = ContextVar("default graph", default=None)
_scope: ContextVar[str] = ContextVar("name scope", default="")


class _Default:
    """A graph that is the default from its making on; as a context, the one before is again afterwards."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.before = graph, _default.get()
        _default.set(graph)

    def __enter__(self) -> Graph:
        _default.set(self.graph)
        return self.graph

    def __exit__(self, *error: object) -> None:
        _default.set(self.before)


def get_default_graph() -> Graph:
    """The graph to which new nodes are added."""
    if (found := _default.get()) is None:
        _default.set(found := Graph())
    return found


def reset_default_graph() -> None:
    """Begin a new default graph."""
    _default.set(Graph())


@contextmanager
def name_scope(name: str) -> Iterator[str]:
    """A context in which new nodes have names such as ``name/add``."""
    before = _scope.get()
    token = _scope.set(f"{before}/{name}" if before else name)
    try:
        yield _scope.get()
    finally:
        _scope.reset(token)
