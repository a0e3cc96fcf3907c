"""Statement fusion: neighbouring statements of a tile run in the same loops."""

from __future__ import annotations

from collections.abc import Sequence

from mlc.passes.schedule.polyhedral.statement_view import StatementView


def fusable_groups(statements: Sequence[StatementView]) -> list[list[StatementView]]:
    """Return groups of statements with one iteration space that do not read each other's results. A reduction may end a
    group and read results of the same point: the sum of a softmax reads the powers."""
    groups: list[list[StatementView]] = []
    for s in statements:
        if groups and _fuses(groups[-1], s):
            groups[-1].append(s)
        else:
            groups.append([s])
    return groups


def _fuses(group: Sequence[StatementView], s: StatementView) -> bool:
    if any(t.op.monoid or t.bounds != s.bounds for t in group):
        return False
    written = {t.write.array: t.write for t in group}
    if any(r.array == s.write.array for t in group for r in t.reads):
        return False
    return all(r.array not in written or s.op.monoid and r == written[r.array] for r in s.reads)
