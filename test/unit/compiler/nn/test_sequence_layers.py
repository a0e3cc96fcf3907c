"""Transformer layers beside torch's, in both layouts and orders of normalization; CTC beside all alignments."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.nn.naming import named


def data(*shape: int) -> Any:
    return np.random.default_rng().standard_normal(shape).astype(np.float32)


def scattered(layer: Any) -> Any:
    """The layer with random weights in place of the ones and zeros of norms and biases."""
    return layer.load_state_dict({name: 0.5 * data(*np.shape(x)) for name, x in layer.state_dict().items()})


def attention(state: Any, prefix: str, x: Any, memory: Any, heads: int, seen: Any) -> Any:
    """Attention of one sequence [T, E] to another [S, E], head by head, in float64."""
    weight, bias = (np.asarray(state[f"{prefix}.in_proj_{each}"], np.float64) for each in ("weight", "bias"))
    parts = zip(np.split(weight, 3), np.split(bias, 3), (x, memory, memory), strict=True)
    q, k, v = (given @ w.T + b for w, b, given in parts)
    found = []
    for a, b, c in zip(*(np.split(each, heads, axis=1) for each in (q, k, v)), strict=True):
        scores = np.where(seen, a @ b.T / np.sqrt(a.shape[1]), -np.inf)
        e = np.exp(scores - scores.max(1, keepdims=True))
        found.append(e / e.sum(1, keepdims=True) @ c)
    return np.concatenate(found, 1) @ state[f"{prefix}.out_proj.weight"].T + state[f"{prefix}.out_proj.bias"]


def expected(state: Any, x: Any, memory: Any, heads: int, norm_first: bool, seen: Any) -> Any:
    """A layer on one sequence; a decoder's where there is a memory."""

    def normed(y: Any, name: str) -> Any:
        apart = y - y.mean(1, keepdims=True)
        return apart / np.sqrt(y.var(1, keepdims=True) + 1e-5) * state[f"{name}.weight"] + state[f"{name}.bias"]

    def perceptron(y: Any) -> Any:
        inner = np.maximum(y @ state["linear1.weight"].T + state["linear1.bias"], 0)
        return inner @ state["linear2.weight"].T + state["linear2.bias"]

    blocks = [lambda y: attention(state, "self_attn", y, y, heads, seen)]
    if memory is not None:
        blocks.append(lambda y: attention(state, "multihead_attn", y, memory, heads, True))
    for n, block in enumerate([*blocks, perceptron], 1):
        x = x + block(normed(x, f"norm{n}")) if norm_first else normed(x + block(x), f"norm{n}")
    return x


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_transformer_layers(norm_first: bool, batch_first: bool, causal: bool) -> None:
    options = {"batch_first": batch_first, "norm_first": norm_first}
    encoder = scattered(nn.TransformerEncoderLayer(8, 2, 12, **options)).eval()
    decoder = scattered(nn.TransformerDecoderLayer(8, 4, 12, **options)).eval()
    x, memory = data(3, 5, 8), data(3, 7, 8)
    turned = lambda y: y if batch_first else np.swapaxes(y, 0, 1)  # noqa: E731
    seen = np.tril(np.ones((5, 5), bool)) if causal else np.ones((5, 5), bool)
    found = turned(encoder(turned(x), causal=causal).numpy())
    mask = None if causal else np.arange(5)[:, None] >= np.arange(5) - 1
    masked = turned(decoder(turned(x), turned(memory), mask=mask, causal=causal).numpy())
    for n in range(3):
        state = encoder.state_dict()
        np.testing.assert_allclose(found[n], expected(state, x[n], None, 2, norm_first, seen), rtol=2e-3, atol=2e-4)
        wanted = expected(decoder.state_dict(), x[n], memory[n], 4, norm_first, seen if mask is None else mask)
        np.testing.assert_allclose(masked[n], wanted, rtol=2e-3, atol=2e-4)


def test_beside_torch() -> None:
    """Names and outputs of stacks, gelu and a norm at the end."""
    torch = pytest.importorskip("torch")
    theirs = torch.nn.Transformer(8, 2, 2, 2, 12, activation="gelu", batch_first=True, norm_first=True).eval()
    layer = nn.TransformerEncoderLayer(8, 2, 12, activation="gelu", batch_first=True, norm_first=True)
    ours = nn.TransformerEncoder(layer, 2, nn.LayerNorm(8)).load_state_dict(theirs.encoder.state_dict()).eval()
    other = nn.TransformerDecoderLayer(8, 2, 12, activation="gelu", batch_first=True, norm_first=True)
    decoder = nn.TransformerDecoder(other, 2, nn.LayerNorm(8)).load_state_dict(theirs.decoder.state_dict()).eval()
    x, y = data(3, 5, 8), data(3, 4, 8)
    with torch.no_grad():
        memory = theirs.encoder(torch.tensor(x))
        wanted = theirs.decoder(torch.tensor(y), memory).numpy()
    found = ours(x)
    np.testing.assert_allclose(found, memory.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(decoder(y, found), wanted, rtol=1e-4, atol=1e-5)


def test_copies_are_trained_apart() -> None:
    """Layers begin with the same weights, and each has a gradient of its own; dropout draws for each."""
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, dropout=0.3), 2)
    assert len(model.state_dict()) == 24 and model.layers[0] is not model.layers[1]
    gradient = mlc.grad(lambda m: mnp.sum(m(data(5, 2, 4)) ** 3))(model.eval())
    first, second = (trees.leaves(gradient.layers[n]) for n in range(2))
    assert any(not np.allclose(a, b) for a, b in zip(first, second, strict=True))
    y, _ = nn.functional_call(model.train(), np.ones((5, 2, 4), np.float32), key=mnp.random.key(1))
    assert not np.allclose(y, model.eval()(np.ones((5, 2, 4), np.float32)))
    assert [name for name, _, _ in named(nn.TransformerEncoderLayer(4, 2, 6, bias=False))] == [
        "self_attn.in_proj_weight", "self_attn.out_proj.weight", "linear1.weight", "linear2.weight", "norm1.weight",
        "norm2.weight",
    ]  # fmt: skip


