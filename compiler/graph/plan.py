"""The plan for a set of fetched and fed nodes: compiled parts, and operations of the host between them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from keyword import iskeyword
from typing import Any

import numpy as np

from mlc.errors import InputError, MlcError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.graph.ends import Constant, End, Placeholder, Variable, fed
from mlc.graph.graphs import Graph
from mlc.graph.node import Node, Prepared
from mlc.graph.updates import Update
from mlc.tracing.jit import jit

Values = dict[Node, Any]


class Planning:
    """How nodes are computed where ``fed`` are given."""

    def __init__(self, fed: Iterable[Node]) -> None:
        self.fed = frozenset(fed)
        self._known: dict[Node, Prepared] = {}

    def __getitem__(self, node: Node) -> Prepared:
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = node.prepared(self)
        return found

    def order(self, wanted: Sequence[Node], is_end: Callable[[Node], bool] = lambda node: False) -> list[Node]:
        """The nodes that compute ``wanted``, each after those that it reads; without ends and fed nodes."""
        seen: set[Node] = set()
        order: list[Node] = []
        stack = [(node, False) for node in reversed(wanted)]
        while stack:
            node, after = stack.pop()
            if after:
                order.append(node)
            elif node not in seen and node not in self.fed and not isinstance(node, End) and not is_end(node):
                seen.add(node)
                stack.append((node, True))
                stack += [(each, False) for each in reversed(self[node].reads) if each not in seen]
        return order


class Subgraph:
    """The nodes between arguments and outputs as a function: ``subgraph(values of arguments, values of captured)``.

    ``captured``: what it reads from around it. ``inside``: its nodes; by default those that depend on the arguments.
    """

    def __init__(
        self,
        planning: Planning,
        outputs: Sequence[Node],
        arguments: Sequence[Node],
        inside: frozenset[Node] | None = None,
    ) -> None:
        self.outputs, self.arguments = list(outputs), list(arguments)
        moved = set(arguments)
        self.nodes: list[Node] = []
        for node in planning.order(outputs, lambda n: n in moved or (inside is not None and n not in inside)):
            if inside is not None or any(each in moved for each in planning[node].reads):
                moved.add(node)
                self.nodes.append(node)
        self._steps = [(node, planning[node]) for node in self.nodes]
        reads = [each for node, prepared in self._steps for each in prepared.reads]
        self.captured = [each for each in dict.fromkeys([*reads, *outputs]) if each not in moved]

    def depends(self, output: Node) -> bool:
        """Whether an output depends on the arguments."""
        return output not in self.captured

    def hosted(self) -> list[Node]:
        """The operations of the host among the nodes."""
        return [node for node, prepared in self._steps if prepared.on_host]

    def __call__(self, arguments: Sequence[Any], captured: Sequence[Any]) -> list[Any]:
        values = dict(zip([*self.captured, *self.arguments], [*captured, *arguments], strict=True))
        compute(self._steps, values)
        return [values[each] for each in self.outputs]


def compute(steps: Iterable[tuple[Node, Prepared]], values: Values) -> None:
    """Add the values of nodes; an error names its node."""
    for node, prepared in steps:
        with naming(node):
            made = prepared.run(*[values[each] for each in prepared.reads])
        values[node] = made
        if isinstance(made, Array) and made.value is None and not isinstance(node.origin, str):
            made.record.origin = node.origin  # errors of its operator, and the text of the IR, name that line


@contextmanager
def naming(node: Node) -> Iterator[None]:
    """Errors of mlc say which node, and where it was made; others get a note of it."""
    try:
        yield
    except MlcError as error:
        if not error.node:
            error.node = node.name
            error.message = f"{node.where}: {re.sub(LINE, '', error.message)}"
            error.args = (error.message,)
        raise
    except Exception as error:
        error.add_note(f"in node '{node.name}' ({node.kind}), made at {node.where}")
        raise


LINE = re.compile(r"^\S+\.py:\d+: ")


class Part:
    """Nodes that one compiled program computes from values that are there, ``given``."""

    def __init__(self, steps: Sequence[tuple[Node, Prepared]], wanted: Sequence[Node]) -> None:
        self.nodes, self.wanted, own = steps, list(wanted), {node for node, _ in steps}
        reads = [each for _, prepared in steps for each in prepared.reads]
        self.given = [each for each in dict.fromkeys(reads) if each not in own]

        def program(*arrays: Any) -> list[Any]:
            values = dict(zip(self.given, arrays, strict=True))
            compute(steps, values)
            return [values[node] for node in self.wanted]

        program.__signature__ = inspect.Signature(_parameters(self.given))  # type: ignore[attr-defined]
        self.run = jit(program)
        self.run.where = ""  # errors name nodes

    def __call__(self, values: Values) -> None:
        found = self.run(*[values[node] for node in self.given])
        values.update(zip(self.wanted, found, strict=True))


def _parameters(nodes: Sequence[Node]) -> list[inspect.Parameter]:
    """Parameter names for nodes, as they appear in the text of the IR."""
    names = [re.sub("[^0-9a-zA-Z_]", "_", node.name) for node in nodes]
    is_plain = [name.isidentifier() and not iskeyword(name) and names.count(name) == 1 for name in names]
    unique = [name if plain else f"node{n}_{name}" for n, (name, plain) in enumerate(zip(names, is_plain, strict=True))]
    return [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in unique]


class OnHost:
    """An operation that runs as it is, on NumPy arrays."""

    def __init__(self, node: Node, prepared: Prepared) -> None:
        self.node, self.prepared = node, prepared

    def __call__(self, values: Values) -> None:
        with naming(self.node):
            found = self.prepared.run(*[as_numpy(values[each]) for each in self.prepared.reads])
            values[self.node] = as_numpy(found)


def as_numpy(value: Any) -> Any:
    """A value, or each of a tree, as NumPy's array."""
    if isinstance(value, Array):
        return value.numpy()
    return value if isinstance(value, np.ndarray) else trees.tree_map(lambda x: as_array(x).numpy(), value)


