"""Pattern rewriting, with patterns indexed by operation class.

xDSL's greedy driver tries every pattern on every operation, never stops on a cycle and loses source locations. This
driver looks patterns up by class, raises an error that names the last pattern of a cycle, and copies the source nodes
to new operations.

xDSL's greedy driver tries every pattern on every operation, never stops on a cycle and loses source locations. This one
looks patterns up by class, stops a cycle with the name of the last pattern, and copies the source nodes to new
operations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.graph import RegionOp, SizedOp, source_nodes, with_nodes
from mlc.errors import MlcError

Op = TypeVar("Op", bound=Operation)
Rewrite = SSAValue | Sequence[Operation] | None
Pattern = Callable[[Any], Rewrite]
"""A pattern takes an operation and returns None (no match), the value that replaces its result, or a list of new
operations (in order, not yet inserted): the result of the last one replaces the operation's."""

CAP = 64  # rewrites for each operation of the module; canonicalizing real models takes fewer than two


def producer(value: SSAValue, kind: type[Op]) -> Op | None:
    """The operation that defines ``value``, if its class is ``kind``."""
    return value.owner if isinstance(value.owner, kind) else None


def bodies(module: ModuleOp) -> list[Block]:
    """The blocks of all functions of a graph module, each before the blocks of its loops and branches."""
    functions = [f.body.block for f in module.ops if isinstance(f, func.FuncOp) and f.body.blocks]
    return [block for function in functions for block in nested(function)]


def nested(block: Block) -> Iterator[Block]:
    """A block, and the blocks of its loops and branches."""
    yield block
    for op in block.ops:
        if isinstance(op, RegionOp):
            for inner in op.inner_blocks():
                yield from nested(inner)


def rewrite(module: ModuleOp, patterns: Mapping[type[Operation], Sequence[Pattern]]) -> bool:
    """Apply ``patterns`` to every operation, producers before readers, until no pattern matches; return whether one
    did.

    Raises:
        MlcError: more than ``CAP`` rewrites an operation: some patterns undo each other.
    """
    changed = [_rewrite_block(block, patterns) for block in bodies(module)]
    return any(changed)


def _rewrite_block(block: Block, patterns: Mapping[type[Operation], Sequence[Pattern]]) -> bool:
    work = deque(block.ops)
    waiting = set(work)
    left = CAP * (len(work) + 1)
    changed = False
    while work:
        op = work.popleft()
        waiting.discard(op)
        if op.parent is not block:
            continue
        for pattern in patterns.get(type(op), ()):
            found = pattern(op)
            if found is None:
                continue
            changed, left = True, left - 1
            if left < 0:
                raise _endless(pattern, op)
            affected = [o for o in replace(op, found) if o not in waiting]
            work.extend(affected)
            waiting.update(affected)
            break
    return changed


def _endless(pattern: Pattern, op: Operation) -> MlcError:
    message = f"Rewriting does not end; the last pattern was {pattern.__name__}"
    node = ", ".join(source_nodes(op)) or None
    return MlcError(message, op=op.name, node=node, stage="rewrite", hint="Report this as a bug")


def replace(op: Operation, found: SSAValue | Sequence[Operation]) -> list[Operation]:
    """Replace ``op`` by ``found``, erase ``op``, and return the operations to visit again."""
    new = [] if isinstance(found, SSAValue) else list(found)
    value = found if isinstance(found, SSAValue) else new[-1].results[0]
    block = op.parent
    assert block is not None
    inherit(new, source_nodes(op))
    block.insert_ops_before(new, op)
    users = [use.operation for use in op.results[0].uses]
    if value.name_hint is None:
        value.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(value)
    producers = [v.owner for v in op.operands if isinstance(v.owner, Operation)]
    op.detach()
    op.erase()
    unused = erase_unused(producers)
    return [o for o in dict.fromkeys((*new, *users)) if o not in unused]


def inherit(ops: Iterable[Operation], nodes: Sequence[str]) -> None:
    """Set the source nodes ``nodes`` on each of ``ops`` that has none."""
    for op in ops:
        if not source_nodes(op):
            with_nodes(op, nodes)


def erase_unused(candidates: Iterable[Operation]) -> set[Operation]:
    """Erase each of ``candidates`` that is pure and has no reader, then its producers likewise; return the erased
    operations."""
    stack, erased = list(candidates), set()
    while stack:
        op = stack.pop()
        kept = isinstance(op, SizedOp | RegionOp) or not op.results
        if op in erased or kept or any(r.uses.get_length() for r in op.results):
            continue
        stack += [v.owner for v in op.operands if isinstance(v.owner, Operation)]
        op.detach()
        op.erase()
        erased.add(op)
    return erased