def collapsed(path: tuple[int, ...], blank: int) -> list[int]:
    """Without repetitions, then without blanks."""
    return [a for n, a in enumerate(path) if a != blank and (n == 0 or a != path[n - 1])]


def alignments(probabilities: Any, target: list[int], blank: int) -> float:
    """The sum over all sequences of classes that collapse to the target."""
    steps, classes = probabilities.shape
    paths = itertools.product(range(classes), repeat=steps)
    chosen = (path for path in paths if collapsed(path, blank) == target)
    return sum(float(np.prod(probabilities[np.arange(steps), list(path)])) for path in chosen)


def scores(*shape: int) -> Any:
    x = data(*shape).astype(np.float64)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


@pytest.mark.parametrize("blank", [0, 2])
def test_ctc_is_the_sum_over_alignments(blank: int) -> None:
    log_probs, a, b = scores(5, 5, 4), *((1, 3) if blank == 0 else (0, 3))
    targets = np.array([[a, b, a], [a, a, b], [b, b, b], [a, b, b], [b, a, a]])
    lengths, inputs = np.array([3, 2, 1, 0, 3]), np.array([5, 4, 5, 3, 3])
    found = nn.ctc_loss(log_probs, targets, inputs, lengths, blank=blank, reduction="none").numpy()
    for n in range(5):
        kept = np.exp(log_probs[: inputs[n], n])
        total = alignments(kept, targets[n, : lengths[n]].tolist(), blank)
        assert found[n] == pytest.approx(-np.log(total) if total else np.inf, rel=1e-9)
    assert np.isinf(found[4])  # a, a needs a blank between
    mean = nn.ctc_loss(log_probs, targets, inputs, lengths, blank=blank, zero_infinity=True)
    assert float(mean) == pytest.approx((found[:4] / np.maximum(lengths[:4], 1)).sum() / 5, rel=1e-9)
    one = nn.ctc_loss(log_probs[:, 0], targets[0], blank=blank, reduction="none")
    assert one.shape == () and float(one) == pytest.approx(found[0], rel=1e-9)


def test_the_gradient_of_ctc() -> None:
    """Against differences; a target that cannot be has none."""
    log_probs, targets = scores(6, 3, 4), np.array([[1, 2, 2], [3, 1, 0], [1, 1, 1]])
    lengths, inputs = np.array([3, 2, 3]), np.array([6, 5, 4])
    f = mlc.jit(lambda x: nn.ctc_loss(x, targets, inputs, lengths, reduction="sum", zero_infinity=True))
    found = mlc.jit(mlc.grad(lambda x: nn.ctc_loss(x, targets, inputs, lengths, reduction="sum", zero_infinity=True)))(
        log_probs
    ).numpy()
    assert np.isfinite(found).all() and (found[:, 2] == 0).all() and (found[5, 1] == 0).all()
    for at in np.random.default_rng().permutation(72)[:12]:
        step = np.zeros(72)
        step[at] = 1e-5
        step = step.reshape(6, 3, 4)
        difference = (float(f(log_probs + step)) - float(f(log_probs - step))) / 2e-5
        assert found.reshape(-1)[at] == pytest.approx(difference, rel=1e-4, abs=1e-7)


def test_ctc_beside_torch() -> None:
    torch = pytest.importorskip("torch")
    logits, targets = data(30, 4, 11), np.random.default_rng().integers(1, 11, (4, 9))
    inputs, lengths = np.array([30, 25, 30, 12]), np.array([9, 5, 1, 7])
    x = torch.tensor(logits, requires_grad=True)
    wanted = torch.nn.functional.ctc_loss(
        x.log_softmax(-1), torch.tensor(targets), torch.tensor(inputs), torch.tensor(lengths)
    )
    wanted.backward()
    value, gradient = mlc.jit(
        mlc.value_and_grad(lambda x: nn.ctc_loss(nn.log_softmax(x), targets, inputs, lengths))
    )(logits)  # fmt: skip
    assert float(value) == pytest.approx(wanted.item(), rel=1e-5)
    np.testing.assert_allclose(gradient, x.grad.numpy(), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: nn.ctc_loss(scores(5, 2, 4), np.array([1, 2])), r"\(5, 2, 4\) with targets of shape \(2,\).*padded"),
        (lambda: nn.ctc_loss(scores(5, 2, 4), np.ones((2, 3))), "targets of ctc_loss are float64"),
        (lambda: nn.ctc_loss(scores(5, 2, 4), np.ones((2, 3), int), blank=4), "blank=4 is none of 4 classes"),
        (lambda: nn.ctc_loss(scores(5, 2, 4), np.ones((2, 3), int), [5, 5, 5]), "do not fit 2 sequences"),
        (lambda: nn.TransformerEncoderLayer(8, 2, activation="tan"), "no activation 'tan'"),
        (lambda: nn.TransformerEncoderLayer(8, 3), "in 3 heads"),
        (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer, 2), "cannot have 2 layers that are"),
    ],
)
def test_refused(call: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        call()
