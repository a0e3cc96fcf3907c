"""What a plan uses: bytes that a rank holds at its peak, bytes that it sends, and the seconds of a step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlc.planning.building import Building
from mlc.planning.codes import Joint
from mlc.planning.graph import Value
from mlc.planning.solving.problem import Choice


@dataclass(frozen=True)
class Move:
    """A change of state of a value before operator ``reader`` (None: where it is made, a result: the last)."""

    value: Value
    reader: int | None
    operand: int
    source: Joint
    target: Joint
    seconds: float
    bytes: float


class Usage:
    """A choice for a building, read."""

    def __init__(self, building: Building, choice: Choice) -> None:
        self.building, self.graph, self.choice = building, building.graph, choice
        self.moves = list(self._moves())
        self.held = list(self._held())
        """The bytes that a rank holds while each operator runs."""
        self.at = max(range(len(self.held)), key=self.held.__getitem__)
        self.peak = self.held[self.at]

    def made(self, value: Value) -> Joint:
        """Return the state in which a value is made."""
        node = self.graph.nodes[value.node]
        return node.options[self.choice[self.building.of_kind[node.kind]]].makes

    def found(self, value: Value) -> Joint:
        """Return the state in which readers find a value."""
        states, at = self.building.holder(value)
        return states[self.choice[at]]

    def read(self, m: int, k: int) -> Joint:
        node = self.graph.nodes[m]
        return node.options[self.choice[self.building.of_kind[node.kind]]].reads[k]

    def wanted(self, result: int) -> Joint:
        """Return the state of a result of the function."""
        value = self.graph.values[self.graph.results[result]]
        if value.updates is None or result in self.graph.fixed_results:
            return self.graph.wanted(result)
        node = self.graph.nodes[value.updates]
        return node.options[self.choice[self.building.of_kind[node.kind]]].makes

    def _moves(self) -> Iterator[Move]:
        """Yield the changes that the partitioner makes: one for each state in which a value is read; of an argument one
        for each reader, which lets go of it (ZeRO-3), unless the plan holds it."""
        for value in self.graph.values:
            yield from self._move(value, None, 0, self.made(value), self.found(value))
            seen = set()
            for m, k in value.readers:
                if (target := self.read(m, k)) not in seen or value.made < 0:
                    seen.add(target)
                    yield from self._move(value, m - len(self.graph.main.args), k, self.found(value), target)
        for n, number in enumerate(self.graph.results):
            value = self.graph.values[number]
            yield from self._move(value, len(self.graph.ops), n, self.found(value), self.wanted(n))

    def _move(self, value: Value, reader: int | None, operand: int, source: Joint, target: Joint) -> Iterator[Move]:
        if source != target:
            costs = self.building.moves(value, [source], [target])
            yield Move(value, reader, operand, source, target, float(costs.seconds[0, 0]), float(costs.bytes[0, 0]))

    @property
    def sent(self) -> float:
        return sum(move.bytes for move in self.moves)

    def bytes_of(self, value: Value, joint: Joint) -> float:
        return value.bytes / self.building.parts(joint)

    def _held(self) -> Iterator[float]:
        ops = len(self.graph.ops)
        change_at = [0.0] * (ops + 2)
        base = 0.0
        for value in self.graph.values:
            size = self.bytes_of(value, self.found(value))
            if value.made < 0:
                base += self.bytes_of(value, self.made(value))
                if self.found(value) != self.made(value):
                    base += size
            elif value.updates is None and value.last > value.made:
                change_at[value.made] += size
                change_at[value.last] -= size
        for move in self.moves:
            if move.reader is not None and move.reader < ops and move.seconds:
                size = self.bytes_of(move.value, move.target)
                change_at[move.reader] += size
                change_at[move.reader + 1] -= size
        for n in range(max(ops, 1)):
            base += change_at[n]
            yield base

    def work(self, op: int) -> float:
        """Return the seconds that an operator computes."""
        n = op + len(self.graph.main.args)
        return float(self.building.seconds[n][self.choice[self.building.of_kind[self.graph.nodes[n].kind]]])

    @property
    def computing(self) -> float:
        return sum(self.work(n) for n in range(len(self.graph.ops)))

    @property
    def sending(self) -> float:
        return sum(move.seconds for move in self.moves)

    @property
    def step(self) -> float:
        """Return the seconds of a step: of all that collectives could run beside computing, the share ``overlap``."""
        share = self.building.cluster.overlap
        return share * self._beside() + (1 - share) * (self.computing + self.sending)

    def _beside(self) -> float:
        """Return the seconds where a collective starts once its value is made and the links are free, and its reader
        waits for it."""
        starts: dict[int, list[Move]] = {}
        for move in self.moves:
            starts.setdefault(move.value.made, []).append(move)
        clock = link = 0.0
        ready: dict[tuple[int, int | None], float] = {}
        for n in range(-1, len(self.graph.ops)):
            if n >= 0:
                waits = [self.graph.values[self.graph.number[x]].node for x in self.graph.ops[n].operands]
                clock = max([clock, *(ready.get((node, at), 0.0) for node in waits for at in (None, n))])
                clock += self.work(n)
            for move in starts.get(n, []):
                link = max(link, clock) + move.seconds
                ready[move.value.node, move.reader] = link
        return max(clock, link)
