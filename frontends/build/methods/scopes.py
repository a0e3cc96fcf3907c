"""Scopes: nested blocks under construction, and the values that they capture."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Block, SSAValue


@dataclass
class Scope:
    """A block under construction. It reads the ``captured`` values around it as its ``arguments``."""

    block: Block
    captured: list[SSAValue] = field(default_factory=list)
    arguments: dict[SSAValue, SSAValue] = field(default_factory=dict)


def block_of(value: SSAValue) -> Block | None:
    """The block that defines ``value``."""
    return value.owner if isinstance(value.owner, Block) else value.owner.parent
