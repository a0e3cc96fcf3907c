"""The options of an operator on a mesh: a strategy along each axis, as the rules have them, that go together."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from mlc.dialects.dist import ShardOp, State
from mlc.dialects.dist.states import WHOLE, PartialAttr
from mlc.dialects.graph import GraphOp
from mlc.dialects.types import shape_of
from mlc.passes.distribute.choice.matching import linear_strategy
from mlc.passes.distribute.rules.derive import rules_of
from mlc.passes.distribute.rules.strategy import Rules, Strategy, whole
from mlc.planning.codes import ALL, SUM, WINDOWS, Joint, code_of, divided

PARTIAL = PartialAttr.of("add")
MOST_SUMMANDS = 4  # operands of which all sets are tried for partial sums; of more: each alone, and all


@dataclass(frozen=True)
class Option:
    """The joint state of each operand and of the result, by how many ranks the work is divided, and why."""

    reads: tuple[Joint, ...]
    makes: Joint
    share: int
    why: tuple[str, ...]


@dataclass(frozen=True)
class _Along:
    """A strategy along one axis, in codes."""

    reads: tuple[int, ...]
    makes: int
    divides: bool
    special: bool
    why: str


def options_of(op: GraphOp, axes: Sequence[int]) -> list[Option]:
    """Return the options of an operator along axes of so many ranks; that of whole operands is the first."""
    each = [list(_along(op, ranks)) for ranks in axes]
    shapes = [shape_of(x) for x in (*op.operands, op.results[0])]
    found = []
    for chosen in itertools.product(*each):
        if _together(chosen, shapes, axes):
            reads = tuple(zip(*(s.reads for s in chosen), strict=True)) if op.operands else ()
            share = prod(ranks for s, ranks in zip(chosen, axes, strict=True) if s.divides)
            found.append(Option(reads, tuple(s.makes for s in chosen), share, tuple(s.why for s in chosen)))
    return found


def constrained(op: ShardOp, names: Sequence[str]) -> Option:
    """Return the one option of a tensor that the user divides."""
    joint = tuple(code_of(op.sharding.state(name)) for name in names)
    return Option((joint,), joint, 1, ("the user divides it",) * len(names))


def _along(op: GraphOp, ranks: int) -> Iterator[_Along]:
    """Yield the strategies along one axis; of several with the same states the first, which the partitioner takes."""
    rules = rules_of(op, ranks) if ranks > 1 and op.operands else Rules(())
    seen = set()
    refused = "; ".join(rules.refused)
    for s in (whole(len(op.operands), refused or "whole"), *rules.strategies, *(_linear(op) if ranks > 1 else ())):
        if (s.operands, s.result) not in seen:
            seen.add((s.operands, s.result))
            special = s.gathers is not None or bool(s.counts)
            yield _Along(tuple(map(code_of, s.operands)), code_of(s.result), s.divides, special, s.why)


def _linear(op: GraphOp) -> Iterator[Strategy]:
    """Yield the strategies that keep partial sums."""
    count = len(op.operands)
    sizes = range(1, count + 1) if count <= MOST_SUMMANDS else (1, count)
    for size in sizes:
        for partial in itertools.combinations(range(count), size):
            states: tuple[State, ...] = tuple(PARTIAL if n in partial else WHOLE for n in range(count))
            if (found := linear_strategy(op, states)) is not None:
                yield found


def _together(chosen: Sequence[_Along], shapes: Sequence[Sequence[object]], axes: Sequence[int]) -> bool:
    """Return whether the strategies of several axes go together: every dimension has equal blocks, windows have a
    dimension of their own, sums are of one kind, and what reads by the number of a rank comes last."""
    if any(s.special and any(t.makes != ALL for t in chosen[k + 1 :]) for k, s in enumerate(chosen)):
        return False
    if len({s.makes for s in chosen if s.makes <= SUM}) > 1:
        return False
    return all(fits([s.reads[n] if n < len(s.reads) else s.makes for s in chosen], shape, axes)
               for n, shape in enumerate(shapes))  # fmt: skip


def fits(joint: Sequence[int], shape: Sequence[object], axes: Sequence[int]) -> bool:
    """Return whether a tensor has equal blocks in a joint state."""
    blocks: dict[int, int] = {}
    for code, ranks in zip(joint, axes, strict=True):
        dim = divided(code)
        if dim is None:
            continue
        if dim in blocks and (code >= WINDOWS or blocks[dim] == 0):
            return False
        blocks[dim] = 0 if code >= WINDOWS else blocks.get(dim, 1) * ranks
    return all(ranks == 0 or (isinstance(shape[dim], int) and shape[dim] % ranks == 0)  # type: ignore[operator]
               for dim, ranks in blocks.items())  # fmt: skip


def arguments_of(shape: Sequence[object], axes: Sequence[int]) -> list[Joint]:
    """Return the joint states of an argument: along each axis whole, or one dimension in equal blocks."""
    dims = [n for n, extent in enumerate(shape) if isinstance(extent, int) and extent > 1]
    each = [[ALL, *(d for d in dims if ranks > 1)] for ranks in axes]
    return [joint for joint in itertools.product(*each) if fits(joint, shape, axes)]
