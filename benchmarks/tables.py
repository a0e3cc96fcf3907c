"""The tables of a comparison, as text cells; printed by `benchmarks.compare`, written by `benchmarks.report`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.limits import HERE, unlimited
from benchmarks.results import OURS, Comparison, Result, Setup

MIB = 1 << 20
NAMES = {"onnxruntime": "onnxruntime", "openvino": "OpenVINO", "iree": "IREE", "tvm": "TVM", "torch": "PyTorch",
         "torch_compile": "torch.compile"}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A title, headings, and rows of as many cells."""

    title: str
    headings: list[str]
    rows: list[list[str]]

    def markdown(self) -> str:
        """The table without its title, for a page."""
        rows = [[cell.replace("|", "\\|") for cell in row] for row in (self.headings, *self.rows)]
        lines = [f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in row)}|" for row in rows]
        return "\n".join([lines[0], "|---" * len(self.headings) + "|", *lines[1:]])


def models(comparison: Comparison) -> list[Result]:
    """The results of whole models."""
    return [result for result in comparison.results if not result.model.startswith("op_")]


def operators(comparison: Comparison) -> list[Result]:
    """The results of models of one operator."""
    return [result for result in comparison.results if result.model.startswith("op_")]


def present(results: Sequence[Result], peers: Sequence[str]) -> list[str]:
    """The peers that ran at least one model."""
    return [peer for peer in peers if any(peer in result.latency.rounds for result in results)]


def latency(results: Sequence[Result], peers: Sequence[str]) -> Table:
    """mlc's time and each peer's as a ratio, a row a model, and at the end geometric means."""
    rows = [_latency_row(result, peers) for result in results]
    means = [_mean(_ratios(results, [peer])) for peer in peers]
    best = _mean(_ratios(results, peers))
    work, last = ["model", "GFLOP", "mlc ms", "GFLOP/s", "GB/s"], ["best peer", "ratio", "handover ns"]
    headings = [*work, *map(name_of, peers), *last]
    title = "latency; ratios: time of the peer / time of mlc, median and quartiles"
    return Table(title, headings, [*rows, ["geometric mean", "", "", "", "", *means, "", best, ""]])


def _latency_row(result: Result, peers: Sequence[str]) -> list[str]:
    ours = result.latency.median(OURS)
    figures = (result.gflop, ours * 1e3, result.gflop / ours, result.traffic / ours / 1e9)
    ratios = [_ratio(result, peer) for peer in peers]
    best = result.latency.best_peer(peers)
    last = [name_of(best), f"{result.latency.ratios(best)[1]:.2f}"] if best else ["–", "–"]
    handover = "–".join(dict.fromkeys(f"{ns:.0f}" for ns in result.handover if ns))
    return [f"`{result.model}`", *map(_digits, figures), *ratios, *last, handover]


def _ratio(result: Result, peer: str) -> str:
    if peer not in result.latency.rounds:
        return "–"
    low, ratio, high = result.latency.ratios(peer)
    return f"{ratio:.2f} [{low:.2f}–{high:.2f}]"


def _ratios(results: Iterable[Result], peers: Sequence[str]) -> list[float]:
    """The ratio of the fastest of some peers, for each model that one of them ran."""
    chosen = [(result, result.latency.best_peer(peers)) for result in results]
    return [result.latency.ratios(peer)[1] for result, peer in chosen if peer]


def _mean(ratios: Sequence[float]) -> str:
    return f"{np.exp(np.mean(np.log(ratios))):.2f}" if ratios else "–"


def means(groups: Mapping[str, Sequence[Result]], peers: Sequence[str]) -> Table:
    """Geometric means of the ratios, a row a group of results; in brackets how many models a peer took."""
    rows = []
    for group, results in groups.items():
        found = [_ratios(results, [peer]) for peer in peers]
        best = _ratios(results, peers)
        rows.append([group, *(f"{_mean(ratios)} ({len(ratios)})" for ratios in (*found, best))])
    return Table("geometric means of the ratios", ["of", *map(name_of, peers), "the best peer of each"], rows)


def compiling(results: Sequence[Result], peers: Sequence[str]) -> Table:
    """Seconds: mlc's compilation, cold and warm, and of each engine until the first output."""
    engines = (OURS, *peers)
    rows = [
        [f"`{result.model}`", *(f"{cost['seconds']:.2f}" for cost in (result.cold, result.warm)),
         *(_seconds(result.latency.loading.get(engine)) for engine in engines)]
        for result in results
    ]  # fmt: skip
    headings = ["model", "mlc cold", "mlc warm", *map(name_of, engines)]
    return Table("compilation of mlc, and every engine from the file to the first output, s", headings, rows)


def memory(results: Sequence[Result], peers: Sequence[str]) -> Table:
    """MiB: the model's file, the peak of compiling, the arena against its bound, the processes."""
    headings = ["model", "model file", "compile peak", "arena", "arena / bound", *map(name_of, (OURS, *peers))]
    rows = [_memory_row(result, (OURS, *peers)) for result in results]
    return Table("memory, MiB, of the processes last; bound = the most bytes live at once", headings, rows)


def _memory_row(result: Result, engines: Sequence[str]) -> list[str]:
    cold, resident = result.cold, result.latency.resident
    sizes = [_mib(size) for size in (result.model_bytes, cold["peak"], cold["arena"])]
    bound = f"{cold['arena'] / max(1, cold['bound']):.3f}"
    return [f"`{result.model}`", *sizes, bound, *(_mib(resident.get(engine)) for engine in engines)]


def note(setup: Setup) -> str:
    """What a named target means for the peers; empty where mlc compiles for this machine."""
    if setup.target == HERE:
        return ""
    free = [name_of(peer) for peer in unlimited(setup.peers, setup.target)]
    rest = f" {', '.join(free)} cannot be limited and may use all that this CPU has." if free else ""
    return f"mlc compiles for {setup.target}, and peers are kept to its instructions as far as they can be.{rest}"


def failures(comparison: Comparison) -> Table:
    """Which engine could not take which model, and why."""
    rows = [[f"`{model}`", OURS, reason] for model, reason in comparison.failed.items()]
    for result in comparison.results:
        rows += [[f"`{result.model}`", name_of(peer), why] for peer, why in result.latency.failures.items()]
    return Table("not measured", ["model", "engine", "reason"], rows)


def name_of(engine: str) -> str:
    """An engine as it calls itself."""
    return NAMES.get(engine, engine)


def _digits(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _mib(size: float | None) -> str:
    return "–" if size is None else f"{size / MIB:.1f}"


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
