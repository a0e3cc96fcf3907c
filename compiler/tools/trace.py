"""A trace of a run for Perfetto: the launches, in a track for each thread."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mlc.tools.kernel_profile import RUNS, operator_of, profile

if TYPE_CHECKING:
    from mlc.runtime import Model

Event = tuple[Mapping[str, Any], int, int, int]  # the entry of the signature, thread, begin and end in ns


def trace(model: Model, inputs: Mapping[str, Any], runs: int = RUNS) -> str:
    """Return a trace of the fastest of some runs, in the JSON of Chrome's trace viewer, which Perfetto opens.

    Each part of a launch that a thread executes is an event of the thread's track. A model on a GPU has one track, of
    median times one after another. Times are microseconds. Source: the Trace Event Format, complete events ("ph": "X")
    and names of threads ("ph": "M").
    """
    on_device = model.signature["target"].startswith("cuda")
    events = _in_order(model, inputs, runs) if on_device else _fastest(model, inputs, runs)
    threads = sorted({thread for _, thread, _, _ in events})
    made = [*map(_track, threads), *map(_event, events)]
    return json.dumps({"traceEvents": made, "displayTimeUnit": "ns", "otherData": {"model": model.name}})


def _fastest(model: Model, inputs: Mapping[str, Any], runs: int) -> list[Event]:
    found = [model.trace(**inputs) for _ in range(runs)]
    return list(min(found, key=lambda run: max((end for *_, end in run), default=0)))


def _in_order(model: Model, inputs: Mapping[str, Any], runs: int) -> list[Event]:
    events, start = list[Event](), 0
    for launch in profile(model, inputs, runs):
        end = start + round(launch.seconds * 1e9)
        events.append((launch.kernel, 0, start, end))
        start = end
    return events


def _track(thread: int) -> dict[str, Any]:
    name = f"thread {thread}" if thread else "thread 0 (the caller)"
    return {"name": "thread_name", "ph": "M", "pid": 0, "tid": thread, "args": {"name": name}}


def _event(event: Event) -> dict[str, Any]:
    kernel, thread, begin, end = event
    about = {key: kernel[key] for key in ("flops", "bytes", "nodes", "schedule")}
    place = {"name": kernel["name"], "cat": operator_of(kernel), "ph": "X", "pid": 0, "tid": thread}
    return place | {"ts": begin / 1e3, "dur": (end - begin) / 1e3, "args": about}
