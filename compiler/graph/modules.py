"""Modules of ``mlc.nn`` on nodes: their parameters are variables, and their buffers are updated."""

from __future__ import annotations

from typing import Any

import mlc.numpy as mnp
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.random.threefry import fold_in, key
from mlc.graph.ends import Variable
from mlc.graph.graphs import get_default_graph
from mlc.graph.node import Call, Node
from mlc.graph.updates import Update
from mlc.nn.module import Module, recorded
from mlc.nn.naming import is_parameter, named

SEED = "random_key"


def variables_of(module: Any, name: str = "") -> list[Variable]:
    """The variables that stand for the arrays of a module in the default graph, made on first use."""
    owned = get_default_graph().owned
    found = []
    for path, leaf, is_buffer in named(module):
        if id(leaf) not in owned:
            full = f"{name or type(module).__name__}/{path}".replace(".", "/")
            owned[id(leaf)] = leaf, Variable(leaf, full, trainable=is_parameter(leaf, is_buffer))
        found.append(owned[id(leaf)][1])
    return found  # type: ignore[return-value]


def call_module(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    """The node of a module's result; in training each run updates buffers such as running statistics."""
    variables = variables_of(module)
    _, structure = trees.flatten(module)
    made = Call(_called, structure, variables, _draws() if module.training else None, args, kwargs,
                name=type(module).__name__)  # fmt: skip
    if module.training:
        buffers = [(n, v) for n, (v, x) in enumerate(zip(variables, named(module), strict=True)) if x[2]]
        made.updates += [Update(v, made[1][n], f"{v.name}/update") for n, v in buffers]
    return made[0]


def _called(structure: Any, leaves: list[Any], draws: Any, args: Any, kwargs: Any) -> tuple[Any, list[Array]]:
    """The result of the module, and the module's leaves after the call."""
    random = None if draws is None else fold_in(key(draws[0]), draws[1])
    model = trees.unflatten(structure, leaves)
    result, after = recorded(lambda copy: copy(*args, **kwargs), model, random)
    return result, [as_array(x) for x in trees.leaves(after)]


def _draws() -> Node:
    """The seed of random numbers for one node: the number of the run, and that of the node."""
    graph = get_default_graph()
    counter = graph.find(SEED) or Variable(0, SEED, trainable=False)
    assert isinstance(counter, Variable)
    if not counter.updates:
        counter.updates.append(Update(counter, counter + 1, f"{SEED}/update"))
    made = Call(_pair, counter, len(graph.nodes), name="draws")
    made.updates = counter.updates
    return made


def _pair(counter: Any, number: int) -> Array:
    return mnp.stack([as_array(counter), as_array(number)])