class Plan:
    """The steps for what is fetched, and what they need: fed nodes, placeholders, variables."""

    def __init__(self, wanted: Sequence[Node], given: frozenset[Node]) -> None:
        with Graph().as_default():  # of nodes that are made for it
            planning = Planning(given)
            order, targets = _with_updates(planning, [*wanted])
            levels = _levels(planning, order)
        self.updates = [(node.variable, node) for node in order if isinstance(node, Update)]
        _check_updates([variable for variable, _ in self.updates])
        self.steps: list[Callable[[Values], None]] = list(_steps(planning, order, levels, {*targets}))
        reads = {each for node in order for each in planning[node].reads} | {*wanted}
        ends = [each for each in reads if isinstance(each, End) and each not in given]
        if missing := sorted(each.name for each in ends if isinstance(each, Placeholder)):
            what = f"feed_dict has no value of the placeholder {', '.join(missing)}"
            raise InputError(what, hint="Give one: session.run(fetches, {x: value})")
        self.feeding = [(each, _accepting(each)) for each in reads if each in given]
        self.variables = [each for each in ends if isinstance(each, Variable)]
        constants: Values = {each: each.value for each in ends if isinstance(each, Constant)}
        if constants:
            self.steps.insert(0, lambda values: values.update(constants))
        self.copied = {each for each in wanted if isinstance(each, End | Update) or each in given}
        """What is fetched and lives on, so the caller gets a copy."""


def _accepting(node: Node) -> Callable[[Any], Any]:
    """A function that makes a fed value an array."""
    return node.accepted if isinstance(node, Placeholder) else partial(fed, node)


def _with_updates(planning: Planning, targets: list[Node]) -> tuple[list[Node], list[Node]]:
    """The order for targets and the updates that every run of their nodes carries out; the targets with these."""
    while True:
        order = planning.order(targets)
        inner = [each for node in order for each in planning[node].within]
        further = dict.fromkeys(u for node in [*order, *inner] for u in node.updates if u not in planning.fed)
        if further.keys() <= {*targets}:
            return order, [*targets, *(node for node in order if isinstance(node, Update))]
        targets += [each for each in further if each not in targets]


def _levels(planning: Planning, order: Sequence[Node]) -> Mapping[Node, int]:
    """For each node, the number of operations of the host that must run, one after another, before its value exists."""
    levels: dict[Node, int] = {}
    for node in order:
        prepared = planning[node]
        levels[node] = max((levels.get(each, 0) for each in prepared.reads), default=0) + prepared.on_host
    return levels


def _steps(
    planning: Planning, order: Sequence[Node], levels: Mapping[Node, int], targets: set[Node]
) -> Iterator[Part | OnHost]:
    rows: dict[int, list[Node]] = {}
    for node in order:
        rows.setdefault(levels[node], []).append(node)
    for level in sorted(rows):
        hosted = [node for node in rows[level] if planning[node].on_host]
        yield from (OnHost(node, planning[node]) for node in hosted)
        traced = [(node, planning[node]) for node in rows[level] if not planning[node].on_host]
        if traced:
            later = {each for n in order if levels[n] > level for each in planning[n].reads}
            yield Part(traced, [node for node, _ in traced if node in targets or node in later])


def _check_updates(variables: Sequence[Variable]) -> None:
    twice = [v for v in variables if variables.count(v) > 1] if len({*variables}) < len(variables) else []
    if twice:
        what = f"One run updates the variable '{twice[0].name}' twice, from the value before both"
        raise InputError(what, hint="Fetch one of the updates a run")
