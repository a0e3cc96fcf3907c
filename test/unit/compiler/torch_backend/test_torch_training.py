"""``torch.compile(module, backend="mlc")`` for training: gradients of operators, steps of optimizers, beside eager."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from mlc.frontends.torch.ops import load_all  # noqa: E402
from mlc.frontends.torch.registry import REGISTRY  # noqa: E402
from mlc.torch import graph_program  # noqa: E402

STRICT = {"fallback": False}
Case = tuple[Callable[..., Any], tuple[Any, ...]]


def normal(*shape: int) -> Any:
    return torch.from_numpy(np.random.default_rng().normal(size=shape).astype(np.float32))


def integers(below: int, *shape: int) -> Any:
    return torch.from_numpy(np.random.default_rng().integers(0, below, shape))


def convolutions() -> dict[str, Case]:
    image, line = normal(2, 4, 9, 8), normal(2, 4, 11)
    return {
        "strided": (
            lambda x, w, b: F.conv2d(x, w, b, stride=(2, 3), padding=1),
            (image, normal(3, 4, 3, 2), normal(3)),
        ),
        "grouped": (lambda x, w: F.conv2d(x, w, dilation=2, groups=2), (image, normal(6, 2, 3, 3))),
        "depthwise": (lambda x, w: F.conv2d(x, w, padding=1, groups=4), (image, normal(4, 1, 3, 3))),
        "line": (lambda x, w: F.conv1d(x, w, stride=2), (line, normal(3, 4, 4))),
        "volume": (lambda x, w: F.conv3d(x, w, padding=1), (normal(1, 2, 3, 4, 3), normal(2, 2, 2, 3, 2))),
        "transposed": (
            lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1),
            (image, normal(4, 3, 3, 3), normal(3)),
        ),
    }


def windows() -> dict[str, Case]:
    image = normal(2, 3, 9, 8)
    grid = torch.rand(2, 5, 4, 2) * 1.8 - 0.9
    return {
        "max_pool": (lambda x: F.max_pool2d(x, 3, 2, 1), (image,)),
        "max_pool_ceil": (lambda x: F.max_pool2d(x, (2, 3), (2, 2), ceil_mode=True), (image,)),
        "max_pool_dilated": (lambda x: F.max_pool2d(x, 2, 1, dilation=2), (image.round(),)),
        "max_pool_3d": (lambda x: F.max_pool3d(x, 2), (normal(1, 2, 4, 5, 4),)),
        "avg_pool": (lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), (image,)),
        "adaptive": (lambda x: F.adaptive_avg_pool2d(x, (3, 5)), (image,)),
        "nearest": (lambda x: F.interpolate(x, scale_factor=2), (image,)),
        "bilinear": (lambda x: F.interpolate(x, size=(5, 13), mode="bilinear", align_corners=True), (image,)),
        "bicubic": (lambda x: F.interpolate(x, scale_factor=1.5, mode="bicubic"), (image,)),
        "grid_sample": (lambda x, g: F.grid_sample(x, g, align_corners=False), (image, grid)),
        "replicate": (lambda x: F.pad(x, (1, 2, 0, 3), mode="replicate"), (image,)),
        "reflect": (lambda x: F.pad(x, (1, 2, 0, 3), mode="reflect"), (image,)),
        "unfold": (lambda x: F.unfold(x, 3, stride=2), (image,)),
    }


def layers() -> dict[str, Case]:
    rows, image = normal(4, 6), normal(3, 4, 5, 2)
    query = normal(2, 2, 5, 4)
    return {
        "layer_norm": (lambda x, w, b: F.layer_norm(x, (6,), w, b), (rows, normal(6), normal(6))),
        "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b), (image, normal(4), normal(4))),
        "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), (image, normal(4), normal(4))),
        "instance_norm": (F.instance_norm, (image,)),
        "rms_norm": (lambda x, w: F.rms_norm(x, (6,), w), (rows, normal(6))),
        "embedding": (lambda w, i: F.embedding(i, w, padding_idx=1), (normal(5, 3), integers(5, 4, 2))),
        "attention": (
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            (query, query + 1, query),
        ),
        "index": (lambda x, i: x[:, i] * x[i[:2]][:1], (rows, integers(4, 6))),
        "gather": (lambda x, i: x.gather(1, i), (rows, integers(6, 4, 3))),
        "cat": (lambda x, y: torch.cat([x, y[:, 1:]], 1).cumsum(1).roll(1, 0), (rows, normal(4, 3))),
        "amax": (lambda x: x.amax(1) + x.max(0).values.sum() + x.logsumexp(1), (rows,)),
        "norms": (lambda x: x.norm(dim=1) + x.var(1) + x.std(0).sum() + x.prod(1), (rows,)),
        "sort": (lambda x: x.sort(1).values * torch.arange(6) + x.topk(2, 0).values.sum(0), (rows,)),
    }


def pointwise() -> dict[str, Case]:
    x, positive = normal(3, 5), normal(3, 5).abs() + 0.5
    plain = (
        "relu",
        "gelu",
        "silu",
        "mish",
        "elu",
        "selu",
        "celu",
        "leaky_relu",
        "hardswish",
        "hardsigmoid",
        "softsign",
    )
    plain += ("relu6", "hardtanh", "softplus", "logsigmoid", "hardshrink", "softshrink", "tanhshrink", "glu_")
    functions = {name: getattr(F, name) for name in plain if name != "glu_"}
    return {
        **{name: (f, (x,)) for name, f in functions.items()},
        "gelu_tanh": (lambda a: F.gelu(a, approximate="tanh"), (x,)),
        "prelu": (F.prelu, (normal(2, 3, 4), normal(3))),
        "glu": (F.glu, (normal(3, 4),)),
        "softmax": (lambda a: F.softmax(a, 1) * F.log_softmax(a, 0), (x,)),
        "powers": (lambda a: a**2.5 + a.rsqrt() + a.log1p() + torch.pow(2.0, a), (positive,)),
        "angles": (lambda a, b: torch.atan2(a, b) + a.sin() * b.erf() + torch.hypot(a, b), (x, positive)),
        "choices": (lambda a, b: torch.where(a > b, a, b * 2) + torch.maximum(a, b) + a.clamp(-0.5, 1), (x, positive)),
    }


def losses() -> dict[str, Case]:
    x, y, chances = normal(5, 4), normal(5, 4), torch.rand(5, 4) * 0.8 + 0.1
    classes = integers(4, 5)
    return {
        "cross_entropy": (lambda a, t: F.cross_entropy(a, t, label_smoothing=0.1), (x, classes)),
        "cross_entropy_2d": (lambda a, t: F.cross_entropy(a, t), (normal(2, 4, 3, 3), integers(4, 2, 3, 3))),
        "nll": (lambda a, t: F.nll_loss(a.log_softmax(1), t, ignore_index=2), (x, classes.clamp(max=1))),
        "bce": (lambda a, t: F.binary_cross_entropy(a, t.sigmoid()), (chances, y)),
        "bce_logits": (lambda a, t: F.binary_cross_entropy_with_logits(a, t.sigmoid()), (x, y)),
        "mse": (F.mse_loss, (x, y)),
        "smooth_l1": (F.smooth_l1_loss, (x, y)),
        "huber": (F.huber_loss, (x, y)),
        "kl": (lambda a, t: F.kl_div(a.log_softmax(1), t.softmax(1), reduction="batchmean"), (x, y)),
        "cosine": (lambda a, b: F.cosine_similarity(a, b) + F.normalize(a).sum(1), (x, y)),
        "triplet": (lambda a, b, c: F.triplet_margin_loss(a, b, c), (x, y, chances)),
    }


class Cases(nn.Module):
    """Applies each function to its own arguments; sums that weigh elements differently."""

    def __init__(self, functions: dict[str, Callable[..., Any]]) -> None:
        super().__init__()
        self.functions = functions

    def forward(self, args: dict[str, tuple[Any, ...]]) -> Any:
        return {name: f(*args[name]).sin().sum() for name, f in self.functions.items()}


@pytest.mark.parametrize("family", [convolutions, windows, layers, pointwise, losses], ids=lambda f: f.__name__)
def test_gradients_of_operators(family: Callable[[], dict[str, Case]]) -> None:
    """All of a family in one graph: every gradient within 1e-4 of the greatest element of eager's."""
    torch._dynamo.reset()
    cases = family()
    module = Cases({name: f for name, (f, _) in cases.items()})
    both = [{name: tuple(map(_leaf, given)) for name, (_, given) in cases.items()} for _ in range(2)]
    compiled = torch.compile(module, backend="mlc", options=STRICT)
    for run, args in zip((module, compiled), both, strict=True):
        sum(run(args).values()).backward()
    for name in cases:
        for wanted, found in zip(*(args[name] for args in both), strict=True):
            if wanted.requires_grad:
                scale = float(wanted.grad.abs().max())
                assert scale > 1e-6
                torch.testing.assert_close(
                    found.grad, wanted.grad, rtol=0, atol=1e-4 * scale, msg=lambda text, name=name: f"{name}: {text}"
                )


