"""Whether mlc gives for graphs of open sizes what onnxruntime gives: the same values, or both an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
import onnxruntime
from agree import UNKNOWN, Values, compare, evaluated, wrong
from grow_sized import grown_sized
from growing import drawn, joined, opsets, prefixed
from leaks import own_allocations
from sized import RUNS

import mlc
from mlc.errors import RunError


class Case:
    """A graph, its inputs in each run, and what onnxruntime gives: values, or an error as text."""

    def __init__(self, seed: int, size: int, alone: bool) -> None:
        g = grown_sized(seed, size)
        prefix = "" if alone else f"s{seed}_"
        self.seed, self.runs = seed, g.runs
        self.model = g.model() if alone else prefixed(g.model(), prefix)
        self.feeds: list[Values] = []
        for n in range(RUNS):
            random = np.random.default_rng((seed, n))
            self.feeds.append({prefix + x: drawn(random, g.sizes[x][n] or (), g.types[x]) for x in g.inputs})
        self.wanted = self._references()

    def _references(self) -> list[Values | str]:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level, options.intra_op_num_threads = 4, 1
        names = [o.name for o in self.model.graph.output]
        try:
            session = onnxruntime.InferenceSession(self.model.SerializeToString(), options)
        except Exception as error:
            return [_short(error)] * RUNS
        found: list[Values | str] = []
        for feed in self.feeds:
            try:
                found.append(dict(zip(names, session.run(names, feed), strict=True)))
            except Exception as error:
                found.append(_short(error))
        return found

    def fits(self, n: int) -> bool:
        return not isinstance(self.wanted[n], str)


def size_differences(seeds: Sequence[int], size: int = 8, sanitize: str = "") -> str:
    """What is wrong with graphs, a line each."""
    cases = [Case(seed, size, len(seeds) == 1) for seed in seeds]
    lines = [f"{UNKNOWN}: {case.wanted[0]}" for case in cases if not case.fits(0)]
    cases = [case for case in cases if case.fits(0)]
    for _, part in groupby(cases, lambda case: opsets(case.model)[""]):
        lines += _together(list(part), sanitize)
    return "\n".join(dict.fromkeys(lines))


def _together(cases: list[Case], sanitize: str) -> Iterator[str]:
    threads = 1 + cases[0].seed % 3
    whole = cases[0].model if len(cases) == 1 else joined([case.model for case in cases])
    with own_allocations(), mlc.compile(whole, threads=threads, sanitize=sanitize) as net:
        for n in range(RUNS):
            fit = [case for case in cases if case.fits(n)]
            found = _run(net, cases, {case.seed: n for case in fit})
            for case in fit:
                alone = _run(net, cases, {case.seed: n}) if isinstance(found, str) else found
                yield from _judge(case, n, alone)
            for case in cases:
                if not case.fits(n):
                    yield from _judge(case, n, _run(net, cases, {case.seed: n}))


def _run(net: mlc.Model, cases: Sequence[Case], at: dict[int, int]) -> Values | str:
    """The results of a run, others at the sizes that fit; the error where there is one that a user may see."""
    feed = {name: value for case in cases for name, value in case.feeds[at.get(case.seed, 0)].items()}
    try:
        return net.run(feed)
    except RunError as error:
        return _short(error)


def _judge(case: Case, n: int, found: Values | str) -> Iterator[str]:
    """What is wrong with a run; where onnxruntime is alone with its answer, onnx's evaluator is the judge."""
    wanted, sizes = case.wanted[n], ", ".join(f"{k}={v}" for k, v in case.runs[n].items())
    if isinstance(found, str) and not isinstance(wanted, str):
        other = evaluated(case.model, case.feeds[n])
        alone = isinstance(other, str) or any(compare(wanted, other)) or any(np.size(v) == 0 for v in wanted.values())
        yield f"{UNKNOWN}: at {sizes}: {found}" if alone else f"at {sizes}: refused: {found}"
    elif isinstance(wanted, str) and not isinstance(found, str):
        other = evaluated(case.model, case.feeds[n])
        alone = not isinstance(other, str) and not any(compare(found, other))
        alone = alone or any(np.size(value) == 0 for value in found.values())  # which it reshapes to no -1
        yield f"{UNKNOWN}: at {sizes}: {wanted}" if alone else f"at {sizes}: accepted; onnxruntime: {wanted}"
    elif not isinstance(wanted, str) and not isinstance(found, str) and any(compare(found, _with_elements(wanted))):
        yield from (_with(sizes, line) for line in wrong(case.model, case.feeds[n], found))


def _with_elements(values: Values) -> Values:
    """Without outputs of no elements, which onnxruntime gives any rank where a loop has made none."""
    return {name: value for name, value in values.items() if np.size(value)}


def _with(sizes: str, line: str) -> str:
    return line if line.startswith(UNKNOWN) else f"at {sizes}: {line}"


def _short(error: Exception) -> str:
    return str(error)[:300].replace("\n", " ")
