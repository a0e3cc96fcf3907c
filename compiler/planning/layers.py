"""The layers of a searched program as pipeline stages: a chain of operators that is cut where little crosses."""

from __future__ import annotations

from mlc.planning.search import Search
from mlc.planning.stages import Stages, one_forward_one_backward, stages
from mlc.planning.written import seconds

MOST_LAYERS = 200  # that the cut chooses among: its time grows with their square


def chain_of(found: Search) -> tuple[list[int], list[float], list[float], list[float]]:
    """Return pieces of the program: the operator after each, its seconds, the seconds to send what later pieces read,
    and the bytes of arguments that it is the first to read."""
    graph, usage, cluster = found.building.graph, found.usage, found.building.cluster
    count = len(graph.ops)
    first = len(graph.main.args)
    crossing, held = [0.0] * (count + 1), [0.0] * (count + 1)
    for value in graph.values:
        size = usage.bytes_of(value, usage.found(value))
        if value.made >= 0:
            crossing[value.made] += size
            crossing[max(value.last, value.made)] -= size
        elif value.readers:
            held[min(m for m, _ in value.readers) - first] += size
    work = [usage.work(n) for n in range(count)]
    for move in usage.moves:
        work[min(max(move.value.made, 0) if move.reader is None else move.reader, count - 1)] += move.seconds
    link = cluster.levels[-1].link
    ends, times, sends, memory, alive = [], [], [], [], 0.0
    step = -(-count // MOST_LAYERS)
    for begin in range(0, count, step):
        end = min(begin + step, count)
        alive += sum(crossing[begin:end])
        ends.append(end)
        times.append(sum(work[begin:end]))
        sends.append(link.seconds(1, int(alive)))
        memory.append(sum(held[begin:end]))
    return ends, times, sends, memory


def cut(found: Search, count: int) -> tuple[Stages, list[int]]:
    """Cut a program into stages; also return the operators at which they begin."""
    ends, times, sends, held = chain_of(found)
    made = stages(times, count, sends, held, memory=found.memory or float("inf"))
    return made, [0 if n == 0 else ends[n - 1] for n in made.starts]


def shown_stages(found: Search, count: int, micro: int) -> str:
    """Return the cut in words: the operators of each stage, and the bubble of 1F1B."""
    made, starts = cut(found, count)
    ends, times, _, _ = chain_of(found)
    bounds = [*made.starts, len(times)]
    each = [sum(times[a:b]) for a, b in zip(bounds, bounds[1:], strict=False)]
    step = one_forward_one_backward([t / 3 / micro for t in each], [2 * t / 3 / micro for t in each], micro)
    ideal = sum(each) / count
    lines = [f"# {count} stages, {micro} micro-batches: {seconds(made.bottleneck)} the slowest, "
             f"a step {seconds(step)}, bubble {step / ideal - 1:.1%}"]  # fmt: skip
    for n, (start, end) in enumerate(zip(starts, [*starts[1:], len(found.building.graph.ops)], strict=True)):
        lines.append(f"# stage {n}: operators {start} to {end - 1}, {seconds(each[n])}")
    return "\n".join(lines)
