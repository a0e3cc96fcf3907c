"""The payload of a program: its weights, then the first values of its state in the order of their memory."""

from __future__ import annotations

from dataclasses import dataclass

from mlc.dialects import rt
from mlc.dialects.types import bytes_of
from mlc.passes.plan.program.arena import ALIGN


@dataclass(frozen=True)
class PayloadLayout:
    """The layout of the payload.

    ``entries``: (offset, entry), in order. In bytes: ``weights``, all weights; ``first_values``, the first values of
    state after them; ``state_bytes``, the memory of the state, which begins with these values.
    """

    entries: list[tuple[int, str]]
    weights: int
    first_values: int
    state_bytes: int


def states_of(program: rt.ProgramOp) -> list[tuple[rt.StateOp, int, int]]:
    """Return the state of a program in the order of its arguments, each with its offset and bytes."""
    found = [o for o in program.body.block.ops if isinstance(o, rt.StateOp)]
    return [(o, o.offset.value.data if o.offset is not None else 0, _bytes(o)) for o in found]


def payload_layout(program: rt.ProgramOp) -> PayloadLayout:
    ops = [o for o in rt.walk(program.body.block) if isinstance(o, rt.WeightOp)]
    entries = sorted({(o.offset.value.data, o.entry.data) for o in ops if o.offset is not None})
    ends = {o.offset.value.data + _aligned(_bytes(o)) for o in ops if o.offset is not None}
    weights, states = max(ends, default=0), states_of(program)
    first = sorted((at, o.entry.data) for o, at, _ in states if o.entry is not None)
    entries += [(weights + at, entry) for at, entry in first]
    copied = max((at + _aligned(size) for o, at, size in states if o.entry is not None), default=0)
    return PayloadLayout(entries, weights, copied, max((at + _aligned(size) for _, at, size in states), default=0))


def _bytes(op: rt.WeightOp | rt.StateOp) -> int:
    size = bytes_of(op.result)
    assert isinstance(size, int)
    return size


def _aligned(size: int) -> int:
    return -(-size // ALIGN) * ALIGN
