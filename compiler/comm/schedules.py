"""Schedules of pipelines: which micro-batch each stage computes at each tick, forward (F) or backward (B).

Sources: Huang et al., "GPipe", 2019; Narayanan et al., "PipeDream", 2019, and "Efficient Large-Scale Language Model
Training on GPU Clusters Using Megatron-LM", 2021 (1F1B with a flush).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlc.errors import InputError

Step = tuple[str, int]
"""("F" or "B", number of the micro-batch)."""
NAMES = ("gpipe", "1f1b")


@dataclass(frozen=True)
class Schedule:
    """The steps of each stage at each tick; None: the stage is idle. All steps take a tick."""

    name: str
    stages: int
    micro: int
    ticks: tuple[tuple[Step | None, ...], ...]

    @staticmethod
    def of(name: str, stages: int, micro: int) -> Schedule:
        """``gpipe``: all micro-batches forward, then all backward. ``1f1b``: a stage goes backward as soon as it can.

        Raises:
            InputError: another name, or numbers below 1.
        """
        if name not in NAMES:
            raise InputError(f"There is no schedule '{name}' of pipelines", hint=f"Give one of {', '.join(NAMES)}")
        if stages < 1 or micro < 1:
            what = f"A pipeline cannot have {stages} stages and {micro} micro-batches"
            raise InputError(what, hint="Give 1 or more of each")
        ahead = [micro if name == "gpipe" else min(stages - rank, micro) for rank in range(stages)]
        return Schedule(name, stages, micro, _timed([_order(n, micro) for n in ahead], micro))

    @property
    def bubble(self) -> float:
        """The part of all ticks in which a stage is idle."""
        idle = sum(step is None for tick in self.ticks for step in tick)
        return idle / (len(self.ticks) * self.stages)

    @property
    def kept(self) -> int:
        """How many micro-batches a stage keeps inputs of at most."""
        return max(last - first + 1 for stage in range(self.stages) for first, last in self._alive(stage))

    def _alive(self, stage: int) -> list[tuple[int, int]]:
        """The first and last micro-batch that are kept, tick by tick: from where it comes until it went backward."""
        of_stage, before = [[tick[n] for tick in self.ticks] for n in (stage, max(stage - 1, 0))]
        came = [t + (stage > 0) for k in range(self.micro) for t in [before.index(("F", k))]]
        gone = [of_stage.index(("B", k)) for k in range(self.micro)]
        alive = [[k for k in range(self.micro) if came[k] <= t <= gone[k]] for t in range(len(self.ticks))]
        return [(each[0], each[-1]) for each in alive if each]

    def text(self) -> str:
        """The schedule as text: a line for each stage, a column for each tick."""
        width = len(f"F{self.micro - 1}")
        what = f"{self.stages} stages, {self.micro} micro-batches, {self.name}"
        lines = [
            f"{what}: bubble {self.bubble:.1%} of {len(self.ticks)} ticks, inputs of {self.kept} micro-batches kept"
        ]
        for stage in range(self.stages):
            steps = [tick[stage] for tick in self.ticks]
            shown = " ".join(("." if s is None else f"{s[0]}{s[1]}").ljust(width) for s in steps)
            lines.append(f"  stage {stage}  {shown}".rstrip())
        return "\n".join(lines)


def _order(ahead: int, micro: int) -> list[Step]:
    """The steps of a stage that begins with ``ahead`` steps forward, then goes backward and forward in turn."""
    steps: list[Step] = [("F", k) for k in range(ahead)]
    for k in range(micro):
        steps += [("B", k), *([("F", k + ahead)] if k + ahead < micro else [])]
    return steps


def _timed(orders: Sequence[Sequence[Step]], micro: int) -> tuple[tuple[Step | None, ...], ...]:
    """Each stage does its next step as soon as the tick before has what that reads."""
    stages, at, ticks = len(orders), [0] * len(orders), list[tuple[Step | None, ...]]()
    done: set[tuple[int, Step]] = set()
    while any(n < 2 * micro for n in at):
        steps = [orders[s][at[s]] if at[s] < 2 * micro else None for s in range(stages)]
        tick = tuple(step if step and _is_ready(s, step, stages, done) else None for s, step in enumerate(steps))
        done |= {(s, step) for s, step in enumerate(tick) if step}
        at = [n + (step is not None) for n, step in zip(at, tick, strict=True)]
        ticks.append(tick)
    return tuple(ticks)


def _is_ready(stage: int, step: Step, stages: int, done: set[tuple[int, Step]]) -> bool:
    kind, k = step
    if kind == "F":
        return stage == 0 or (stage - 1, step) in done
    return (stage, ("F", k)) in done and (stage == stages - 1 or (stage + 1, step) in done)
