"""``mlc.quantize``: prune, factorize and quantize an ONNX model, and say what each step cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx import ModelProto

from mlc.errors import InputError
from mlc.quantization import low_rank, prune
from mlc.quantization.compare import compared
from mlc.quantization.execution import runner, with_outputs
from mlc.quantization.forms import Form, Static, form_of
from mlc.quantization.layers import Layer, layers_of
from mlc.quantization.network import Network, nearest
from mlc.quantization.prepare import prepared
from mlc.quantization.ranges import ranges_of
from mlc.quantization.report import LayerReport, Report
from mlc.quantization.samples import Samples, samples_of
from mlc.quantization.saving import save, size_of
from mlc.quantization.sensitivity import Switches, kept_in_floats
from mlc.quantization.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    Say = Callable[[str], None]

Model = str | Path | bytes | ModelProto


@dataclass(frozen=True)
class Quantized:
    """A quantized model, and what it costs."""

    model: ModelProto
    report: Report

    def save(self, path: str | Path) -> None:
        """Write the ONNX file; one of 2 GB or more has its weights in ``PATH.data``. OutputError where that fails."""
        save(self.model, Path(path))


def quantize(
    model: Model,
    data: Any = None,
    *,
    labels: str = "labels",
    batch: int = 0,
    say: Say = lambda _: None,
    **settings: Any,
) -> Quantized:
    """An ONNX model with integers in place of weights and activations, which any engine of ONNX runs.

    Args:
        model: a path, the bytes of a model, or a ModelProto, which stays as it is.
        data: calibration data: a dictionary of arrays by the names of inputs, an ``.npz`` file, or a list of either.
            Samples are along the first axis. Needed by ``mode="static"``; without it the report is of weights alone.
        labels: the name of the array in ``data`` that has the labels.
        batch: samples of a run, where the model leaves the number open.
        say: is called with the name of each step.
        settings: the fields of :class:`mlc.quantization.settings.Settings`.

    Raises:
        InputError: a malformed model, one with nothing to quantize, an unknown node in ``exclude``, data that do not
            fit, or a ``max_error`` that pruning alone exceeds.
    """
    chosen = _settings(settings)
    say("reading the model")
    network = prepared(model)
    samples = None if data is None else samples_of(network.proto, data, labels, batch)
    if samples is None and (chosen.mode == "static" or chosen.mixes):
        what = "Static quantization" if chosen.mode == "static" else "The sensitivity of layers"
        raise InputError(f"{what} needs calibration data", hint="Give --data x.npz, data= in Python")
    before, size = None if samples is None else network.copy(), size_of(network.proto)
    notes = _smaller(network, chosen, say)
    reports = _quantized(network, chosen, samples, say, before if notes else None)
    for each in reports:
        each.why = "; ".join(filter(None, (notes.get(each.name, ""), each.why)))
    network.drop_unused()
    report = Report(chosen.mode, reports, bytes_before=size, bytes_after=size_of(network.proto))
    if samples is not None and before is not None:
        say("comparing with the model in f32")
        compared(report, before, network, samples)
    return Quantized(network.proto, report)


def _settings(given: Mapping[str, Any]) -> Settings:
    for name in given.keys() - Settings.__dataclass_fields__.keys():
        near = nearest(name, Settings.__dataclass_fields__)
        hint = f"Did you mean {near}?" if near else f"Options: {', '.join(Settings.__dataclass_fields__)}"
        raise InputError(f"mlc.quantize has no option '{name}'", hint=hint)
    return Settings(**given)


def _smaller(network: Network, settings: Settings, say: Say) -> dict[str, str]:
    """Prune and factorize; what happened to each layer."""
    found = dict[str, str]()
    if settings.prune:
        say("pruning")
        found = prune.prune(network, _chosen(network, settings), settings.prune)
    if settings.low_rank is not None:
        say("factorizing")
        for name, why in low_rank.factorize(network, _chosen(network, settings), settings.low_rank).items():
            found[name] = "; ".join(filter(None, (found.get(name, ""), why)))
        network.drop_unused()
    return found


def _chosen(network: Network, settings: Settings) -> list[Layer]:
    """The layers that are not excluded. InputError where ``exclude`` has a name that no node has."""
    names = [node.name for scope in network.scopes() for node in scope.graph.node]
    for name in settings.exclude:
        if name not in names:
            near = nearest(name, names)
            listed = ", ".join([layer.name for layer in layers_of(network)][:10])
            hint = f"Did you mean '{near}'?" if near else f"Layers: {listed}"
            raise InputError(f"There is no node '{name}' to exclude", hint=hint)
    return [layer for layer in layers_of(network) if layer.name not in settings.exclude]


def _quantized(
    network: Network, settings: Settings, samples: Samples | None, say: Say, before: Network | None
) -> list[LayerReport]:
    """Quantize in place; a report of each layer, without the errors of outputs. ``before``: the network as it was
    given, where that was pruned or factorized.
    """
    form, allowed = form_of(settings), {layer.name for layer in _chosen(network, settings)}
    reports = {layer.name: LayerReport(layer.name, layer.op, "f32") for layer in layers_of(network)}
    if form is None:
        return list(reports.values())
    layers = []
    for layer in layers_of(network):
        why = form.refusal(layer) if layer.name in allowed else "excluded"
        reports[layer.name].why = why or ""
        layers += [] if why else [layer]
    if not layers:
        raise _nothing(reports.values(), settings)
    if isinstance(form, Static) and samples is not None:
        say("calibrating")
        form.ranges = _ranges(network, layers, form, samples)
    if settings.mixes and samples is not None:
        layers = _mixed(network, layers, form, settings, samples, reports, say, before)
    say(f"quantizing {len(layers)} layers")
    for layer in layers:
        reports[layer.name].form = form.name
        reports[layer.name].weight = _weight_errors(layer, form)
    if layers:
        form.write(network, layers)
    return list(reports.values())


def _nothing(reports: Any, settings: Settings) -> InputError:
    reasons = list(dict.fromkeys(report.why for report in reports if report.why))
    message = f"The model has no layer that becomes {settings.mode}"
    has = "; ".join(reasons[:3]) if reasons else "no Conv, Gemm or MatMul has a constant weight of floats"
    return InputError(f"{message}: {has}", hint="Give another --mode, or a model in f32")


def _ranges(network: Network, layers: Sequence[Layer], form: Static, samples: Samples) -> Any:
    plan, s = form.plan(layers), form.settings
    proto = with_outputs(network.proto, plan.tensors, plan.elements)
    given = {info.name for info in network.proto.graph.input}
    run = runner(proto, samples.batches[0], given & set(plan.tensors))
    return ranges_of(run, plan.tensors, samples.batches, s.calibration, s.percentile)


def _mixed(
    network: Network,
    layers: list[Layer],
    form: Form,
    settings: Settings,
    samples: Samples,
    reports: dict[str, LayerReport],
    say: Say,
    before: Network | None,
) -> list[Layer]:
    """The layers that are quantized, once those that cost most are left out."""
    say("measuring the sensitivity of layers")
    switches = Switches.of(network, [layer.name for layer in layers], form, samples.batches, before)
    alone = switches.each()
    kept = kept_in_floats(switches, alone, settings.keep_f32_worst, settings.max_error)
    for name, error in alone.items():
        reports[name].sensitivity = error
        reports[name].why = "kept for its sensitivity" if name in kept else ""
    return [layer for layer in layers if layer.name not in kept]


def _weight_errors(layer: Layer, form: Form) -> Any:
    from mlc.quantization.report import Sums

    sums = Sums()
    sums.add(layer.array(), form.floats(layer))
    return sums.errors()
