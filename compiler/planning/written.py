"""A plan as text: for every argument, operator, shared value and result the states, and what they cost as a comment."""

from __future__ import annotations

from collections.abc import Iterator

from mlc.dialects.dist.states import text
from mlc.dialects.graph import source_nodes
from mlc.passes.distribute.choice.planned import write_state
from mlc.planning.codes import Joint, state_of
from mlc.planning.search import Search
from mlc.planning.usage import Move


def written(found: Search) -> str:
    """Return the plan; ``mlc.passes.distribute.choice.planned`` reads it."""
    graph = found.building.graph
    mesh = ",".join(f"{axis.name}={axis.ranks}" for axis in found.building.axes)
    lines = [*_summary(found), f"mesh {mesh}"]
    for n in range(len(graph.nodes)):
        lines += _node(found, n)
    for n, number in enumerate(graph.results):
        lines += [f"result {n} | {_states(found, [found.usage.wanted(n)])}"]
        lines += [_move(found, m) for m in found.usage.moves
                  if m.reader == len(graph.ops) and m.operand == n and m.value is graph.values[number]]  # fmt: skip
    return "\n".join(lines) + "\n"


def _summary(found: Search) -> Iterator[str]:
    usage, solution = found.usage, found.solution
    limit = "" if found.memory is None else f" of {found.memory:,.0f}"
    yield f"# a step: {seconds(usage.step)}; computing {seconds(usage.computing)}, links {seconds(usage.sending)}"
    yield f"# a rank sends {usage.sent:,.0f} bytes, and holds {usage.peak:,.0f}{limit} at most, at operator {usage.at}"
    gap = "no bound" if solution.bound == -float("inf") else f"at most {solution.gap:.2%} above the best"
    nodes = f"{len(found.building.problem.costs)} choices for {len(found.building.graph.nodes)} operators and arguments"
    yield f"# {nodes}; {solution.how}; {gap}"


def seconds(value: float) -> str:
    """Return a time in words: ``1.23 ms``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"


def _states(found: Search, joints: list[Joint], arrow: bool = False) -> str:
    """Return states axis by axis; ``arrow``: the last one is made of the others."""
    parts = []
    for k, axis in enumerate(found.building.axes):
        each = [write_state(state_of(joint[k])) for joint in joints]
        parts.append(f"{axis.name}: " + (f"{', '.join(each[:-1])} -> {each[-1]}".strip() if arrow else ", ".join(each)))
    return "; ".join(parts)


def _node(found: Search, n: int) -> Iterator[str]:
    graph, building = found.building.graph, found.building
    node = graph.nodes[n]
    option = node.options[found.solution.choice[building.of_kind[node.kind]]]
    values = [graph.values[v] for v in node.values]
    first = len(graph.main.args)
    held = sum(found.usage.bytes_of(v, option.makes) for v in values)
    type_ = str(values[0].x.type).removeprefix("tensor<").removesuffix(">") if values else "-"
    if node.op is None:
        yield f"argument {n} {node.name} {type_} | {_states(found, [option.makes])}  # {held:,.0f} bytes"
    elif len(values) == 1 and (node.op.operands or any(code >= 0 for code in option.makes)):
        for move in found.usage.moves:
            if move.reader == n - first and move.value.node != n:
                yield _move(found, move)
        states = _states(found, [*option.reads, option.makes], arrow=True)
        why = "; ".join(dict.fromkeys(w for w in option.why if w))
        costs = f"{seconds(found.usage.work(n - first))}, {held:,.0f} bytes: {why}"
        nodes = ", ".join(source_nodes(node.op))
        yield f"operator {n - first} {node.name} {type_} | {states}  # {costs}{f' ({nodes})' if nodes else ''}"
    for move in found.usage.moves:
        if move.reader is None and move.value.node == n:
            yield _move(found, move)
            where = f"argument {n} held" if node.op is None else f"held {n - first}"
            yield f"{where} | {_states(found, [move.target])}"


def _move(found: Search, move: Move) -> str:
    changes = [
        f"{axis.name}: {text(state_of(a))} → {text(state_of(b))}"
        for axis, a, b in zip(found.building.axes, move.source, move.target, strict=True) if a != b
    ]  # fmt: skip
    what = f"moved, {move.bytes:,.0f} bytes, {seconds(move.seconds)}" if move.bytes else "taken of what is there"
    return f"#   {what}: {'; '.join(changes)}"
