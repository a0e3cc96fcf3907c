"""Runs a model and its quantized form on the same data, and adds what differs to the report."""

from __future__ import annotations

from mlc.errors import InputError
from mlc.quantization.execution import runner, with_outputs
from mlc.quantization.layers import layers_of
from mlc.quantization.network import Network
from mlc.quantization.report import Report, Score, Sums
from mlc.quantization.samples import Samples


def compared(report: Report, before: Network, after: Network, samples: Samples) -> None:
    """Add the errors of layers and outputs, and the accuracy of both models where there are labels."""
    elements = _elements(before)
    made = {name for node in after.proto.graph.node for name in node.output}
    seen = {name: element for name, element in elements.items() if name in made}
    runs = [runner(with_outputs(net.proto, seen, seen), samples.batches[0]) for net in (before, after)]
    outputs = [info.name for info in before.proto.graph.output]
    sums, scores = {name: Sums() for name in (*outputs, *seen)}, (Score(), Score())
    for number, batch in enumerate(samples.batches):
        plain, found = (run(batch) for run in runs)
        for name in sums:
            if name in found and plain[name].shape == found[name].shape and plain[name].dtype.kind == "f":
                sums[name].add(plain[name], found[name])
        if samples.labels is not None:
            for score, each in zip(scores, (plain, found), strict=True):
                _score(score, each[outputs[0]], samples.labels[number])
    _fill(report, before, sums, outputs)
    report.samples = len(samples.batches)
    if samples.labels is not None:
        report.accuracy, report.metric = (scores[0].value, scores[1].value), scores[0].metric


def _score(score: Score, output: object, labels: object) -> None:
    try:
        score.add(output, labels)  # type: ignore[arg-type]
    except ValueError as error:
        raise InputError(f"The labels do not fit the first output: {error}", hint="Give a class a sample") from error


def _elements(network: Network) -> dict[str, str]:
    """The outputs of the layers of the main graph, and their element types."""
    return {layer.output: layer.element for layer in layers_of(network) if layer.scope.outer is None}


def _fill(report: Report, before: Network, sums: dict[str, Sums], outputs: list[str]) -> None:
    names = {layer.name: layer.output for layer in layers_of(before)}
    for each in report.layers:
        found = sums.get(names.get(each.name, ""))
        if found is not None and found.signal + found.other:
            each.output = found.errors()
    report.outputs = {name: sums[name].errors() for name in outputs if sums[name].signal + sums[name].other}
