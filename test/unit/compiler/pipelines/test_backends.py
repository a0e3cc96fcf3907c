"""Backends: the kind of a target's machine names its backend; a plug-in adds a kind with its own passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from importlib.metadata import EntryPoint

import pytest

from mlc import plugins
from mlc.driver.compile import lower_source
from mlc.driver.onnx_source import OnnxSource
from mlc.errors import InputError
from mlc.options import Options
from mlc.pipelines.backend import Stages
from mlc.pipelines.backends import backend_of
from mlc.pipelines.cpu_backend import CpuBackend
from mlc.target import CpuTarget, get
from mlc.target.named import NAMED


class Signal(CpuTarget):
    """A machine of a kind that mlc does not know."""

    kind = "signal"


class SignalBackend(CpuBackend):
    """Its passes are those of CPUs without the last one of the graph stage."""

    def pipeline(self, options: Options) -> Stages:
        return [(stage, passes[:-1] if stage == "graph" else passes) for stage, passes in super().pipeline(options)]


SIGNAL = Signal(**{each.name: getattr(NAMED["x86-64"], each.name) for each in fields(CpuTarget)} | {"name": "signal"})


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A plug-in that has the backend."""
    point = EntryPoint("signal", f"{__name__}:SignalBackend", "mlc.backends")
    monkeypatch.setattr(plugins, "found", lambda group: {"signal": point} if group == "mlc.backends" else {})
    monkeypatch.setattr(EntryPoint, "load", lambda self: SignalBackend)
    yield


@pytest.mark.parametrize("name, kind", [("x86-64", "cpu"), ("aarch64", "cpu"), ("cuda", "gpu"), ("cuda:sm_90", "gpu")])
def test_mlc_has_a_backend_for_each_of_its_targets(name: str, kind: str) -> None:
    target = get(name)
    assert target.kind == kind and backend_of(target).target is target
    assert [stage for stage, _ in backend_of(target).pipeline(Options(target=target))][-1] == "plan"


@pytest.mark.usefixtures("installed")
def test_a_plug_in_has_the_backend_of_its_kind_of_machine() -> None:
    stages, own = (dict(backend_of(t).pipeline(Options(target=t))) for t in (NAMED["x86-64"], SIGNAL))
    assert isinstance(backend_of(SIGNAL), SignalBackend) and len(own["graph"]) == len(stages["graph"]) - 1


@pytest.mark.usefixtures("installed")
def test_it_lowers_a_model() -> None:
    import onnx

    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> net (float[2, 3] x) => (float[2, 3] y) { y = Relu(x) }'
    )
    lowered = lower_source(OnnxSource.of(model), Options(target=SIGNAL))
    assert lowered.signature["target"] == "signal" and any(name.endswith(".c") for name in lowered.sources)


@pytest.mark.usefixtures("installed")
def test_the_code_of_the_plug_in_is_part_of_the_key() -> None:
    assert [name for name, _ in plugins.code_of_target(SIGNAL)] == ["target", "backend"]
    assert not [*plugins.code_of_target(get("cuda"))]


def test_a_kind_without_a_backend_is_refused() -> None:
    with pytest.raises(InputError, match="There is no backend for machines of the kind 'signal'") as found:
        backend_of(SIGNAL)
    assert "mlc.backends" in str(found.value) and "cpu, gpu" in str(found.value)
