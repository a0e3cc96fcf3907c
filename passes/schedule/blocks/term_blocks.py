"""Schedule rule for long sums of products whose operands outgrow the caches: blocks of terms run one after another,
over rows and columns whose sums stay in L2. What follows the sums is a nest of its own, after the last block of terms.

    contraction: S0 S1 | f/2*16 fi/8v y/6*32+4*1 | c/16s ci
      →   contraction: S0 | f@4t c@8s f/2*4 fi/8v y/6*32+4*1 | c ci & elementwise: S1 | f@4t f y/8*24+4*1 fi/8v |

Sums are in the same order: a block of terms is what ``c/16s`` adds to the total.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlc.dialects.poly import LoopNest, TiledLoop
from mlc.passes.cost.cache_blocks import Product
from mlc.passes.schedule.polyhedral.statement_view import StatementView, epilogue_follows
from mlc.passes.schedule.rules.candidates import Rule, candidates
from mlc.passes.schedule.rules.contraction import roles_of
from mlc.passes.schedule.rules.nest_fusion import Cut, joined_nests
from mlc.passes.schedule.rules.operand_roles import OperandRoles
from mlc.target import CpuTarget


def term_blocks(
    statements: Sequence[StatementView], target: CpuTarget, rules: Sequence[Rule]
) -> Iterator[list[LoopNest]]:
    """Yield the nests of a sum in panels of vectors (a convolution of blocked channels) that outgrows the caches."""
    first, *rest = statements
    roles = roles_of(statements) if target.blocks_terms and epilogue_follows(statements) else None
    if roles is None or not roles.panels or not all(isinstance(n, int) for n in first.bounds.values()):
        return
    nest = next(candidates(statements, target, rules), None)
    terms = nest.inner[0] if nest and nest.inner else None
    if nest is None or terms is None or not terms.partial_sums:
        return
    found = _fewest_bytes([_Cuts(roles, nest, terms, depth) for depth in range(len(roles.rows))], target)
    if found:
        stages = [[first], *([rest] if rest else [])]
        cuts = [[*found, Cut(terms.iterator, terms.size, True)], *([found] if rest else [])]
        nests = joined_nests(stages, cuts, target, rules)
        if nests and not any(item.partial_sums for item in nests[0].inner):
            yield nests


def _extent(s: StatementView, iterator: str) -> int:
    extent = s.bounds[iterator]
    assert isinstance(extent, int)
    return extent


@dataclass(frozen=True)
class _Cuts:
    """The blocks of a sum that cut the rows number ``depth`` of its nest, and all points of the iterators before."""

    roles: OperandRoles
    nest: LoopNest
    terms: TiledLoop
    depth: int

    @property
    def before(self) -> list[str]:
        known = {*self.roles.rows, *self.roles.panels, self.roles.lanes}
        return [*(i for i in self.roles.s.parallel if i not in known), *self.roles.rows[: self.depth]]

    def product(self) -> Product:
        s, rows = self.roles.s, self.roles.rows
        every = self._points([i for i in s.parallel if i not in (*self.roles.panels, self.roles.lanes)])
        terms, last = self._points(s.reduced), s.reduced.index(self.terms.iterator)
        elements = math.prod(n for n in self.roles.a.shape if isinstance(n, int))
        sizes = {i.iterator: i.size for i in self.nest.band}
        return Product(
            outer=self._points(self.before),
            rows=_extent(s, rows[self.depth]),
            inner_rows=self._points(rows[self.depth + 1 :]),
            panels=self._points(self.roles.panels),
            width=_extent(s, self.roles.lanes),
            terms=terms,
            block=self.terms.size * self._points(s.reduced[last + 1 :]),
            reads=min(terms, elements / every),
            tile=(math.prod(sizes[i] for i in rows), sizes[self.roles.panels[-1]]),
        )

    def cuts(self, rows: int, panels: int) -> list[Cut]:
        wide = [(self.roles.rows[self.depth], rows), (self.roles.panels[-1], panels)]
        return [*(Cut(i, 1) for i in self.before), *(Cut(i, n) for i, n in wide if n < _extent(self.roles.s, i))]

    def _points(self, iterators: Sequence[str]) -> int:
        return math.prod(_extent(self.roles.s, i) for i in iterators)


def _fewest_bytes(ways: Sequence[_Cuts], target: CpuTarget) -> list[Cut]:
    """Return the blocks that read the fewest bytes from beyond L2, of these the largest; [] if the product stays in the
    caches, or no blocks fit."""
    if not ways or len(ways[0].roles.panels) != 1 or not ways[0].product().outgrows(target):
        return []
    found = [(moved, -rows * panels, n, rows, panels)
             for n, way in enumerate(ways) for moved, rows, panels in way.product().blocks(target)]  # fmt: skip
    if not found:
        return []
    *_, n, rows, panels = min(found)
    return ways[n].cuts(rows, panels)
