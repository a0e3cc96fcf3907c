"""Draws the pictures of the README: ``pip install matplotlib && python docs/pictures.py``.

``speed.svg`` is a chart of the table of latencies in ``benchmarks.md``, ``pipeline.svg`` the levels of the IR.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

DOCS = Path(__file__).parent
ROW = re.compile(r"\| `(\w+)` \|(?: [^|]* \|){4} ([\d.]+) [^|]*\| ([\d.]+) [^|]*\|")
LONGEST = 2.5  # of a bar
PEERS = {"onnxruntime": "#4472a8", "OpenVINO": "#c8802e"}
LEVELS = (
    ("graph", "operators\non tensors", "fold, simplify, fuse maps,\nblocked layouts, fusion groups"),
    ("kernel", "statements,\ndomains, accesses", "schedules: tiles, order,\nparallel loops; isl proves\nthem legal"),
    ("loops", "loops, vectors,\nscalars", "register tiles, shared memory,\ntensor cores"),
    ("rt", "launches over\nplanned memory", "arena, views, barriers,\nhost program"),
    ("C, CUDA", "one library,\nonly libc", "the C compiler, nvcc"),
)
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "mlc", "font.family": "sans-serif", "font.size": 10}


def ratios(page: str) -> dict[str, tuple[float, float]]:
    """The times of onnxruntime and OpenVINO over mlc's, by model, in the table of a page of results."""
    table = page.partition("## Latency")[2].partition("| geometric mean")[0]
    return {model: (float(first), float(second)) for model, first, second in ROW.findall(table)}


def draw_speed(found: dict[str, tuple[float, float]], file: Path) -> None:
    """Write a chart of the ratios, a pair of bars for each model; bars longer than ``LONGEST`` are cut."""
    figure = Figure(figsize=(7.2, 0.3 * len(found) + 0.9), layout="constrained")
    axes = figure.subplots()
    models = list(reversed(found))
    for n, (peer, color) in enumerate(PEERS.items()):
        rows = [row + 0.2 - 0.4 * n for row in range(len(models))]
        bars = axes.barh(rows, [min(found[model][n], LONGEST) for model in models], 0.38, color=color, label=peer)
        axes.bar_label(bars, [f"{found[model][n]:.2f}" for model in models], padding=2, fontsize=7)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set(xlim=(0, LONGEST + 0.2), xlabel="time over mlc's: above 1 mlc is faster")
    axes.set(yticks=range(len(models)), yticklabels=models)
    axes.legend(loc="upper right")
    _save(figure, file, json.dumps(found))


def draw_pipeline(file: Path) -> None:
    """Write a picture of the levels: a box for each, and what the passes between them do."""
    figure = Figure(figsize=(9.6, 2.1), layout="constrained")
    axes = figure.subplots()
    axes.set(xlim=(-0.02, len(LEVELS)), ylim=(0, 1))
    axes.axis("off")
    axes.text(0.44, 0.93, "ONNX · PyTorch · Python", ha="center", va="center", weight="bold")
    axes.annotate("", (0.44, 0.74), (0.44, 0.88), arrowprops={"arrowstyle": "->"})
    for n, level in enumerate(LEVELS):
        _draw_level(axes, n, *level)
    _save(figure, file, "The levels of the IR")


def _draw_level(axes: Axes, n: int, name: str, holds: str, passes: str) -> None:
    box = {"boxstyle": "round,pad=0.02", "facecolor": "#e8eef6", "edgecolor": "#4472a8"}
    axes.add_patch(mpl.patches.FancyBboxPatch((n + 0.06, 0.36), 0.76, 0.36, **box))
    axes.text(n + 0.44, 0.65, name, ha="center", va="center", weight="bold")
    axes.text(n + 0.44, 0.5, holds, ha="center", va="center", fontsize=8)
    axes.text(n + 0.44, 0.24, passes, ha="center", va="top", fontsize=7.2, color="#444444")
    if n + 1 < len(LEVELS):
        axes.annotate("", (n + 1.04, 0.54), (n + 0.84, 0.54), arrowprops={"arrowstyle": "->"})


def _save(figure: Figure, file: Path, about: str) -> None:
    with mpl.rc_context(STYLE):
        figure.savefig(file, metadata={"Date": None, "Creator": None, "Description": about})


if __name__ == "__main__":
    draw_speed(ratios((DOCS / "benchmarks.md").read_text()), DOCS / "speed.svg")
    draw_pipeline(DOCS / "pipeline.svg")
