"""Convexity of fusion groups: no path of values leaves a group and returns, since that would make a cycle of
kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.ir import Operation, OpResult

if TYPE_CHECKING:
    from mlc.passes.fuse.grouping.groups import Group


@dataclass
class Convexity:
    """The operators seen so far, each in its group (``member``) or alone; both are called items.

    ``horizon`` of an item is the last position of an operator that is in it or that it depends on. A search for a group
    does not follow items whose horizon is before the group.
    """

    ops: Sequence[Operation]
    member: Mapping[Operation, Group]
    horizon: dict[Operation | Group, int] = field(default_factory=dict)
    readers: dict[Operation | Group, dict[Operation | Group, None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.made_by: dict[Operation, list[Operation]] = {}
        self.position = {op: n for n, op in enumerate(self.ops)}

    def nearest(self, op: Operation) -> list[Group]:
        """Return the groups that compute operands of ``op``, the latest operand first."""
        near = {self.member[o]: self.position[o] for o in self._producers(op) if o in self.member}
        return sorted(near, key=near.__getitem__, reverse=True)

    def stays_convex(self, group: Group, op: Operation) -> bool:
        """Return whether no path leads from ``group`` through other operators to ``op``."""
        oldest = self.position[group.ops[0]]
        near = (i for i in map(self._item, self._producers(op)) if i is not group)
        stack = [i for i in dict.fromkeys(near) if self.horizon[i] > oldest]
        seen = set(stack)
        while stack:
            for op in self._ops(stack.pop()):
                for item in map(self._item, self._producers(op)):
                    if item is group:
                        return False
                    if item not in seen and self.horizon.get(item, -1) > oldest:
                        seen.add(item)
                        stack.append(item)
        return True

    def note(self, op: Operation) -> None:
        """Record that ``op`` is in its group or alone: extend the horizon of its item, and of the items that depend on
        it."""
        own, near = self._item(op), [self._item(o) for o in self._producers(op)]
        for item in near:
            self.readers.setdefault(item, {})[own] = None
        reached = max(self.position[op], *(self.horizon.get(item, -1) for item in near), -1)
        stack = [own]
        while stack:
            item = stack.pop()
            if self.horizon.get(item, -1) < reached:
                self.horizon[item] = reached
                stack += self.readers.get(item, ())

    def _item(self, op: Operation) -> Operation | Group:
        return self.member.get(op, op)

    def _ops(self, item: Operation | Group) -> Sequence[Operation]:
        return [item] if isinstance(item, Operation) else item.ops

    def _producers(self, op: Operation) -> list[Operation]:
        """Return the operators that compute the operands of ``op``. They are cached, because they are needed many
        times."""
        if op not in self.made_by:
            self.made_by[op] = [v.op for v in op.operands if isinstance(v, OpResult)]
        return self.made_by[op]
