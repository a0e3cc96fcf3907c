"""Random graphs whose inputs have open sizes: a step at a time, on values that are there."""

from __future__ import annotations

from math import prod

from growing import reads
from onnx import ModelProto
from size_loops import LOOPS
from size_moves import MOVES
from size_steps import STEPS
from size_sums import BRANCHES, SUMS
from size_values import VALUES
from size_windows import WINDOWS
from sized import Misfit, Sized, sized

TRIES = 40  # steps of which some do not fit


def grown_sized(seed: int, size: int = 8) -> Sized:
    """A graph of about ``size`` steps; the same for the same seed."""
    g = sized(seed)
    families = [STEPS, WINDOWS, SUMS, MOVES, (BRANCHES, LOOPS, VALUES)[seed % 3]]
    wanted = g.random.randint(2, size)
    for _ in range(TRIES):
        before = len(g.sizes)
        try:
            g.random.choice(g.random.choice(families))(g)
        except (Misfit, IndexError):
            continue
        wanted -= len(g.sizes) > before
        if wanted <= 0:
            break
    g.make("Identity", [next(reversed(g.sizes))], lambda s: s)
    _drop_misfits(g)
    _flatten_ends(g)
    return g


def _drop_misfits(g: Sized) -> None:
    """Without the nodes of steps that did not fit, which nothing reads and onnxruntime runs."""
    needed = set(g.sizes)
    for node in reversed(g.nodes):
        needed |= set() if needed.isdisjoint(node.output) else reads(node)
    g.nodes[:] = [node for node in g.nodes if not needed.isdisjoint(node.output)]


def _flatten_ends(g: Sized) -> None:
    """No result has other ranks in some runs than in others: an output has one."""
    read = {name for node in g.nodes for name in node.input}
    varies = any(node.op_type == "If" for node in g.nodes)
    ranks = {name: {s and len(s) for s in sizes if s is not None or varies} for name, sizes in g.sizes.items()}
    for name in [n for n in g.sizes if n not in read and len(ranks[n]) > 1]:
        g.make("Reshape", [name, g.constant([-1])], lambda s: [prod(s)])


def sized_model(seed: int, size: int = 8) -> ModelProto:
    return grown_sized(seed, size).model()
