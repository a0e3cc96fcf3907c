"""Models of benchmarks/torch_models by torch.export and torch.compile, against eager torch; the page of results."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from benchmarks.torch_models import training  # noqa: E402
from benchmarks.torch_models.__main__ import LIMIT, measured, page  # noqa: E402
from benchmarks.torch_models.catalogue import COMPILED, MODELS  # noqa: E402


@pytest.mark.parametrize("name", ["vision/vit", "vision/unet"])
def test_a_vision_model(name: str) -> None:
    result = measured(name)
    assert "error" not in result, result
    assert max(result["export"], result["compile"]) <= LIMIT


def test_a_model_of_transformers() -> None:
    pytest.importorskip("transformers")
    result = measured("transformers/llama")
    assert "error" not in result, result
    assert max(result["export"], result["compile"]) <= LIMIT


def test_an_error_is_a_row() -> None:
    assert "KeyError" in measured("vision/nothing")["error"]


def test_the_page_has_a_row_a_model_and_counts_those_that_agree() -> None:
    pytest.importorskip("transformers")
    good = {"parameters": 1234, "operators": 5, "kernels": 3, "export": 1e-6, "compile": 2e-3}
    text = page({"vision/a": good, "vision/b": {"error": "Wrong: it"}})
    assert "| vision/a | 1,234 | 5 | 3 | 1.0e-06 | 2.0e-03 |" in text
    assert "| vision/b | | | | Wrong: it | |" in text
    assert "1 models exported, 0 by" in text


def test_the_names_are_known() -> None:
    assert set(COMPILED) <= set(MODELS) and len(MODELS) > 60 and len(COMPILED) >= 20


@pytest.mark.parametrize("name", ["small/gpt", "small/autoencoder"])
def test_gradients_of_a_model(name: str) -> None:
    result = training.measured(name)
    assert "error" not in result, result
    assert result["gradients"] <= training.LIMIT and (result["buffers"] or 0) <= training.LIMIT
    assert len(result["kernels"]) == 2


def test_the_page_of_training() -> None:
    good = {"parameters": 1234, "kernels": [3, 5], "gradients": 1e-6, "buffers": None}
    text = training.page({"small/a": good, "small/b": training.measured("small/nothing")})
    assert "| small/a | 1,234 | 3 + 5 | 1.0e-06 |  |" in text and "| small/b | | | KeyError" in text
    assert "\n1 models, without" in text and len(training.names()) > 20
