"""The examples of training as a reader runs them, with fewer steps."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples/training"
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if "__main__" in path.read_text())


def test_digits_are_read() -> None:
    from examples.training import digits

    assert digits.accuracy(digits.trained(250, progress=False).model, 1000) >= 0.98


def test_shapes_are_marked_by_the_library(tmp_path: Path) -> None:
    from examples.training import segmentation
    from mlc import nn, train

    trainer = segmentation.trained(80, tmp_path / "best.safetensors", progress=False)
    x, classes = segmentation.images(100, 2)
    found = segmentation.deployed(trainer, tmp_path / "unet.so")(x)
    np.testing.assert_allclose(found, trainer.predict(x), rtol=1e-3, atol=1e-4)
    assert train.MeanIoU(axis=1)(found, classes) > 0.6
    best = max(trainer.epochs, key=lambda epoch: epoch["val_iou"])
    assert trainer.evaluate(segmentation.images(128, 1))["iou"] == pytest.approx(best["val_iou"], rel=1e-5)
    model = segmentation.UNet().load_state_dict(nn.load_file(tmp_path / "best.safetensors"))
    assert np.array_equal(model.head.weight, trainer.model.head.weight)
    assert {"marked", "iou", "accuracy", "val_marked", "val_accuracy"} <= best.keys()


def test_regression_reaches_the_normal_equations() -> None:
    from examples.training import regression

    found = regression.fitted(300, progress=False).model.weight.numpy()[0]
    np.testing.assert_allclose(found, regression.solved(), atol=1e-4)


def test_the_transformer_learns_characters() -> None:
    from examples.training import transformer

    trainer = transformer.trained(60, context=32, size=32, batch=16, progress=False)
    losses = [metrics["loss"] for _, metrics in trainer.history]
    assert losses[0] > 4 and np.mean(losses[-5:]) < 3.5
    assert len(transformer.sample(trainer.model, 5, context=32)) == 5


def test_the_heat_equation_is_solved() -> None:
    from examples.training import heat

    trainer = heat.trained(200, progress=False)
    assert heat.error(trainer.model) < 0.02 < heat.error(heat.trained(1, progress=False).model)


def test_private_gradients_are_clipped() -> None:
    from examples.training import private

    model, norms = private.trained(60)
    assert private.accuracy(model) > 0.85 and max(norms) > private.CLIP


def test_a_private_gradient_is_the_mean_of_clipped_ones() -> None:
    import mlc
    from examples.training import private
    from mlc import nn, optim
    from mlc.numpy import random

    model = nn.Linear(2, 2)
    x, labels = private.data(5, 3)
    found, norms = private.private_gradient(model, x, labels, random.key(0))
    expected = np.zeros((2, 2))
    for n in range(5):
        gradient = mlc.grad(lambda m, n=n: nn.cross_entropy(m(x[n : n + 1]), labels[n : n + 1]))(model)
        norm = float(optim.global_norm(gradient))
        np.testing.assert_allclose(norms[n], norm, rtol=1e-4)
        expected += gradient.weight.numpy() * min(1, private.CLIP / norm) / 5
    noise = [random.normal(random.fold_in(random.key(0), n), (2, 2)).numpy() * private.NOISE / 5 for n in (0, 1)]
    error = min(np.abs(found.weight.numpy() - expected - each).max() for each in noise)
    assert error < 1e-5


def test_networks_in_turn() -> None:
    from examples.training import adversarial

    generator, losses = adversarial.trained(150)
    assert np.isfinite(losses).all()
    made = (adversarial.samples(each) for each in (adversarial.trained(0)[0], generator))
    before, after = (np.linalg.norm(points, axis=1).mean() for points in made)
    assert abs(after - 2) < abs(before - 2)


def test_second_order_steps_are_fewer() -> None:
    from examples.training import second_order

    newton, adam = second_order.both(30)
    assert newton[0] == adam[0] and newton[-1] < 0.01 * adam[-1]


def test_the_head_of_an_encoder_is_tuned() -> None:
    from examples.training import fine_tuning

    model = fine_tuning.classifier(layers=1, hidden=128, heads=4)
    found = fine_tuning.tuned(model, 150, progress=False).model
    assert fine_tuning.accuracy(model, found) > 0.75 > fine_tuning.accuracy(model, model.parameters)
    for name, weight in model.encoder.weights.items():
        stays = np.array_equal(found["encoder"][name], weight)
        assert stays != f"encoder.{name}".startswith(model.last), name


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_options(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Each example says what it is, and refuses what it does not know."""
    usage = f"python -m examples.training.{path.stem}"
    for option, says in (("--help", usage), ("--stesp=3", "unrecognized arguments")):
        monkeypatch.setattr("sys.argv", [path.stem, *(["x.svg"] if path.stem == "pictures" else []), option])
        with pytest.raises(SystemExit):
            runpy.run_path(str(path), run_name="__main__")
        captured = capsys.readouterr()
        assert says in captured.out + captured.err
