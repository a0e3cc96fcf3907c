"""Fake quantization rounds as ``mlc.quantize`` and passes gradients; training with it keeps accuracy at few bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import mlc
import mlc.numpy as mnp
from benchmarks.exact_sessions import exact_options
from mlc import nn, optim, train


def test_rounding_and_gradients() -> None:
    """Levels are those of QuantizeLinear; the gradient is 1 within the range and 0 outside."""
    x = np.random.default_rng().uniform(-3, 4, 400).astype(np.float32)
    low, high = -1.5, 2.0
    scale = np.float32(3.5 / 255)
    zero = np.rint(1.5 / scale)
    expected = (np.clip(np.rint(x / scale) + zero, 0, 255) - zero) * scale
    np.testing.assert_allclose(nn.fake_quantize(x, low, high).numpy(), expected, atol=1e-5)
    gradient = mlc.grad(lambda x: mnp.sum(nn.fake_quantize(x, low, high) * 3))(x).numpy()
    inside = (x > -zero * scale) & (x < (255 - zero) * scale)
    np.testing.assert_allclose(gradient, np.where(inside, 3, 0), atol=1e-6)
    assert np.abs(nn.fake_quantize(np.float32([5, 6]), 5, 6).numpy() - [5, 6]).max() < 0.02  # 0 is in the range
    np.testing.assert_array_equal(nn.fake_quantize(np.zeros(3, np.float32), 0, 0).numpy(), 0)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_weights(bits: int, axis: int | None) -> None:
    w = np.random.default_rng().standard_normal((6, 9)).astype(np.float32)
    levels = 2 ** (bits - 1) - 1
    scale = np.abs(w).max(None if axis is None else 1 - axis, keepdims=True) / levels
    np.testing.assert_allclose(nn.fake_quantize_weight(w, axis, bits).numpy(), np.rint(w / scale) * scale, atol=1e-5)
    gradient = mlc.grad(lambda w: mnp.sum(nn.fake_quantize_weight(w, axis, bits) * 2))(w)
    np.testing.assert_allclose(gradient.numpy(), np.full_like(w, 2))


def network(rng: np.random.Generator) -> nn.Sequential:
    first, second, last = (nn.Linear(*shape, rng=rng) for shape in ((8, 32), (32, 32), (32, 4)))
    return nn.Sequential(first, nn.relu, second, nn.relu, last)


def data(rng: np.random.Generator) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Four classes by the signs of two nonlinear features."""
    x = rng.standard_normal((1200, 8)).astype(np.float32)
    return x, (2 * (x[:, 0] * x[:, 1] > 0) + (x[:, 2] + x[:, 3] > 0)).astype(np.int64)


def loss(model: Any, x: Any, labels: Any) -> Any:
    return nn.cross_entropy(model(x), labels)


def test_training_at_two_bits() -> None:
    """Rounding a trained network to weights of 2 bits costs much of its accuracy, of which training wins most back."""
    rng = np.random.default_rng()
    x, labels = data(rng)
    batches = train.ArrayData((x, labels), batch_size=100)
    trainer = train.Trainer(network(rng), optim.adam(1e-2), loss)
    trainer.fit(batches, steps=300, progress=False)
    plain = trainer.model.eval()

    def right(model: Any) -> float:
        return float((model(x).numpy().argmax(1) == labels).mean())

    rounded = nn.quantized(plain, bits=2, input_bits=0).eval()
    aware = train.Trainer(nn.quantized(plain, bits=2).train(), optim.adam(3e-3), loss)
    aware.fit(batches, steps=600, progress=False)
    trained = aware.model.eval()
    assert right(plain) > 0.9 > right(rounded) + 0.05
    assert right(trained) > right(rounded) + (right(plain) - right(rounded)) / 2
    assert float(trained.layers[0].low) < -1.5 and float(trained.layers[0].high) > 1.5
    assert list(plain.state_dict()) == [n for n in trained.state_dict() if not n.endswith(("low", "high", "seen"))]


