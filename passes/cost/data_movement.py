"""Data movement between threads: the cost of reading what other threads wrote, and of reading the same data in every
thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import OpResult, SSAValue

from mlc.dialects import kernel
from mlc.dialects.graph import BitcastOp, ConcatOp, ReshapeOp, SliceOp
from mlc.dialects.types import bytes_of
from mlc.passes.cost.load_imbalance import PAIR
from mlc.passes.cost.partitioned_kernel import PartitionedKernel


@dataclass(eq=False)
class Edge:
    """An argument of the kernel ``user`` and the kernels that compute it (``makers``, each with the number of its
    result). Weights and inputs have no makers. ``count``: the number of calls with this edge."""

    user: PartitionedKernel
    argument: int
    size: int
    makers: tuple[tuple[PartitionedKernel, int], ...]
    count: int

    def __post_init__(self) -> None:
        self.ends = (self.user, *(maker for maker, _ in self.makers))
        self._costs: dict[tuple[str | None, ...], float] = {}

    def cost(self) -> float:
        """Return the seconds that a thread waits for data that it has not written itself, or that all threads read."""
        choices = tuple([end.chosen for end in self.ends])
        if (known := self._costs.get(choices)) is None:
            known = self._costs[choices] = self._cost()
        return known

    def _cost(self) -> float:
        wanted, target = self.user.share(self.argument), self.user.target
        if not self.makers:
            extra = self.user.extra_weight_reads() if wanted is None else 0
            return extra * self.size / (PAIR * target.rates.l3_bytes)
        if wanted is None:
            return self.size / target.handover_bytes
        strange = sum(maker.share(n) != wanted for maker, n in self.makers)
        return self.size / 2 * strange / len(self.makers) / target.handover_bytes


def edges_of_calls(calls: Sequence[kernel.CallOp], kernels: Mapping[str, PartitionedKernel]) -> list[Edge]:
    """Return each distinct edge, with its number of calls."""
    return [Edge(*key, count) for key, count in Counter(_keys(calls, kernels)).items()]


def _keys(
    calls: Sequence[kernel.CallOp], kernels: Mapping[str, PartitionedKernel]
) -> Iterator[tuple[PartitionedKernel, int, int, tuple[tuple[PartitionedKernel, int], ...]]]:
    for call in calls:
        user = kernels.get(call.callee.root_reference.data)
        for n, value in enumerate(call.args):
            size, makers = bytes_of(value), [made for r in _roots(value) if (made := _maker(r, kernels))]
            if user is not None and isinstance(size, int):
                yield user, n, size, tuple(makers)


def _maker(value: SSAValue, kernels: Mapping[str, PartitionedKernel]) -> tuple[PartitionedKernel, int] | None:
    """Return the kernel that computes a value, and the number of its argument for the value; None if no kernel does."""
    if not isinstance(value, OpResult) or not isinstance(call := value.owner, kernel.CallOp):
        return None
    maker = kernels.get(call.callee.root_reference.data)
    return (maker, len(call.args) + value.index) if maker else None


def _roots(value: SSAValue) -> Iterator[SSAValue]:
    """Yield the values whose memory ``value`` shares."""
    match value.owner:
        case ReshapeOp() | BitcastOp() | SliceOp():
            yield from _roots(value.owner.input)
        case ConcatOp():
            for part in value.owner.args:
                yield from _roots(part)
        case _:
            yield value
