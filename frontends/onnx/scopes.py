"""Blocks that are being written, one inside the other."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Block, SSAValue


@dataclass
class Scope:
    """A block that is being written. ``used`` are the values around it that it reads, ``seen`` how it sees them."""

    block: Block
    used: list[SSAValue] = field(default_factory=list)
    seen: dict[SSAValue, SSAValue] = field(default_factory=dict)


def block_of(value: SSAValue) -> Block | None:
    """The block that defines ``value``."""
    return value.owner if isinstance(value.owner, Block) else value.owner.parent