def test_trained_integers_are_those_of_the_file() -> None:
    """The exported model, quantized, has the weights of training, and answers as the network did: but for ranges, which
    in training follow the batches.
    """
    rng = np.random.default_rng()
    x, labels = data(rng)
    aware = train.Trainer(nn.quantized(network(rng)), optim.adam(1e-2), loss)
    aware.fit(train.ArrayData((x, labels), batch_size=100), steps=60, progress=False)
    trained = aware.model.eval()
    proto = mlc.export_onnx(nn.unquantized(trained), x[:2], dims={"x": ("batch", 8)})
    made = mlc.quantize(proto, {proto.graph.input[0].name: x}).model
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in made.graph.initializer}
    integers = [name for name, array in constants.items() if array.dtype == np.int8 and array.ndim == 2]
    for name, layer in zip(integers, trained.layers[::2], strict=True):
        weight = constants[name] * constants[f"{name.removesuffix('_quantized')}_scale"]
        np.testing.assert_allclose(weight, layer.rounded().weight.numpy().T, rtol=1e-5, atol=1e-6)
    session = onnxruntime.InferenceSession(made.SerializeToString(), exact_options(made))
    found = session.run(None, {session.get_inputs()[0].name: x})[0]
    expected = trained(x).numpy()
    assert np.linalg.norm(found - expected) / np.linalg.norm(expected) < 0.06
    assert (found.argmax(1) == expected.argmax(1)).mean() > 0.97


def test_convolutions() -> None:
    """Weights have a scale for each filter, of a transposed convolution along the second axis."""
    rng = np.random.default_rng()
    x = rng.standard_normal((2, 3, 8, 8)).astype(np.float32)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.relu, nn.ConvTranspose2d(4, 2, 3))
    after, made = nn.functional_call(nn.quantized(model).train(), x)
    np.testing.assert_allclose(after.numpy(), model(x).numpy(), atol=0.05)
    plain = nn.unquantized(made)
    for layer, axes in ((plain.layers[0], (1, 2, 3)), (plain.layers[2], (0, 2, 3))):
        weight = layer.weight.numpy()
        steps = weight / (np.abs(weight).max(axes, keepdims=True) / 127)
        np.testing.assert_allclose(steps, np.rint(steps), atol=1e-3)


def test_distillation() -> None:
    """The loss beside NumPy; a student that learns without labels answers as its teacher."""
    rng = np.random.default_rng()
    student, teacher = rng.standard_normal((2, 5, 4)).astype(np.float32)

    def softmax(z: Any) -> Any:
        return np.exp(z) / np.exp(z).sum(-1, keepdims=True)

    p, q = softmax(teacher / 3.0), softmax(student / 3.0)
    expected = 9 * (p * np.log(p / q)).sum(-1).mean()
    np.testing.assert_allclose(train.distillation_loss(student, teacher, 3.0).numpy(), expected, rtol=1e-4)
    x, _ = data(rng)
    wise = network(rng)
    wise.layers[4].weight = wise.layers[4].weight * 20
    answers = wise(x).numpy().argmax(1)
    trainer = train.Trainer(network(rng), optim.adam(1e-2), train.distilled(loss, wise, weight=1.0, temperature=2.0))
    trainer.fit(train.ArrayData((x, np.zeros(1200, np.int64)), batch_size=100), steps=300, progress=False)
    assert (trainer.model.eval()(x).numpy().argmax(1) == answers).mean() > 0.85
    assert {"plain", "distance"} <= set(trainer.history[-1][1])


def test_what_is_wrong() -> None:
    with pytest.raises(mlc.InputError, match="no linear or convolution layer"):
        nn.quantized(nn.Sequential(nn.relu))
    with pytest.raises(mlc.InputError, match="Integers of 1 bits"):
        nn.fake_quantize(np.ones(3, np.float32), 0, 1, bits=1)
    with pytest.raises(mlc.InputError, match="LayerNorm cannot be quantized"):
        nn.FakeQuantized(nn.LayerNorm(4))
    with pytest.raises(mlc.InputError, match="temperature is 0"):
        train.distillation_loss(np.ones((1, 2), np.float32), np.ones((1, 2), np.float32), 0)
    with pytest.raises(mlc.InputError, match="weight of the teacher is 2"):
        train.distilled(loss, nn.relu, weight=2)
