"""What quantization changed: errors of each layer and of the outputs, sizes, and accuracy where labels are given."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

import numpy as np

from mlc.quantization.network import Array

EXACT = 200.0  # decibels where nothing differs


@dataclass(frozen=True)
class Errors:
    """``sqnr``: signal to quantization noise in decibels; ``max_error`` the largest difference; ``cosine`` the
    similarity of all numbers as one vector.
    """

    sqnr: float
    max_error: float
    cosine: float


@dataclass
class Sums:
    """What errors follow from, over several arrays."""

    signal: float = 0.0
    other: float = 0.0
    noise: float = 0.0
    dot: float = 0.0
    largest: float = 0.0

    def add(self, plain: Array, found: Array) -> None:
        x, y = plain.astype(np.float64).ravel(), found.astype(np.float64).ravel()
        if x.size:
            self.signal, self.other = self.signal + float(x @ x), self.other + float(y @ y)
            self.dot, self.noise = self.dot + float(x @ y), self.noise + float((x - y) @ (x - y))
            self.largest = max(self.largest, float(np.abs(x - y).max()))

    def errors(self) -> Errors:
        ratio = 10 * np.log10(self.signal / self.noise) if self.noise and self.signal else EXACT
        sqnr = -EXACT if self.noise and not self.signal else min(float(ratio), EXACT)
        size = np.sqrt(self.signal * self.other)
        return Errors(sqnr, self.largest, float(min(self.dot / size, 1.0)) if size else float(not self.noise))


@dataclass
class LayerReport:
    """One layer: how it is stored and why, and the errors of its output, or of its weight where that was not seen."""

    name: str
    op: str
    form: str
    why: str = ""
    sensitivity: float | None = None
    weight: Errors | None = None
    output: Errors | None = None


@dataclass
class Report:
    """Of a whole model; ``accuracy`` is (before, after), of the kind that ``metric`` names."""

    mode: str
    layers: list[LayerReport]
    outputs: dict[str, Errors] = field(default_factory=dict)
    bytes_before: int = 0
    bytes_after: int = 0
    samples: int = 0
    accuracy: tuple[float, float] | None = None
    metric: str = ""

    def json(self) -> str:
        """As a JSON document."""
        return json.dumps(asdict(self), indent=1)

    @property
    def quantized(self) -> list[LayerReport]:
        return [layer for layer in self.layers if layer.form != "f32"]


@dataclass
class Score:
    """Accuracy over batches: the share of right labels, or the mean of squared differences."""

    metric: str = ""
    total: float = 0.0
    count: int = 0

    def add(self, output: Array, labels: Array) -> None:
        self.metric, values = _scored(output, np.asarray(labels))
        self.total, self.count = self.total + float(values.sum()), self.count + values.size

    @property
    def value(self) -> float:
        return self.total / max(self.count, 1)


def _scored(output: Array, labels: Array) -> tuple[str, Array]:
    """Whether each label is right; of labels that are floats, the squares of what they differ by.

    Classes are along the last axis of the output, or the second where an output has one for each pixel.
    """
    squeezed = labels.reshape(output.shape) if labels.size == output.size else labels
    if np.issubdtype(labels.dtype, np.floating) or np.issubdtype(output.dtype, np.integer):
        if squeezed.shape != output.shape:
            raise ValueError(f"they have the shape {labels.shape}, the output {output.shape}")
        exact = np.issubdtype(output.dtype, np.integer)
        return ("accuracy", squeezed == output) if exact else ("mean squared error", np.square(squeezed - output))
    if labels.size == output.size:
        return "accuracy", (output > 0.5) == squeezed.astype(bool)
    axis = 1 if output.ndim > 2 and labels.size == output.size // output.shape[1] else -1
    found = output.argmax(axis)
    return "accuracy", found.reshape(-1) == labels.reshape(found.shape).reshape(-1)


def summary(report: Report) -> list[str]:
    """Sizes, accuracy and the errors of outputs, a line each."""
    before, after = report.bytes_before, report.bytes_after
    lines = [f"{report.mode}: {len(report.quantized)} of {len(report.layers)} layers; {before:,} -> {after:,} bytes"]
    for name, errors in report.outputs.items():
        size = f"max error {errors.max_error:.3g}, cosine {errors.cosine:.6f}"
        lines.append(f"output {name}: SQNR {errors.sqnr:.1f} dB, {size}")
    if report.accuracy is not None:
        lines.append(f"{report.metric}: {report.accuracy[0]:.4g} -> {report.accuracy[1]:.4g}")
    return lines


def rows(report: Report) -> list[dict[str, str]]:
    """A row a layer, for tables."""
    measured = any(layer.sensitivity is not None for layer in report.layers)
    return [_row(layer, measured) for layer in report.layers]


def _row(layer: LayerReport, measured: bool) -> dict[str, str]:
    errors, cells = layer.output or layer.weight, {"layer": layer.name, "operator": layer.op, "form": layer.form}
    cells["SQNR dB"] = f"{errors.sqnr:.1f}" if errors else ""
    cells["max error"] = f"{errors.max_error:.3g}" if errors else ""
    cells["cosine"] = f"{errors.cosine:.6f}" if errors else ""
    if measured:
        cells["alone"] = "" if layer.sensitivity is None else f"{layer.sensitivity:.2%}"
    return {**cells, "note": layer.why or ("" if layer.output else "weight alone" if errors else "")}