def _leaf(x: Any) -> Any:
    return x.clone().requires_grad_(True) if x.is_floating_point() else x


def network() -> Any:
    conv = [nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*conv, nn.Flatten(), nn.Linear(36, 5))


def test_steps_of_an_optimizer_with_batches_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    torch._dynamo.reset()
    prepared, prepare = [], graph_program.Program.prepare

    def noted(self: Any, args: Any) -> Any:
        prepared.append(self)
        return prepare(self, args)

    monkeypatch.setattr(graph_program.Program, "prepare", noted)
    eager = network()
    mine = copy.deepcopy(eager)
    compiled = torch.compile(mine, backend="mlc", options=STRICT)
    pairs = [(f, torch.optim.SGD(m.parameters(), 0.1, 0.9)) for f, m in ((eager, eager), (compiled, mine))]
    for count in (4, 4, 6, 5, 7):
        x, t = normal(count, 3, 6, 6), integers(5, count)
        for step, optimizer in pairs:
            optimizer.zero_grad()
            F.cross_entropy(step(x), t).backward()
            optimizer.step()
    assert len(prepared) == 4  # forward and backward, of 4 rows and of any number
    for a, b in zip(mine.state_dict().values(), eager.state_dict().values(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
    with torch.no_grad():
        torch.testing.assert_close(compiled.eval()(x), eager.eval()(x), rtol=1e-4, atol=1e-5)


def test_parameters_are_saved_for_the_backward_graph_as_they_are() -> None:
    graph = torch.fx.symbolic_trace(lambda w, x: (torch.ops.aten.mul.Tensor(w, x), w, None))
    for node in graph.graph.nodes:
        node.meta["val"] = torch.empty(4, device="meta")
    w, x = normal(4), normal(4)
    y, saved, nothing = graph_program.Program(graph, {}, graph_program.Settings())([w, x])
    torch.testing.assert_close(y, w * x)
    assert saved is w and nothing is None


def test_dropout_draws_anew_and_its_gradient_uses_the_draw() -> None:
    torch._dynamo.reset()
    layer = nn.Linear(32, 64)
    compiled = torch.compile(nn.Sequential(layer, nn.Dropout(0.25)), backend="mlc", options=STRICT)
    x = normal(100, 32)
    first, second = compiled(x), compiled(x)
    assert 0.22 < float((first == 0).float().mean()) < 0.28 and not torch.equal(first, second)
    kept = (second != 0).float() / 0.75
    torch.testing.assert_close(second, layer(x) * kept, rtol=1e-4, atol=1e-4)
    second.sum().backward()
    torch.testing.assert_close(layer.bias.grad, kept.sum(0), rtol=1e-4, atol=1e-4)


def pairwise(a: Any, b: Any) -> Any:
    return torch.cdist(a, b, p=3.0).sum()


def test_a_backward_graph_with_an_unsupported_operator_runs_eagerly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator is one that has a translation, which the test takes away."""
    torch._dynamo.reset()
    load_all()
    monkeypatch.delitem(REGISTRY, "_cdist_backward")
    mine, eager = ([_leaf(x) for x in given] for given in [(normal(3, 2), normal(4, 2))] * 2)
    mine = [x.detach().clone().requires_grad_(True) for x in eager]
    with pytest.warns(UserWarning, match="_cdist_backward at .* runs in eager torch"):
        torch.compile(pairwise, backend="mlc")(*mine).backward()
    pairwise(*eager).backward()
    for a, b in zip(mine, eager, strict=True):
        torch.testing.assert_close(a.grad, b.grad)


def test_recurrent_layers_that_dynamo_may_trace() -> None:
    """torch leaves nn.LSTM, GRU and RNN to eager unless ``allow_rnn`` is set; then they are compiled whole."""
    for layer in (nn.LSTM(3, 4, batch_first=True, bidirectional=True), nn.GRU(3, 4), nn.RNN(3, 4)):
        torch._dynamo.reset()
        mine, x = copy.deepcopy(layer), normal(2, 2, 3)
        with torch._dynamo.config.patch(allow_rnn=True):
            compiled = torch.compile(mine, backend="mlc", options=STRICT, fullgraph=True)
            compiled(x)[0].square().sum().backward()
        layer(x)[0].square().sum().backward()
        for a, b in zip(mine.parameters(), layer.parameters(), strict=True):
            np.testing.assert_allclose(a.grad, b.grad, rtol=1e-4, atol=1e-5)
