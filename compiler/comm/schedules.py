"""Schedules of pipelines: which micro-batch each stage computes at each tick, forward (F) or backward (B).

Sources: Huang et al., "GPipe", 2019; Narayanan et al., "PipeDream", 2019, and "Efficient Large-Scale Language Model
Training on GPU Clusters Using Megatron-LM", 2021 (1F1B with a flush).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlc.errors import InputError

Step = tuple[str, int]
"""("F" or "B", number): of micro-batch k in chunk c of a stage's layers the number is c m + k, of m micro-batches."""
NAMES = ("gpipe", "1f1b", "interleaved")


@dataclass(frozen=True)
class Schedule:
    """The steps of each stage at each tick; None: the stage is idle. All steps take a tick."""

    name: str
    stages: int
    micro: int
    ticks: tuple[tuple[Step | None, ...], ...]
    chunks: int = 1

    @staticmethod
    def of(name: str, stages: int, micro: int, chunks: int = 1) -> Schedule:
        """``gpipe``: all micro-batches forward, then all backward. ``1f1b``: a stage goes backward as soon as it can.
        ``interleaved``: 1F1B of ``chunks`` chunks of layers on each stage, chunk c of all stages before chunk c + 1.

        Raises:
            InputError: another name, numbers below 1, chunks of a schedule that has none, or micro-batches that are no
                multiple of the stages of an interleaved one.
        """
        if name not in NAMES:
            raise InputError(f"There is no schedule '{name}' of pipelines", hint=f"Give one of {', '.join(NAMES)}")
        if stages < 1 or micro < 1 or chunks < 1:
            what = f"A pipeline cannot have {stages} stages, {micro} micro-batches and {chunks} chunks"
            raise InputError(what, hint="Give 1 or more of each")
        if name == "interleaved":
            return _interleaved(stages, micro, chunks)
        if chunks > 1:
            raise InputError(f"The schedule '{name}' has no chunks", hint="Give schedule='interleaved'")
        ahead = [micro if name == "gpipe" else min(stages - rank, micro) for rank in range(stages)]
        return Schedule(name, stages, micro, _timed([_order(n, micro) for n in ahead], micro, 1))

    @property
    def bubble(self) -> float:
        """The part of all ticks in which a stage is idle."""
        idle = sum(step is None for tick in self.ticks for step in tick)
        return idle / (len(self.ticks) * self.stages)

    @property
    def kept(self) -> int:
        """How many micro-batches a stage keeps inputs of at most, for each chunk."""
        both = [(stage, chunk) for stage in range(self.stages) for chunk in range(self.chunks)]
        return max(last - first + 1 for each in both for first, last in self._alive(*each))

    def _alive(self, stage: int, chunk: int) -> list[tuple[int, int]]:
        """The first and last micro-batch that are kept, tick by tick: from where it comes until it went backward."""
        at = {(s, step): t for t, tick in enumerate(self.ticks) for s, step in enumerate(tick) if step}
        numbers = range(chunk * self.micro, (chunk + 1) * self.micro)
        before = [_before(stage, n, self.stages, self.micro) for n in numbers]
        came = [at[stage, ("F", n)] if b is None else at[b] + 1 for n, b in zip(numbers, before, strict=True)]
        gone = [at[stage, ("B", n)] for n in numbers]
        alive = [[k for k in range(self.micro) if came[k] <= t <= gone[k]] for t in range(len(self.ticks))]
        return [(each[0], each[-1]) for each in alive if each]

    def text(self) -> str:
        """The schedule as text: a line for each stage, a column for each tick."""
        width = len(self._shown(("F", self.chunks * self.micro - 1)))
        what = f"{self.stages} stages, {self.micro} micro-batches, {self.name}"
        lines = [
            f"{what}: bubble {self.bubble:.1%} of {len(self.ticks)} ticks, "
            f"inputs of {self.kept} micro-batches kept{' a chunk' if self.chunks > 1 else ''}"
        ]
        for stage in range(self.stages):
            steps = [tick[stage] for tick in self.ticks]
            shown = " ".join(("." if s is None else self._shown(s)).ljust(width) for s in steps)
            lines.append(f"  stage {stage}  {shown}".rstrip())
        return "\n".join(lines)

    def _shown(self, step: Step) -> str:
        """A step as text; ``F3.1`` is micro-batch 3 in chunk 1."""
        chunk, k = divmod(step[1], self.micro)
        return f"{step[0]}{k}" + (f".{chunk}" if self.chunks > 1 else "")


