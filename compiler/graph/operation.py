"""``Operation``: a node that a subclass computes by a function of its own, on the host.

    class Clip(Operation):
        def __init__(self, x):
            super().__init__([x])

        def compute(self, x_value):
            return np.clip(x_value, -1, 1)

        def gradient(self, grad, x_value):
            return grad * (abs(x_value) < 1)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.graph.node import Node, Prepared

if TYPE_CHECKING:
    from mlc.graph.plan import Planning

REGISTERED: dict[str, Callable[..., Any]] = {}
"""Gradients by the names of classes of operations."""


class RegisterGradient:
    """A decorator: ``f(op, grad)`` is the gradient of the operations of a class, where ``op.inputs`` are values."""

    def __init__(self, op_type: str) -> None:
        self.op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        REGISTERED[self.op_type] = f
        return f


class Operation(Node):
    """A function of input nodes, which a subclass writes as ``compute(self, *values)`` on NumPy arrays.

    It runs as it is, between compiled parts. ``gradient(self, grad, *values)`` gives what reaches each input: one
    array, or a list with None for zero. The parameter whose name contains ``grad`` is what reaches the result, else
    the first; without others, the values are what ``compute`` has kept.
    """

    def __init__(self, inputs: Any = (), *more: Any, name: str = "") -> None:
        given = [*inputs] if isinstance(inputs, list | tuple) else [inputs]
        self.inputs = [*given, *more]
        self._operands = tuple(self.inputs)  # subclasses may keep values as `inputs`
        super().__init__(list(dict.fromkeys(x for x in self.inputs if isinstance(x, Node))), name)

    @property
    def operands(self) -> list[Node]:
        """The nodes among the inputs, twice where one is given twice."""
        return [x for x in self._operands if isinstance(x, Node)]

    def compute(self, *values: Any) -> Any:
        """The value, from those of the inputs."""
        raise InputError(f"Operation '{self.name}' of class {type(self).__name__} has no method 'compute'")

    def prepared(self, planning: Planning) -> Prepared:
        nodes = self.input_nodes

        def run(*values: Any) -> Any:
            found = dict(zip(nodes, values, strict=True))
            return self.compute(*(found[x] if isinstance(x, Node) else x for x in self._operands))

        return Prepared(nodes, run, on_host=True)


class HostGradient(Operation):
    """What reaches the inputs of an operation, from what reaches its result: a tuple, of its nodes."""

    def __init__(self, of: Operation, grad: Node) -> None:
        self.of, self.rule = of, _rule(of)
        super().__init__([of, grad, *of._operands], name=f"gradient_of_{of.name}")

    def compute(self, *values: Any) -> Any:
        output, grad, *given = values
        found = self.rule(output, grad, given)
        several = list(found) if isinstance(found, list | tuple) else [found]
        if len(several) != len(given):
            what = f"The gradient of operation '{self.of.name}' has {len(several)} parts for {len(given)} inputs"
            raise InputError(what, hint="Return one array for each input, or None for zero")
        pairs = zip(self.of._operands, several, given, strict=True)
        return tuple(_like(self.of, part, value) for node, part, value in pairs if isinstance(node, Node))


def _like(of: Operation, part: Any, value: Any) -> np.ndarray[Any, Any]:
    """A part of a gradient, in the shape and type of the input."""
    dtype = value.dtype if dtypes.kind(dtypes.element(value.dtype)) >= 2 else np.dtype(np.float32)
    if part is None:
        return np.zeros(value.shape, dtype)
    made = np.asarray(part, dtype)
    if made.shape != value.shape:
        what = f"The gradient of operation '{of.name}' has the shape {made.shape} for an input of {value.shape}"
        raise InputError(what, hint="Sum over the dimensions along which the input was repeated")
    return made


def _rule(of: Operation) -> Callable[[Any, Any, Sequence[Any]], Any]:
    """``rule(output, grad, values)`` of an operation.

    Raises:
        InputError: it has none.
    """
    if (registered := REGISTERED.get(type(of).__name__)) and not hasattr(of, "gradient"):
        return lambda output, grad, values: registered(SimpleNamespace(inputs=values, output=output, op=of), grad)
    if not callable(method := vars(type(of)).get("gradient") or getattr(type(of), "gradient", None)):
        hint = "Write the method gradient(self, grad, *values)"
        raise InputError(f"Operation '{of.name}' of class {type(of).__name__} has no gradient", hint=hint)
    return _by_names(method.__get__(of), len(of._operands))


def _by_names(method: Callable[..., Any], count: int) -> Callable[[Any, Any, Sequence[Any]], Any]:
    parameters = list(inspect.signature(method).parameters.values())
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return lambda output, grad, values: method(grad, *values)
    place = next((n for n, p in enumerate(parameters) if "grad" in p.name), 0)

    def rule(output: Any, grad: Any, values: Sequence[Any]) -> Any:
        given = list(values[: len(parameters) - 1])
        if len(parameters) == count + 2:  # the result as well
            given.append(output)
        given.insert(place, grad)
        return method(*given)

    return rule
