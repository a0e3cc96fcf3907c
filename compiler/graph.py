"""``mlc.graph``: the graph style, in which a program is a graph that a session runs. Source: TensorFlow 1.

    from mlc import graph

    x, y = graph.Placeholder("x"), graph.Placeholder("y")
    w = graph.Variable(np.zeros(3, np.float32), name="w")
    loss = graph.mean((x @ w - y) ** 2)
    train = graph.GradientDescentOptimizer(0.1).minimize(loss)
    session = graph.Session()
    for _ in range(100):
        value, _ = session.run([loss, train], {x: data, y: target})

Every function of ``mlc.numpy`` and ``mlc.nn`` makes an operation here: ``graph.relu(x)``. What is fetched is traced and
compiled, for each set of fetches and shapes once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc import nn
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.methods.operators import Operators
from mlc.frontends.array.transforms.gradients import grad
from mlc.tracing.jit import jit

Values = dict["Operation", Any]


class Operation:
    """A node: a function of its inputs, which are operations, arrays or numbers."""

    __array_ufunc__ = None  # NumPy leaves `array + operation` to the operation

    def __init__(self, function: Callable[..., Any], *inputs: Any, name: str = "", **options: Any) -> None:
        self.function, self.inputs, self.options = function, inputs, options
        self.name = name or getattr(function, "__name__", "operation")

    def compute(self, values: Values) -> Any:
        """The value for those of placeholders and variables, and of what is already computed."""
        if self not in values:
            inputs = [x.compute(values) if isinstance(x, Operation) else x for x in self.inputs]
            values[self] = self.function(*inputs, **self.options)
        return values[self]

    def ends(self) -> set[Operation]:
        """The placeholders and variables that it depends on."""
        seen: set[Operation] = set()
        waiting: list[Any] = [self]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Operation) and node not in seen:
                seen.add(node)
                waiting += node.inputs
        return {node for node in seen if isinstance(node, Placeholder | Variable)}

    def __getitem__(self, index: Any) -> Operation:
        return Operation(lambda x: x[index], self, name="getitem")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


def _operator(name: str) -> Callable[..., Operation]:
    def apply(self: Operation, *others: Any) -> Operation:
        return Operation(lambda x, *ys: getattr(as_array(x), name)(*ys), self, *others, name=name.strip("_"))

    return apply


IDENTITY = ("__eq__", "__ne__", "__hash__", "__setitem__")  # nodes are keys, and never mutated

for _name in vars(Operators):
    if _name.startswith("__") and callable(getattr(Operators, _name)) and _name not in (*vars(Operation), *IDENTITY):
        setattr(Operation, _name, _operator(_name))


class Placeholder(Operation):
    """A value that each run is given in ``feed_dict``."""

    def __init__(self, name: str) -> None:
        super().__init__(lambda: None, name=name)


class Variable(Operation):
    """An array that a session keeps, and operations such as that of ``minimize`` change."""

    def __init__(self, initial: Any, name: str = "variable") -> None:
        super().__init__(lambda: None, name=name)
        self.initial = as_array(initial)


class Update(Operation):
    """An operation whose run gives variables new values; its own value is None.

    ``new(values)`` gives those of ``variables``, in order, from the values before the run.
    """

    def __init__(self, variables: Iterable[Variable], new: Callable[[Values], list[Any]], *inputs: Any) -> None:
        self.variables, self.new = list(variables), new
        super().__init__(lambda *_: None, *self.variables, *inputs, name="update")


def assign(variable: Variable, value: Any) -> Update:
    """The variable gets the value."""

    def new(values: Values) -> list[Any]:
        return [value.compute(values) if isinstance(value, Operation) else as_array(value)]

    return Update([variable], new, value)


class GradientDescentOptimizer:
    """Steps against the gradient."""

    def __init__(self, learning_rate: float) -> None:
        self.learning_rate = learning_rate

    def minimize(self, loss: Operation) -> Update:
        """An update of all variables that ``loss`` depends on.

        Raises:
            InputError: it depends on none.
        """
        variables = [node for node in loss.ends() if isinstance(node, Variable)]
        if not variables:
            raise InputError(f"{loss} depends on no variable")

        def new(values: Values) -> list[Any]:
            fixed = {node: values[node] for node in loss.ends()}
            before = [values[v] for v in variables]
            gradients = grad(lambda xs: loss.compute({**fixed, **dict(zip(variables, xs, strict=True))}))(before)
            return [x - self.learning_rate * g for x, g in zip(before, gradients, strict=True)]

        return Update(variables, new, loss)


class Session:
    """Values of variables, and compiled programs for what is fetched."""

    def __init__(self) -> None:
        self.values: dict[Variable, Array] = {}
        self._programs: dict[tuple[Any, ...], Callable[..., Any]] = {}

    def run(self, fetches: Any, feed_dict: Mapping[Operation, Any] | None = None) -> Any:
        """The values of an operation, or of a tree of them, as NumPy arrays; updates take place after.

        Raises:
            InputError: a placeholder without a value, or a value of what is none.
        """
        leaves, structure = trees.flatten(fetches)
        fed = dict(feed_dict or {})
        nodes = [leaf for leaf in leaves if isinstance(leaf, Operation)]
        ends = sorted({end for node in nodes for end in node.ends()}, key=id)
        variables = [end for end in ends if isinstance(end, Variable)]
        self._check(leaves, ends, fed)
        given = [end for end in ends if isinstance(end, Placeholder)]
        program = self._programs.setdefault(tuple(leaves), jit(partial(_computed, leaves, given, variables)))
        state = [self.values.setdefault(v, v.initial) for v in variables]
        results, after = program([np.asarray(fed[each]) for each in given], state)
        self.values.update(zip(variables, after, strict=True))
        return trees.unflatten(structure, [None if x is None else x.numpy() for x in results])

    def _check(self, leaves: list[Any], ends: list[Operation], fed: dict[Any, Any]) -> None:
        if wrong := [x for x in leaves if not isinstance(x, Operation)]:
            raise InputError(f"{wrong[0]!r} is no operation to fetch")
        if wrong := [x for x in fed if not isinstance(x, Placeholder)]:
            raise InputError(f"feed_dict has {wrong[0]}, which is no placeholder")
        if missing := [end.name for end in ends if isinstance(end, Placeholder) and end not in fed]:
            raise InputError(f"feed_dict has no value of the placeholder {', '.join(sorted(missing))}")


def _computed(
    leaves: Sequence[Operation],
    given: Sequence[Placeholder],
    variables: Sequence[Variable],
    fed: Sequence[Any],
    state: Sequence[Any],
) -> tuple[list[Any], list[Any]]:
    """What is fetched, and the variables after all updates among it."""
    values: Values = dict(zip([*given, *variables], [*fed, *state], strict=True))
    after = dict(zip(variables, state, strict=True))
    results = [None if isinstance(each, Update) else as_array(each.compute(values)) for each in leaves]
    for each in leaves:
        if isinstance(each, Update):
            after.update(zip(each.variables, each.new(values), strict=True))
    return results, list(after.values())


def __getattr__(name: str) -> Any:
    function = getattr(mnp, name, None) or getattr(nn, name, None)
    if name.startswith("_") or not callable(function):
        raise AttributeError(f"module 'mlc.graph' has no attribute '{name}'")
    return partial(Operation, function)
