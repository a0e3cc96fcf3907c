"""mlc.nn against torch: values and gradients of each function, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn
from mlc.errors import InputError
from mlc.frontends.array.nn import activations, attention, convolutions, embedding_losses, losses, normalizations

torch = pytest.importorskip("torch")
F = torch.nn.functional
Case = tuple[Callable[..., Any], Callable[..., Any], list[tuple[int, ...]]]


def same(name: str, other: str | None = None, **options: Any) -> Case:
    """A function of one array that torch has, too."""
    theirs = getattr(F, other or name, None) or getattr(torch, other or name)
    return (lambda x: getattr(nn, name)(x, **options)), (lambda x: theirs(x, **options)), [(3, 4)]


def loss(name: str, other: str | None = None, positive: bool = False, **options: Any) -> Case:
    """A loss of two arrays; ``positive``: the target is a probability."""

    def ours(x: Any, y: Any) -> Any:
        return getattr(nn, name)(x, nn.sigmoid(y) if positive else y, **options)

    def theirs(x: Any, y: Any) -> Any:
        return getattr(F, other or name)(x, torch.sigmoid(y) if positive else y, **options)

    return ours, theirs, [(3, 5), (3, 5)]


FUNCTIONS = {
    name
    for part in (activations, convolutions, normalizations, attention, losses, embedding_losses)
    for name in part.PUBLIC
}
LABELS = np.array([[2, 0, 1], [1, 1, 3]])
SIGNS = np.array([[1, -1, -1, 1], [-1, 1, 1, 1], [1, 1, -1, -1]])
IGNORED = np.where([[0, 0, 1], [1, 0, 0]], -100, LABELS)
MASK = np.array([[True, False, True, True, False]] * 3)
CASES: dict[str, Case] = {
    **{name: same(name) for name in ("relu", "selu", "sigmoid", "silu", "mish", "softplus", "softsign", "tanh")},
    "gelu": same("gelu"),
    "leaky_relu": (lambda x: nn.leaky_relu(x, 0.3), lambda x: F.leaky_relu(x, 0.3), [(3, 4)]),
    "elu": (lambda x: nn.elu(x, alpha=0.7), lambda x: F.elu(x, 0.7), [(3, 4)]),
    "celu": (lambda x: nn.celu(x, alpha=0.5), lambda x: F.celu(x, 0.5), [(3, 4)]),
    "hard_sigmoid": (lambda x: nn.hard_sigmoid(x, 1 / 6, 0.5), lambda x: torch.clamp(x / 6 + 0.5, 0, 1), [(3, 4)]),
    "hard_swish": (nn.hard_swish, F.hardswish, [(3, 4)]),
    "gelu by tanh": (lambda x: nn.gelu(x, approximate=True), lambda x: F.gelu(x, approximate="tanh"), [(3, 4)]),
    "glu": (lambda x: nn.glu(x, axis=1), lambda x: F.glu(x, 1), [(3, 4, 2)]),
    "softmax": (lambda x: nn.softmax(x, axis=1), lambda x: F.softmax(x, 1), [(3, 4, 2)]),
    "log_softmax": (lambda x: nn.log_softmax(x, axis=0), lambda x: F.log_softmax(x, 0), [(3, 4)]),
    "logsumexp": (lambda x: nn.logsumexp(x, axis=(0, 2)), lambda x: torch.logsumexp(x, (0, 2)), [(3, 4, 2)]),
    "conv": (
        lambda x, w, b: nn.conv(x, w, b, strides=(2, 1), padding=(1, 2), dilations=(1, 2)),
        lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 2), (1, 2)),
        [(2, 3, 7, 6), (4, 3, 3, 2), (4,)],
    ),
    "conv, one dimension, same": (
        lambda x, w: nn.conv(x, w, padding="same"),
        lambda x, w: F.conv1d(x, w, padding="same"),
        [(2, 3, 7), (4, 3, 4)],
    ),
    "conv, groups": (
        lambda x, w: nn.conv(x, w, padding=((1, 0), (0, 1)), groups=2),
        lambda x, w: F.conv2d(F.pad(x, (0, 1, 1, 0)), w, groups=2),
        [(2, 4, 5, 6), (6, 2, 3, 2)],
    ),
    "conv_transpose": (
        lambda x, w, b: nn.conv_transpose(x, w, b, strides=2, padding=1),
        lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1),
        [(2, 3, 4, 5), (3, 4, 3, 2), (4,)],
    ),
    "conv_transpose, groups": (
        lambda x, w: nn.conv_transpose(x, w, strides=(2, 3), padding=((1, 0), (0, -1)), groups=2),
        lambda x, w: F.conv_transpose2d(x, w, None, (2, 3), 0, (0, 1), 2)[:, :, 1:],
        [(2, 4, 4, 5), (4, 3, 3, 2)],
    ),
    "max_pool": (lambda x: nn.max_pool(x, 2), lambda x: F.max_pool2d(x, 2), [(2, 3, 6, 5)]),
    "max_pool, overlapping": (
        lambda x: nn.max_pool(x, 3, strides=(2, 1), padding=1),
        lambda x: F.max_pool2d(x, 3, (2, 1), 1),
        [(2, 3, 6, 5)],
    ),
    "avg_pool": (
        lambda x: nn.avg_pool(x, (3, 2), strides=2, padding=1),
        lambda x: F.avg_pool2d(x, (3, 2), 2, 1),
        [(2, 3, 6, 5)],
    ),
    "avg_pool without padding": (
        lambda x: nn.avg_pool(x, 3, strides=2, padding=1, count_padding=False),
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        [(2, 3, 6, 5)],
    ),
    "batch_norm": (
        lambda x, s, b: nn.batch_norm(x, s, b),
        lambda x, s, b: F.batch_norm(x, None, None, s, b, True),
        [(4, 3, 5), (3,), (3,)],
    ),
    "batch_norm of inference": (
        lambda x, s, b, m, v: nn.batch_norm(x, s, b, m, v * v + 1),
        lambda x, s, b, m, v: (x - m[:, None]) / torch.sqrt(v * v + 1 + 1e-5)[:, None] * s[:, None] + b[:, None],
        [(4, 3, 5), (3,), (3,), (3,), (3,)],
    ),
    "layer_norm": (
        lambda x, s, b: nn.layer_norm(x, s, b, axis=(1, 2)),
        lambda x, s, b: F.layer_norm(x, (4, 5), s, b),
        [(3, 4, 5), (4, 5), (4, 5)],
    ),
    "rms_norm": (lambda x, s: nn.rms_norm(x, s), lambda x, s: F.rms_norm(x, (5,), s, 1e-6), [(3, 5), (5,)]),
    "group_norm": (
        lambda x, s, b: nn.group_norm(x, s, b, groups=2),
        lambda x, s, b: F.group_norm(x, 2, s, b),
        [(3, 4, 5), (4,), (4,)],
    ),
    "attention": (nn.dot_product_attention, F.scaled_dot_product_attention, [(2, 3, 4, 5)] * 3),
    "attention, causal": (
        lambda q, k, v: nn.dot_product_attention(q, k, v, causal=True, scale=0.7),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.7),
        [(2, 3, 4, 5), (2, 3, 4, 5), (2, 3, 4, 6)],
    ),
    "attention, masked": (
        lambda q, k, v: nn.dot_product_attention(q, k, v, MASK),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.from_numpy(MASK)),
        [(2, 1, 3, 4), (2, 1, 5, 4), (2, 1, 5, 4)],
    ),
    "embedding": (
        lambda table: nn.embedding(LABELS, table),
        lambda table: F.embedding(torch.from_numpy(LABELS), table),
        [(4, 3)],
    ),
    "mse_loss": loss("mse_loss"),
    "l1_loss": loss("l1_loss", reduction="sum"),
    "huber_loss": loss("huber_loss", delta=0.7),
    "smooth_l1_loss": loss("smooth_l1_loss", beta=0.4, reduction="none"),
    "log_cosh_loss": (
        nn.log_cosh_loss,
        lambda x, y: torch.log(torch.cosh(x - y)).mean(),
        [(3, 5), (3, 5)],
    ),
    "binary_cross_entropy": (
        lambda x, y: nn.binary_cross_entropy(nn.sigmoid(x), nn.sigmoid(y)),
        lambda x, y: F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y)),
        [(3, 5), (3, 5)],
    ),
    "binary_cross_entropy_with_logits": loss("binary_cross_entropy_with_logits", positive=True),
    "hinge_loss": (nn.hinge_loss, lambda x, y: torch.clamp(1 - x * y, min=0).mean(), [(3, 5), (3, 5)]),
    "soft_margin_loss": (nn.soft_margin_loss, lambda x, y: F.softplus(-x * y).mean(), [(3, 5), (3, 5)]),
    "poisson_nll_loss": loss("poisson_nll_loss"),
    "kl_div": loss("kl_div", positive=True),
    "gaussian_nll_loss": (
        lambda x, y, v: nn.gaussian_nll_loss(x, y, v * v + 0.1),
        lambda x, y, v: F.gaussian_nll_loss(x, y, v * v + 0.1),
        [(3, 5), (3, 5), (3, 5)],
    ),
    "nll_loss, some ignored": (
        lambda x: nn.nll_loss(x, IGNORED, ignore_index=-100),
        lambda x: F.nll_loss(x.permute(0, 2, 1), torch.from_numpy(IGNORED)),
        [(2, 3, 4)],
    ),
    "cross_entropy, some ignored": (
        lambda x: nn.cross_entropy(x, IGNORED, ignore_index=-100, label_smoothing=0.2),
        lambda x: F.cross_entropy(x.permute(0, 2, 1), torch.from_numpy(IGNORED), label_smoothing=0.2),
        [(2, 3, 4)],
    ),
    "cross_entropy, a class ignored": (
        lambda x: nn.cross_entropy(x, LABELS, ignore_index=1, reduction="none"),
        lambda x: F.cross_entropy(x.permute(0, 2, 1), torch.from_numpy(LABELS), ignore_index=1, reduction="none"),
        [(2, 3, 4)],
    ),
    "hinge_embedding_loss": (
        lambda x: nn.hinge_embedding_loss(x, SIGNS, margin=0.4),
        lambda x: F.hinge_embedding_loss(x, torch.from_numpy(SIGNS), 0.4),
        [(3, 4)],
    ),
    "margin_ranking_loss": (
        lambda x, y: nn.margin_ranking_loss(x, y, SIGNS, margin=0.3),
        lambda x, y: F.margin_ranking_loss(x, y, torch.from_numpy(SIGNS), 0.3),
        [(3, 4), (3, 4)],
    ),
    "cosine_embedding_loss": (
        lambda x, y: nn.cosine_embedding_loss(x, y, SIGNS[0], margin=0.1, reduction="none"),
        lambda x, y: F.cosine_embedding_loss(x, y, torch.from_numpy(SIGNS[0]), 0.1, reduction="none"),
        [(4, 5), (4, 5)],
    ),
    "triplet_margin_loss": (nn.triplet_margin_loss, F.triplet_margin_loss, [(4, 5)] * 3),
    "triplet_margin_loss, swapped": (
        lambda a, p, n: nn.triplet_margin_loss(a, p, n, margin=2.0, p=3.0, swap=True, reduction="sum"),
        lambda a, p, n: F.triplet_margin_loss(a, p, n, 2.0, 3.0, swap=True, reduction="sum"),
        [(4, 5)] * 3,
    ),
    "nll_loss": (
        lambda x: nn.nll_loss(x, LABELS),
        lambda x: F.nll_loss(x.permute(0, 2, 1), torch.from_numpy(LABELS)),
        [(2, 3, 4)],
    ),
    "cross_entropy": (
        lambda x: nn.cross_entropy(x, LABELS, label_smoothing=0.1),
        lambda x: F.cross_entropy(x.permute(0, 2, 1), torch.from_numpy(LABELS), label_smoothing=0.1),
        [(2, 3, 4)],
    ),
    "cross_entropy of probabilities": (
        lambda x, y: nn.cross_entropy(x, nn.softmax(y, axis=1), axis=1),
        lambda x, y: F.cross_entropy(x, torch.softmax(y, 1)),
        [(3, 4), (3, 4)],
    ),
    "cosine_similarity": (nn.cosine_similarity, F.cosine_similarity, [(3, 4), (3, 4)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name: str) -> None:
    ours, theirs, shapes = CASES[name]
    random = np.random.default_rng()
    given = [random.standard_normal(shape) for shape in shapes]
    tensors = [torch.tensor(x, requires_grad=True) for x in given]
    expected = theirs(*tensors)
    weights = random.standard_normal(tuple(expected.shape))
    (expected * torch.from_numpy(weights)).sum().backward()

    def total(*xs: Any) -> tuple[Any, Any]:
        y = ours(*xs)
        return mnp.sum(y * mnp.asarray(weights)), y

    (_, value), gradients = mlc.value_and_grad(total, tuple(range(len(given))), has_aux=True)(*given)
    np.testing.assert_allclose(np.asarray(value), expected.detach().numpy(), rtol=1e-10, atol=1e-10)
    for found, tensor in zip(gradients, tensors, strict=True):
        np.testing.assert_allclose(np.asarray(found), tensor.grad.numpy(), rtol=1e-9, atol=1e-9)


def test_every_function_has_a_case() -> None:
    without = {"batch_statistics", "one_hot"}
    assert {name.split(",")[0].split(" ")[0] for name in CASES} | {"dot_product_attention"} - {"attention"} >= {
        *FUNCTIONS
    } - without


def test_one_hot() -> None:
    np.testing.assert_array_equal(np.asarray(nn.one_hot(LABELS, 4)), np.eye(4, dtype=np.float32)[LABELS])
    assert nn.one_hot(np.array([5, -1]), 3).numpy().sum() == 0


@pytest.mark.parametrize("f", [
    lambda: nn.conv(np.zeros((1, 3, 5)), np.zeros((2, 4, 3))),
    lambda: nn.conv(np.zeros((1, 3, 5)), np.zeros((2, 3, 6))),
    lambda: nn.conv(np.zeros((1, 3, 5)), np.zeros((2, 3, 2)), padding="all"),
    lambda: nn.conv(np.zeros((1, 3, 5)), np.zeros((2, 3, 2)), strides=(1, 1)),
    lambda: nn.max_pool(np.zeros((1, 3, 5)), 6),
    lambda: nn.group_norm(np.zeros((1, 3, 5)), np.zeros(3), np.zeros(3), groups=2),
    lambda: nn.batch_norm(np.zeros((1, 3, 5)), np.zeros(4), np.zeros(3)),
    lambda: nn.mse_loss(np.zeros(3), np.zeros(3), reduction="max"),
    lambda: nn.dot_product_attention(np.zeros((1, 1, 3, 4)), np.zeros((1, 1, 3, 5)), np.zeros((1, 1, 3, 5))),
])  # fmt: skip
def test_what_does_not_fit_is_an_error(f: Callable[[], Any]) -> None:
    with pytest.raises(InputError, match=r"[0-9]|all|max"):
        f()
