"""The search for a plan: graph, problem, solution within the memory of a rank, and the plan as text."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from mlc.dialects.dist import MESH, MeshAttr
from mlc.errors import InputError
from mlc.planning.axes import axes_of
from mlc.planning.building import Building
from mlc.planning.cluster import Cluster
from mlc.planning.fixing import fix
from mlc.planning.graph import Graph
from mlc.planning.settings import Auto
from mlc.planning.solving.solve import Solution, solve
from mlc.planning.usage import Usage

ROUNDS = 6  # of limits for more points of the program


@dataclass(frozen=True)
class Search:
    """A solution, what it uses, and the CPU seconds of rules and of solving."""

    building: Building
    solution: Solution
    usage: Usage
    rules: float
    solving: float
    memory: float | None


def search(
    module: ModuleOp, cluster: Cluster, auto: Auto, updates: Mapping[int, int], divided_weights: bool = False,
    tied: bool = True,
) -> Search:  # fmt: skip
    """Search a plan for a module with a mesh, at the end of stage graph. ``updates``: results that replace arguments;
    ``divided_weights``: weights may be in parts, as those of a model are.

    Raises:
        InputError: no plan that was found fits in the memory of a rank; says how much the least one needs.
    """
    mesh = module.attributes[MESH]
    assert isinstance(mesh, MeshAttr)
    begin = time.process_time()
    graph = Graph(module, mesh.axes, updates, tied, divided_weights)
    if auto.given:
        fix(graph, auto.given)
    middle = time.process_time()
    building = Building(graph, axes_of(mesh, cluster), cluster)
    memory = auto.memory if auto.memory is not None else cluster.memory
    solution = _within(building, memory, auto)
    usage = Usage(building, solution.choice)
    return Search(building, solution, usage, middle - begin, time.process_time() - middle, memory)


def _within(building: Building, memory: float | None, auto: Auto) -> Solution:
    """Return a solution whose peak fits: a limit for the point of the program where the last one was over it."""
    problem = building.problem
    least = float("inf")
    for _ in range(ROUNDS):
        found = solve(problem, auto.seconds, auto.solver)
        if found is None:
            break
        usage = Usage(building, found.choice)
        least = min(least, usage.peak)
        if memory is None or usage.peak <= memory * (1 + 1e-9):
            return found
        limit = building.limit(usage.at, memory)
        over = usage.peak - limit.of(found.choice)  # what the limit does not count: copies that one operator reads
        problem.limits.append(building.limit(usage.at, max(memory - max(over, 0.0), 1.0)))
    what = f"No plan that was found fits in {memory or 0:,.0f} bytes a rank; the least needs {least:,.0f}"
    raise InputError(what, hint="Give more memory or more ranks, or let results follow arguments: results='auto'")
