"""Legality of a schedule, proved on statement instances: each instance is in a tile, and tiles keep all dependences."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import islpy as isl

from mlc.dialects.poly import LoopNest, ScheduleError, groups_of
from mlc.passes.schedule.polyhedral.dependences import agree, between, dependences, independent, within_tiles
from mlc.passes.schedule.polyhedral.statement_view import StatementView


@dataclass(frozen=True)
class Legality:
    """The proof that a schedule is legal.

    ``expansions``, ``blocks`` and ``streams`` are isl maps as strings: from tile instances to statement instances, to
    the block of a partition, and to the block of a stream. ``running``: the arrays of running reductions; ``covered``:
    whether the tiles of each nest are known to cover its band without overlap; ``where``: the beginning of error
    messages.
    """

    where: str
    statements: Mapping[str, StatementView]
    running: frozenset[str]
    expansions: str
    blocks: str
    streams: str
    covered: bool = False

    @cached_property
    def expansion(self) -> isl.UnionMap:
        """The map from tile instances to statement instances."""
        return isl.UnionMap(self.expansions)

    def check(self, nests: Sequence[LoopNest]) -> bool:
        """Return whether nests depend on each other, so that one thread must run them.

        Raises:
            ScheduleError: the schedule is not legal.
        """
        if not self._executes_all(nests):
            raise ScheduleError(f"{self.where}: not every statement instance is in a tile")
        for nest in nests:
            members = [self.statements[s] for s in nest.statements]
            whole = self.covered and not nest.tiled_blocks and agree(members, [i.iterator for i in nest.band])
            if not whole and not within_tiles(dependences(members, self.running), self.expansion):
                raise ScheduleError(
                    f"{self.where}: '{nest}' splits a dependence over two tiles; both instances must be in one tile"
                )
        if streamed := [n for n in nests if n.streamed]:
            self._check_streams(streamed)
        return self._depend(nests)

    def _executes_all(self, nests: Sequence[LoopNest]) -> bool:
        """Return whether tiles execute each statement instance, and no others. Tiles that cover the band of each nest
        do so if no statement is masked."""
        known = self.covered and not any(nest.tiled_blocks for nest in nests)
        if known and not any(s.conditions for s in self.statements.values()):
            return sorted(s for nest in nests for s in nest.statements) == sorted(self.statements)
        domain, required, executed = isl.UnionSet("{ }"), isl.UnionSet("{ }"), self.expansion.range()
        for s in self.statements.values():
            domain, required = domain.union(isl.UnionSet(s.domain)), required.union(isl.UnionSet(s.required))
        return bool(required.is_subset(executed) and executed.is_subset(domain))

    def _check_streams(self, nests: Sequence[LoopNest]) -> None:
        """Raise ScheduleError if blocks of a stream depend on each other by other arrays than running reductions, or
        blocks of another thread combine into the same results."""
        members = [self.statements[s] for nest in nests for s in nest.statements]
        if not within_tiles(dependences(members, self.running), self._of(self.streams)):
            raise ScheduleError(f"{self.where}: a block of '{nests[0]}' needs what another block of the stream makes")
        if not within_tiles(dependences(members), self._of(self.blocks)):
            raise ScheduleError(f"{self.where}: blocks before '{nests[0].streamed}' combine into the same results")

    def _in_blocks(self, pairs: Iterable[tuple[str, str]]) -> bool:
        """Return whether dependences between these pairs of statements stay within a block."""
        block_of = self._of(self.blocks)
        return all(within_tiles(between(self.statements[a], self.statements[b]), block_of) for a, b in pairs)

    def _of(self, blocks: str) -> isl.UnionMap:
        """Return the isl map from blocks to their statement instances."""
        return self.expansion.reverse().apply_range(isl.UnionMap(blocks)).reverse()

    def _depend(self, nests: Sequence[LoopNest]) -> bool:
        pairs = [(a, b) for x, y in itertools.combinations(nests, 2) for a in x.statements for b in y.statements]
        dependent = [pair for pair in pairs if not independent([self.statements[s] for s in pair])]
        order = {name: n for n, name in enumerate(self.statements)}
        inside = [pair for nest in nests for pair in itertools.pairwise(nest.statements)]
        if any(order[a] > order[b] for a, b in (*inside, *dependent)):
            raise ScheduleError(f"{self.where}: statements must keep their order {' '.join(self.statements)}")
        joined = {pair for pair in dependent if _run_in_same_blocks(pair, nests)}
        if joined and not self._in_blocks(joined):
            hint = "write ';' instead of '&'"
            raise ScheduleError(f"{self.where}: a block of nests joined by '&' needs results of another; {hint}")
        if len(dependent) > len(joined) and not all(n.serial for n in nests):
            raise ScheduleError(f"{self.where}: its nests depend on each other; name them 'serial'")
        return len(dependent) > len(joined)


def _run_in_same_blocks(pair: Sequence[str], nests: Sequence[LoopNest]) -> bool:
    """Return whether two statements run in the same blocks, the first before the second in each."""
    return any(all(any(s in n.statements for n in group) for s in pair) for group in groups_of(nests))