def _interleaved(stages: int, micro: int, chunks: int) -> Schedule:
    """1F1B of chunks (Megatron-LM): groups of as many micro-batches as stages go through one chunk, then the next."""
    if micro % stages:
        what = f"{micro} micro-batches are no multiple of {stages} stages, which an interleaved pipeline needs"
        raise InputError(what, hint=f"Give {stages * -(-micro // stages)} micro-batches, or schedule='1f1b'")
    forward = [("F", _number(n, stages, micro, chunks)) for n in range(micro * chunks)]
    backward = [("B", (chunks - 1 - k // micro) * micro + k % micro) for _, k in forward]
    orders = []
    for rank in range(stages):
        ahead = min(2 * (stages - rank - 1) + (chunks - 1) * stages + 1, micro * chunks)
        pairs = zip(backward, [*forward[ahead:], *[None] * ahead], strict=True)
        orders.append([*forward[:ahead], *(step for pair in pairs for step in pair if step)])
    return Schedule("interleaved", stages, micro, _timed(orders, micro, chunks), chunks)


def _number(n: int, stages: int, micro: int, chunks: int) -> int:
    """The number of the n-th step forward."""
    group, within = divmod(n, stages * chunks)
    chunk, k = divmod(within, stages)
    return chunk * micro + group * stages + k


def _order(ahead: int, micro: int) -> list[Step]:
    """The steps of a stage that begins with ``ahead`` steps forward, then goes backward and forward in turn."""
    steps: list[Step] = [("F", k) for k in range(ahead)]
    for k in range(micro):
        steps += [("B", k), *([("F", k + ahead)] if k + ahead < micro else [])]
    return steps


def _timed(orders: Sequence[Sequence[Step]], micro: int, chunks: int) -> tuple[tuple[Step | None, ...], ...]:
    """Each stage does its next step as soon as the tick before has what that reads."""
    stages, at, ticks = len(orders), [0] * len(orders), list[tuple[Step | None, ...]]()
    done: set[tuple[int, Step]] = set()
    while any(n < len(order) for n, order in zip(at, orders, strict=True)):
        steps = [orders[s][at[s]] if at[s] < len(orders[s]) else None for s in range(stages)]
        ready = [step and _is_ready(s, step, stages, micro, chunks, done) for s, step in enumerate(steps)]
        tick = tuple(step if is_ready else None for step, is_ready in zip(steps, ready, strict=True))
        done |= {(s, step) for s, step in enumerate(tick) if step}
        at = [n + (step is not None) for n, step in zip(at, tick, strict=True)]
        ticks.append(tick)
    return tuple(ticks)


def _is_ready(stage: int, step: Step, stages: int, micro: int, chunks: int, done: set[tuple[int, Step]]) -> bool:
    kind, n = step
    if kind == "F":
        return (before := _before(stage, n, stages, micro)) is None or before in done
    after = (stage + 1, step) if stage < stages - 1 else (0, ("B", n + micro))
    is_last = stage == stages - 1 and n >= (chunks - 1) * micro
    return (stage, ("F", n)) in done and (is_last or after in done)


def _before(stage: int, n: int, stages: int, micro: int) -> tuple[int, Step] | None:
    """The stage and step whose result a step forward reads; None: it reads the batch."""
    if stage:
        return stage - 1, ("F", n)
    return (stages - 1, ("F", n - micro)) if n >= micro else None
