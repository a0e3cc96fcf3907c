"""A plan that is given: its lines fix options of a graph, and the search chooses what they leave out."""

from __future__ import annotations

from collections.abc import Iterable

from mlc.errors import InputError
from mlc.passes.distribute.choice.planned import Line, lines_of
from mlc.planning.codes import Joint, code_of
from mlc.planning.graph import Graph, Node
from mlc.planning.strategies import Option

HELD = "held"
Divided = dict[int, list[list[str]]]


def fix(graph: Graph, text: str) -> None:
    """Keep of each node that has a line the option that it names; nodes of different lines are no longer tied.

    Raises:
        InputError: a line of another program, or states that no strategy has; names the line.
    """
    operators: dict[int, Line] = {}
    held: dict[int, Line] = {}
    for line in lines_of(text):
        if line.kind == "result":
            _check(line, len(graph.results), graph)
            graph.fixed_results[line.number] = joints_of(graph, line)[0]
            continue
        first = len(graph.main.args) if line.kind != "argument" else 0
        _check(line, len(graph.ops) if first else len(graph.main.args), graph)
        is_held = line.kind == HELD or (line.kind == "argument" and line.what == HELD)
        (held if is_held else operators)[first + line.number] = line
    alike: dict[object, int] = {}
    for n, node in enumerate(graph.nodes):
        lines = operators.get(n), held.get(n)
        key = node.kind, *(None if line is None else tuple(sorted(line.states.items(), key=str)) for line in lines)
        node.kind = alike.setdefault(str(key), n)
        if lines[0] is not None:
            node.options = [_option(graph, node, lines[0])]
            graph.fixed_held.setdefault(node.kind, node.options[0].makes)
        if lines[1] is not None:
            graph.fixed_held[node.kind] = joints_of(graph, lines[1])[0]


def joints_of(graph: Graph, line: Line) -> list[Joint]:
    """Return the joint states of a line, one for each value that it names."""
    return list(zip(*(tuple(map(code_of, line.states[name])) for name in graph.names), strict=True))


def _option(graph: Graph, node: Node, line: Line) -> Option:
    joints = tuple(joints_of(graph, line))
    for each in node.options:
        if (*each.reads, each.makes) == joints:
            return each
    what = f"Line {line.at} of the plan: {node.name} has no strategy with these states on {graph.sizes} ranks"
    raise InputError(what, hint="Take states that the line has in the plan of another search, or leave the line out")


def _check(line: Line, count: int, graph: Graph) -> None:
    if line.number >= count or set(line.states) != set(graph.names):
        what = f"Line {line.at} of the plan does not fit: it is {line.kind} {line.number} of {count}"
        raise InputError(f"{what}, along {', '.join(line.states)}", hint="Search a new plan for this program")
    lengths = {len(states) for states in line.states.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise InputError(f"Line {line.at} of the plan names more states along one axis than along another",
                         hint="Give for each axis one state of each operand, '->', and that of the result")  # fmt: skip


def arguments_and_results(text: str, axes: Iterable[str]) -> tuple[Divided, Divided]:
    """Return how arguments and results are divided by a plan: for each dimension the names of axes."""
    found: tuple[Divided, Divided] = ({}, {})
    for line in lines_of(text):
        if line.kind in ("argument", "result") and line.what != HELD:
            dims: list[list[str]] = []
            for name in axes:
                if name in line.states and (code := code_of(line.states[name][0])) >= 0:
                    dims += [[] for _ in range(code + 1 - len(dims))]
                    dims[code].append(name)
            found[line.kind == "result"][line.number] = dims
    return found
