"""The problem of a graph: seconds of work and of changes of state, bytes that a rank holds.

Every operator, argument and shared value is a node of the problem, or equal ones together. A shared value is *held*: it
is brought to one state once, from which all readers read it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlc.dialects.graph import GraphOp
from mlc.planning.axes import Axis, Moves, moves
from mlc.planning.cluster import Cluster
from mlc.planning.codes import SUM, WINDOWS, Joint
from mlc.planning.graph import Graph, Node, Value
from mlc.planning.solving.problem import FORBIDDEN, Choice, Limit, Matrix, Problem, Vector
from mlc.planning.work import operations, roofline

HIDDEN = 0.1
"""The share of its time that a collective costs where computing hides it: it still uses memory and links."""


TIE = 1e-6
"""The share of the time to read an argument that it costs to hold it."""


class Building:
    """The problem of a graph, and what its options mean."""

    def __init__(self, graph: Graph, axes: Sequence[Axis], cluster: Cluster) -> None:
        self.graph, self.axes, self.cluster = graph, axes, cluster
        self.problem = Problem()
        self.of_kind: dict[int, int] = {}
        self.held: dict[int, int] = {}
        self.states: dict[int, list[Joint]] = {}
        """The joint states of a held value, by the kind of the node that makes it."""
        self._moves: dict[object, Moves] = {}
        self.seconds = [self._work_of(node) for node in graph.nodes]
        self.clock = np.cumsum([0.0, *(float(s.min()) for s in self.seconds[len(graph.main.args) :])])
        self._nodes()
        for value in graph.values:
            self._read(value)
        self._results()

    def moves(self, value: Value, sources: Sequence[Joint], targets: Sequence[Joint]) -> Moves:
        """Return what changes of a value cost; cached, as layers repeat."""
        key = value.shape, value.bytes, tuple(sources), tuple(targets)
        if key not in self._moves:
            self._moves[key] = moves(self.axes, value.shape, value.bytes, sources, targets)
        return self._moves[key]

    def _work_of(self, node: Node) -> Vector:
        """Return the seconds of each option of an operator; of plans that cost the same, arguments are in parts."""
        op = node.op
        if op is None:
            size = self.graph.values[node.values[0]].bytes / self.cluster.bandwidth
            return np.array([TIE * size / self.parts(each.makes) for each in node.options])
        if not isinstance(op, GraphOp) or not op.operands or node.op is None or any(r.type is None for r in op.results):
            return np.zeros(len(node.options))
        key = "work", node.kind
        if key not in self._moves:
            total = operations(op)
            sizes = [self.graph.values[self.graph.number[x]].bytes for x in (*op.operands, *op.results)]
            found = []
            for each in node.options:
                states = [*each.reads, *[each.makes] * len(op.results)]
                moved = sum(size / self.parts(joint) for size, joint in zip(sizes, states, strict=True))
                found.append(roofline(self.cluster, total / each.share, moved))
            self._moves[key] = np.array(found)  # type: ignore[assignment]
        return self._moves[key]  # type: ignore[return-value]

    def parts(self, joint: Joint) -> int:
        """Return into how many parts a joint state divides a tensor."""
        found = 1
        for code, axis in zip(joint, self.axes, strict=True):
            found *= axis.ranks if 0 <= code < WINDOWS else 1
        return found

    def _nodes(self) -> None:
        for n, node in enumerate(self.graph.nodes):
            if node.kind not in self.of_kind:
                self.of_kind[node.kind] = self.problem.node(np.zeros(len(node.options)))
            at = self.of_kind[node.kind]
            self.problem.costs[at] = self.problem.costs[at] + self.seconds[n]
        shared = {self.graph.nodes[v.node].kind for v in self.graph.values
                  if self.graph.shared(v) and len(self.graph.nodes[v.node].values) == 1}  # fmt: skip
        for value in self.graph.values:
            kind = self.graph.nodes[value.node].kind
            if kind in shared:
                states = {each.makes: None for each in self.graph.nodes[value.node].options}
                states |= {self.graph.nodes[m].options[i].reads[k]: None
                           for m, k in value.readers for i in range(len(self.graph.nodes[m].options))}  # fmt: skip
                known = self.states.setdefault(kind, [])
                known += [s for s in states if s not in known and all(code < WINDOWS for code in s)]
        for kind in self.states:
            if kind in self.graph.fixed_held:
                self.states[kind] = [self.graph.fixed_held[kind]]
            self.held[kind] = self.problem.node(np.zeros(len(self.states[kind])))

    def _hold(self, value: Value) -> None:
        """Add what it costs to bring a value to the state in which it is held."""
        node = self.graph.nodes[value.node]
        states = self.states[node.kind]
        made = [each.makes for each in node.options]
        found = self._exposed(value, self.moves(value, made, states).seconds, value.readers)
        for j, state in enumerate(states):
            if any(code <= SUM for code in state):
                found[:, j] = [0.0 if each == state else FORBIDDEN for each in made]
        self.problem.edge(self.of_kind[node.kind], self.held[node.kind], found)

    def _read(self, value: Value) -> None:
        node = self.graph.nodes[value.node]
        if node.kind in self.held:
            self._hold(value)
        source, at = self.holder(value)
        for m, k in value.readers:
            reader = self.graph.nodes[m]
            targets = [each.reads[k] for each in reader.options]
            unique = list(dict.fromkeys(targets))
            place = {joint: j for j, joint in enumerate(unique)}
            costs = self._exposed(value, self.moves(value, source, unique).seconds, [(m, k)])
            self.problem.edge(at, self.of_kind[reader.kind], costs[:, [place[t] for t in targets]])

    def holder(self, value: Value) -> tuple[list[Joint], int]:
        """Return the states in which readers find a value, and the node of the problem that chooses among them."""
        kind = self.graph.nodes[value.node].kind
        if kind in self.held:
            return self.states[kind], self.held[kind]
        return [each.makes for each in self.graph.nodes[value.node].options], self.of_kind[kind]

    def _results(self) -> None:
        for n, number in enumerate(self.graph.results):
            value = self.graph.values[number]
            source, at = self.holder(value)
            if value.updates is not None and n not in self.graph.fixed_results:
                argument = self.graph.nodes[value.updates]
                targets = [each.makes for each in argument.options]
                costs = self.moves(value, source, targets).seconds
                self.problem.edge(at, self.of_kind[argument.kind], costs)
            else:
                cost = self.moves(value, source, [self.graph.wanted(n)]).seconds[:, 0]
                self.problem.costs[at] = self.problem.costs[at] + cost

    def _exposed(self, value: Value, seconds: Matrix, readers: Sequence[tuple[int, int]]) -> Matrix:
        """Return the seconds that work between a value and its first reader does not hide."""
        first = min((m for m, _ in readers), default=0) - len(self.graph.main.args)
        slack = self.cluster.overlap * max(float(self.clock[first] - self.clock[value.made + 1]), 0.0)
        hidden = np.where(seconds < FORBIDDEN / 2, np.minimum(seconds, slack), 0.0)
        return seconds - (1 - HIDDEN) * hidden

    def limit(self, point: int, most: float) -> Limit:
        """Return the limit of what a rank holds while operator ``point`` runs."""
        limit = Limit({}, most, {})
        for value in self.graph.values:
            if self.is_alive(value, point):
                self._weigh(limit, value)
        return limit

    def _weigh(self, limit: Limit, value: Value) -> None:
        states, at = self.holder(value)
        here = np.array([value.bytes / self.parts(joint) for joint in states])
        own = self.of_kind[self.graph.nodes[value.node].kind]
        if value.made >= 0 or own == at:
            limit.weights[at] = limit.weights.get(at, 0.0) + here
            return
        made = [each.makes for each in self.graph.nodes[value.node].options]  # an argument, and maybe a copy of it
        first = np.array([value.bytes / self.parts(joint) for joint in made])
        limit.weights[own] = limit.weights.get(own, 0.0) + first
        copy = np.array([[0.0 if s == t else size for t, size in zip(states, here, strict=True)] for s in made])
        key, copy = ((own, at), copy) if own < at else ((at, own), copy.T)
        limit.pairs[key] = limit.pairs.get(key, 0.0) + copy

    def is_alive(self, value: Value, point: int) -> bool:
        """Return whether a value has memory of its own at a point: arguments always, results to the end, and a result
        that replaces an argument has that one's."""
        if value.made < 0:
            return True
        return value.updates is None and value.made <= point < value.last

    def choice_of(self, choice: Choice, n: int) -> int:
        """Return the option of a node."""
        return choice[self.of_kind[self.graph.nodes[n].kind]]
