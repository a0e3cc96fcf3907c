"""Nodes whose run changes variables: ``assign`` and ``group``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.elementwise import convert
from mlc.graph.ends import Constant, Variable
from mlc.graph.graphs import get_default_graph
from mlc.graph.node import Node, Prepared

if TYPE_CHECKING:
    from mlc.graph.plan import Planning


class Update(Node):
    """The new value of a variable, which takes place after the run; all nodes of the run read the value before."""

    def __init__(self, variable: Variable, value: Node, name: str = "assign") -> None:
        self.variable, self.value = variable, value
        super().__init__([value], name)

    def prepared(self, planning: Planning) -> Prepared:
        return Prepared([self.value], self._accepted)

    def _accepted(self, value: Any) -> Array:
        """The value, converted to the variable's type.

        Raises:
            InputError: another shape, or a type of another kind.
        """
        made, old = as_array(value), self.variable.initial
        if made.shape != old.shape or dtypes.kind(made.element) > dtypes.kind(old.element):
            types = [dtypes.text(x.element, x.shape) for x in (old, made)]
            raise InputError(f"variable '{self.variable.name}' is {types[0]}, and its new value {types[1]}")
        return convert(made, old.element)


class Group(Node):
    """Several nodes that run as one, whose value is None."""

    def __init__(self, nodes: Any, name: str = "") -> None:
        super().__init__(nodes, name or "group")

    def prepared(self, planning: Planning) -> Prepared:
        return Prepared(self.input_nodes, lambda *_: None)


def assign(variable: Variable, value: Any, name: str = "assign") -> Update:
    """The variable gets the value, which is what the node gives.

    Raises:
        InputError: it is no variable.
    """
    if not isinstance(variable, Variable):
        shown = variable if isinstance(variable, Node) else type(variable).__name__
        raise InputError(f"assign changes variables, and {shown} is none", hint="Give a graph.Variable first")
    return Update(variable, value if isinstance(value, Node) else Constant(_constant(value, variable)), name)


def _constant(value: Any, variable: Variable) -> Any:
    """Numbers in the variable's type."""
    made = np.asarray(value.numpy() if isinstance(value, Array) else value)
    return made.astype(variable.dtype) if np.can_cast(made.dtype, variable.dtype, "same_kind") else made


def assign_add(variable: Variable, value: Any, name: str = "assign_add") -> Update:
    """The variable gets its sum with the value."""
    return assign(variable, variable + value, name)


def assign_sub(variable: Variable, value: Any, name: str = "assign_sub") -> Update:
    """The variable gets its difference from the value."""
    return assign(variable, variable - value, name)


def group(*nodes: Node, name: str = "") -> Group:
    """A node whose run is that of all of these."""
    return Group(nodes, name)


def global_variables_initializer() -> Group:
    """A node whose run gives the variables of the default graph their initial values."""
    found = [v for v in get_default_graph().variables if isinstance(v, Variable)]
    return group(*(Update(v, Constant(v.initial), "initialize") for v in found), name="initializer")
