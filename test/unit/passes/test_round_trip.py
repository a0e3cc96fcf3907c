"""Every level is text: printed, parsed and printed again it is the same, and the pipeline goes on from it."""

from __future__ import annotations

from functools import cache

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.universe import Universe

from benchmarks import models
from benchmarks.models import small
from mlc.dialects.weights import WeightStore
from mlc.driver.lower import lower
from mlc.frontends.onnx import import_model
from mlc.options import Options
from mlc.passes.context import MlcContext
from mlc.pipelines.backends import backend_of

MODELS = [(name, batch) for name in ("resnet50", "bert") for batch in (3, "batch")]
STAGES = [stage for stage, _ in backend_of(Options().target).pipeline(Options())]


def parse(text: str) -> ModuleOp:
    context = MlcContext()
    for name, load in Universe.get_multiverse().all_dialects.items():
        context.register_dialect(name, load)
    return Parser(context, text).parse_module()


def run(name: str, batch: int | str, last: str = STAGES[-1]) -> tuple[dict[str, str], WeightStore]:
    """The module of a small model after each stage up to ``last``, and the weights that there are then."""
    model = models.build(name, batch=batch, **small.OPTIONS[name])
    imported = import_model(model.SerializeToString(), {})
    context, found = MlcContext(weights=imported.weights), {}
    for stage, passes in backend_of(Options().target).pipeline(Options())[: STAGES.index(last) + 1]:
        for each in passes:
            each.apply(context, imported.module)
        found[stage] = str(imported.module)
    return found, imported.weights


@cache
def strings(name: str, batch: int | str) -> dict[str, str]:
    """The module of a small model after each stage."""
    return run(name, batch)[0]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(("name", "batch"), MODELS)
def test_printed_and_parsed_it_is_the_same(name: str, batch: int | str, stage: str) -> None:
    text = strings(name, batch)[stage]
    module = parse(text)
    module.verify()
    assert str(module) == text


@pytest.mark.parametrize("batch", [3, "batch"])
@pytest.mark.parametrize("stage", STAGES[: STAGES.index("loops")])
def test_the_pipeline_goes_on_from_text(batch: int | str, stage: str) -> None:
    found, weights = run("bert", batch, stage)
    module, context = parse(found[stage]), MlcContext(weights=weights)  # which stage `layout` packs
    passes = dict(backend_of(Options().target).pipeline(Options()))
    for following in STAGES[STAGES.index(stage) + 1 : STAGES.index("loops") + 1]:
        for each in passes[following]:
            each.apply(context, module)
    assert str(module) == strings("bert", batch)["loops"]


def test_lowering_twice_gives_the_same_text() -> None:
    model = models.build("mlp", batch="batch", **small.OPTIONS["mlp"]).SerializeToString()
    modules = [import_model(model, {}) for _ in range(2)]
    one, two = (str(lower(m.module, m.weights, Options(), "plan").module) for m in modules)
    assert one == two
