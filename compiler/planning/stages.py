"""Pipeline stages: a chain of layers is cut where the slowest stage is fastest; the schedule 1F1B is played through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from mlc.errors import InputError


@dataclass(frozen=True)
class Stages:
    """``starts``: the first layer of each stage; ``bottleneck``: the seconds of the slowest one."""

    starts: tuple[int, ...]
    bottleneck: float


def stages(
    seconds: Sequence[float], count: int, sends: Sequence[float] | None = None, held: Sequence[float] | None = None,
    saved: Sequence[float] | None = None, memory: float = float("inf"),
) -> Stages:  # fmt: skip
    """Cut layers into ``count`` stages with the least bottleneck, by dynamic programming.

    ``seconds[n]``: layer n, forward and backward; ``sends[n]``: what a cut after it costs; ``held[n]``: its bytes of
    parameters, gradients and optimizer; ``saved[n]``: bytes of a micro-batch from its forward to its backward pass, of
    which stage s of p keeps p − s at a time (1F1B). Source: Narayanan et al. 2019 (PipeDream).

    Raises:
        InputError: fewer layers than stages, or no cut whose stages fit in ``memory``.
    """
    layers = len(seconds)
    if not 1 <= count <= layers:
        raise InputError(f"{layers} layers are no {count} stages", hint=f"Give 1 to {layers} stages")
    time, bytes_held, bytes_saved = (_sums(each, layers) for each in (seconds, held, saved))
    cuts = [*(sends or [0.0] * layers)][:-1] + [0.0]

    def stage(first: int, end: int, number: int) -> float:
        kept = bytes_held[end] - bytes_held[first] + (count - number) * (bytes_saved[end] - bytes_saved[first])
        return time[end] - time[first] + cuts[end - 1] if kept <= memory else float("inf")

    best = [stage(0, end, 0) if end else float("inf") for end in range(layers + 1)]
    back: list[list[int]] = []
    for number in range(1, count):
        found = [min(((max(best[cut], stage(cut, end, number)), cut) for cut in range(number, end)),
                     default=(float("inf"), 0)) for end in range(layers + 1)]  # fmt: skip
        best = [value for value, _ in found]
        back.append([cut for _, cut in found])
    if best[layers] == float("inf"):
        raise InputError(f"No cut into {count} stages fits in {memory:,.0f} bytes a rank", hint="Take more stages")
    starts, end = [0] * count, layers
    for number in range(count - 1, 0, -1):
        starts[number] = end = back[number - 1][end]
    return Stages(tuple(starts), best[layers])


def _sums(values: Sequence[float] | None, count: int) -> list[float]:
    return [0.0, *accumulate(values or [0.0] * count)]


def one_forward_one_backward(
    forward: Sequence[float], backward: Sequence[float], micro: int, sends: Sequence[float] | None = None
) -> float:
    """Return the seconds of a step of ``micro`` micro-batches on stages of these seconds each, by the schedule 1F1B.

    Stage s of p first runs min(p − s − 1, micro) forward passes, then one forward and one backward pass in turn.
    ``sends[s]``: the seconds from stage s to the next, and back. Source: Narayanan et al. 2021 (Megatron-LM).
    """
    count = len(forward)
    wait = sends or [0.0] * count
    done: dict[tuple[str, int, int], float] = {}
    free = [0.0] * count
    queues = [_order(min(count - s - 1, micro), micro) for s in range(count)]
    while any(queues):
        for s, queue in enumerate(queues):
            while queue and (ready := _ready(done, wait, count, s, *queue[0])) is not None:
                kind, number = queue.pop(0)
                free[s] = max(free[s], ready) + (forward if kind == "forward" else backward)[s]
                done[kind, s, number] = free[s]
    return max(free)


def _order(first: int, micro: int) -> list[tuple[str, int]]:
    found = [("forward", n) for n in range(first)]
    for n in range(micro):
        found += [("forward", n + first)] if n + first < micro else []
        found.append(("backward", n))
    return found


def _ready(
    done: dict[tuple[str, int, int], float], wait: Sequence[float], count: int, s: int, kind: str, number: int
) -> float | None:
    """Return when the input of a pass has come; None: not yet known."""
    if kind == "forward":
        given = 0.0 if s == 0 else done.get(("forward", s - 1, number))
        return given if s == 0 or given is None else given + wait[s - 1]
    given = done.get(("forward", s, number)) if s == count - 1 else done.get(("backward", s + 1, number))
    return given if s == count - 1 or given is None else given + wait[s]
