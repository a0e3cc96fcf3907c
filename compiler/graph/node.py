"""``Node``: a value of the graph, and ``Call``: a node that is a traced function of others.

Python's operators, methods of arrays and functions of ``mlc.numpy`` and ``mlc.nn`` on nodes make calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.methods import numpy_names
from mlc.frontends.array.methods.operators import Operators
from mlc.frontends.array.public import Deferred
from mlc.frontends.array.record import caller, text_of
from mlc.graph.graphs import Graph, get_default_graph

if TYPE_CHECKING:
    from mlc.graph.plan import Planning
    from mlc.graph.session import Session

METHODS = frozenset([*numpy_names.NAMES, "reshape", "transpose", "flatten"])
PROPERTIES = frozenset(["T", "mT", "real", "imag"])


class Prepared(NamedTuple):
    """How a node is computed where some nodes are fed: ``run(*values of reads)``. ``on_host``: on NumPy arrays, outside
    of compiled code. ``within``: nodes that it computes itself, as parts of a derivative or a branch."""

    reads: Sequence[Node]
    run: Callable[..., Any]
    on_host: bool = False
    within: Sequence[Node] = ()


class Node(Deferred):
    """A value of the default graph; ``input_nodes`` are those that it is computed from."""

    __array_ufunc__ = None  # NumPy leaves `array + node` to the node

    def __init__(self, input_nodes: Sequence[Node] = (), name: str = "") -> None:
        self.input_nodes = list(input_nodes)
        self.origin: Any = caller()
        self.updates: list[Node] = []
        """What every run that computes this node carries out as well."""
        self.graph: Graph = get_default_graph()
        self.name = self.graph.add(self, name or type(self).__name__)

    @property
    def kind(self) -> str:
        """The name of what the node computes, as it is listed."""
        return type(self).__name__

    @property
    def dependencies(self) -> list[Node]:
        """The nodes from which this one is computed, those in bodies of branches and loops included."""
        return self.input_nodes

    @property
    def where(self) -> str:
        """``file.py:12``, where the node was made."""
        return self.origin if isinstance(self.origin, str) else text_of(self.origin)

    @property
    def consumers(self) -> list[Node]:
        """The nodes that read this one."""
        return [node for node in self.graph.nodes if self in node.input_nodes]

    output_nodes = consumers

    def prepared(self, planning: Planning) -> Prepared:
        """How it is computed."""
        raise InputError(f"Node '{self.name}' has no value of its own")

    def eval(self, feed_dict: Any = None, session: Session | None = None) -> Any:
        """Its value in a session, by default that of the ``with`` block around."""
        from mlc.graph.session import get_default_session

        return (session or get_default_session()).run(self, feed_dict)

    run = eval

    def deferred(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return Call(f, *args, **kwargs)

    def deferred_module(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from mlc.graph.modules import call_module

        return call_module(module, args, kwargs)

    def __getitem__(self, key: Any) -> Call:
        return Call(_item, self, key, name="getitem")

    def __getattr__(self, name: str) -> Any:
        if name in METHODS:
            return functools.partial(Call, _method, self, name, name=name)
        if name in PROPERTIES:
            return Call(_property, self, name, name=name)
        hint = ": a node has none before it runs" if name in ("shape", "dtype", "ndim", "size") else ""
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'{hint}")

    if TYPE_CHECKING:  # these are set below, as others

        def __add__(self, other: Any) -> Call: ...
        def __sub__(self, other: Any) -> Call: ...
        def __mul__(self, other: Any) -> Call: ...

    def __iter__(self) -> Any:
        what = f"Node '{self.name}' is iterated over, but how many elements it has is not known before it runs"
        raise InputError(what, hint="Index it: x[0], x[1]")

    def __bool__(self) -> bool:
        what = f"Node '{self.name}' is used as a condition, but it has no value before it runs"
        raise InputError(what, hint="Use graph.cond or graph.where; to compare nodes as objects use 'is'")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    def __reduce__(self) -> Any:
        from mlc.graph.pickling import node_of

        return node_of, (self.graph, self.graph.nodes.index(self))


class Call(Node):
    """``function(*args, **kwargs)``, traced, where values stand for nodes, within lists and keywords too."""

    def __init__(self, function: Callable[..., Any], /, *args: Any, name: str = "", **kwargs: Any) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        leaves, _ = trees.flatten((args, kwargs))
        super().__init__(list(dict.fromkeys(x for x in leaves if isinstance(x, Node))), name or _called(function))

    @property
    def kind(self) -> str:
        return self.args[1].strip("_") if self.function in (_method, _property) else _called(self.function)

    def prepared(self, planning: Planning) -> Prepared:
        leaves, structure = trees.flatten((self.args, self.kwargs))
        positions = [self.input_nodes.index(x) if isinstance(x, Node) else -1 for x in leaves]

        def run(*values: Any) -> Any:
            given = [x if n < 0 else values[n] for n, x in zip(positions, leaves, strict=True)]
            args, kwargs = trees.unflatten(structure, given)
            return self.function(*args, **kwargs)

        return Prepared(self.input_nodes, run)


def _called(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__).strip("_<>")


def _item(x: Any, key: Any) -> Any:
    """An element of a tree, or what an array has at a key."""
    return x[key] if isinstance(x, list | tuple | dict) else as_array(x)[key]


def _method(x: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """A method or operator of arrays."""
    found = getattr(as_array(x), name)(*args, **kwargs)
    if found is NotImplemented:
        raise InputError(
            f"{name.strip('_')} is not defined on an array and {', '.join(type(y).__name__ for y in args)}"
        )
    return found


def _property(x: Any, name: str) -> Any:
    return getattr(as_array(x), name)


def _operator(name: str) -> Callable[..., Any]:
    def apply(self: Node, *others: Any) -> Any:
        if not all(isinstance(x, OPERANDS) for x in others):
            return NotImplemented
        return Call(_method, self, name, *others, name=name.strip("_"))

    apply.__name__ = name
    return apply


OPERANDS = (Node, Array, np.ndarray, np.generic, bool, int, float, complex, list, tuple)
OWN = ("__eq__", "__ne__", "__hash__", "__setitem__", "__getitem__")  # nodes are keys, and never change
for _name in vars(Operators):
    if _name.startswith("__") and callable(getattr(Operators, _name)) and _name not in OWN and _name not in vars(Node):
        setattr(Node, _name, _operator(_name))
