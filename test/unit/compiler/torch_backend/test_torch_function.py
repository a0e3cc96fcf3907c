"""``mlc.function`` of exported programs: gradients and Hessian products against torch's, batches, jit, state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import mlc  # noqa: E402
import mlc.numpy as mnp  # noqa: E402
from mlc.errors import InputError, RunError  # noqa: E402

nn = torch.nn


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, 7), nn.GELU(), nn.Linear(7, 3))

    def forward(self, x: Any) -> Any:
        return self.layers(x)


class Conv(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(2, 4, 3, stride=2, padding=1), nn.BatchNorm2d(4)
        self.head = nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        y = torch.sigmoid(self.norm(self.conv(x)))
        return self.head(torch.nn.functional.avg_pool2d(y, 3).flatten(1))


class Attending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.block = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True, activation="gelu")

    def forward(self, x: Any) -> Any:
        return self.block(x)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 5, batch_first=True)

    def forward(self, x: Any) -> Any:
        return self.lstm(x)[0]


MODULES = {"mlp": (Mlp, (3, 5)), "conv": (Conv, (2, 2, 6, 6)), "attention": (Attending, (2, 4, 8)),
           "lstm": (Recurrent, (2, 3, 4))}  # fmt: skip


def normal(*shape: int) -> Any:
    return torch.from_numpy(np.random.default_rng().normal(size=shape).astype(np.float32))


def settled(module: Any) -> Any:
    """Random parameters, and statistics of batches that are not 0 and 1."""
    for each in module.parameters():
        each.data = 0.5 * normal(*each.shape)
    for name, buffer in module.named_buffers():
        if buffer.is_floating_point():
            buffer.copy_(normal(*buffer.shape).abs() + 0.5 if "var" in name else normal(*buffer.shape))
    return module.eval()


def assert_near(found: Any, wanted: Any, scale: float) -> None:
    assert np.asarray(found).shape == tuple(wanted.shape)
    np.testing.assert_allclose(np.asarray(found), wanted.detach().numpy(), rtol=0, atol=1e-4 * scale)


@pytest.mark.parametrize("name", MODULES)
def test_gradients_and_hessian_products(name: str) -> None:
    """By parameters and by the input; relative to the greatest element of all."""
    make, shape = MODULES[name]
    module, x = settled(make()), normal(*shape)
    f = mlc.function(torch.export.export(module, (normal(*shape),)))
    assert_near(f(x), module(x), 1)

    def loss(w: Any, x: Any) -> Any:
        return mnp.sum(mnp.sin(f(x, weights=w)))

    along = {n: normal(*p.shape) for n, p in module.named_parameters()}, normal(*shape)
    arrays = {n: t.numpy() for n, t in along[0].items()}, along[1].numpy()
    by_w, by_x = mlc.grad(loss, (0, 1))(f.weights, x.numpy())
    product_w, product_x = mlc.hvp(lambda both: loss(*both), ((f.weights, x.numpy()),), (arrays,))

    x.requires_grad_(True)
    leaves = [*module.parameters(), x]
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):  # the others have one derivative only
        wanted = torch.autograd.grad(torch.sin(module(x)).sum(), leaves, create_graph=True)
        dot = sum((g * t).sum() for g, t in zip(wanted, [*along[0].values(), along[1]], strict=True))
    second = torch.autograd.grad(dot, leaves)
    names = [n for n, _ in module.named_parameters()]
    for found, expected in (((by_w, by_x), wanted), ((product_w, product_x), second)):
        scale = max(float(each.detach().abs().max()) for each in expected)
        assert scale > 1e-2 and list(found[0]) == names
        for n, each in zip([*(found[0][n] for n in names), found[1]], expected, strict=True):
            assert_near(n, each, scale)


def test_a_file_jit_batches_and_open_dimensions(tmp_path: Path) -> None:
    module, rows = settled(Mlp()), torch.export.Dim("rows")
    program = torch.export.export(module, (normal(3, 5),), dynamic_shapes={"x": {0: rows}})
    torch.export.save(program, tmp_path / "mlp.pt2")
    f, xs = mlc.function(tmp_path / "mlp.pt2"), normal(6, 5)
    weights = {n: torch.stack([p, 2 * p]).detach().numpy() for n, p in module.named_parameters()}
    by_rows = mlc.jit(mlc.vmap(mlc.grad(lambda x: mnp.sum(f(x[None]) ** 2))))(xs.numpy())
    by_weights = mlc.vmap(lambda w: f(xs, weights=w))(weights)
    xs.requires_grad_(True)
    (module(xs) ** 2).sum().backward()
    assert_near(by_rows, xs.grad, float(xs.grad.abs().max()))
    assert_near(by_weights[0], module(xs), 1)
    twice = torch.func.functional_call(module, {n: 2 * p for n, p in module.named_parameters()}, xs)
    assert_near(by_weights[1], twice, float(twice.abs().max()))


class Normalized(nn.Module):
    """Has a tree of results, an argument by keyword, and statistics that it changes."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x: Any, *, offset: Any) -> Any:
        return {"y": self.norm(x) + offset, "none": None}


def test_changed_buffers_are_a_result() -> None:
    module, x, offset = settled(Normalized()).train(), normal(4, 3), normal(3)
    f = mlc.function(torch.export.export(module, (x,), {"offset": offset}))
    state = f.state
    assert list(f.weights) == ["norm.weight", "norm.bias"] and "norm.running_var" in state
    for _ in range(2):
        x = normal(4, 3)
        found, state = f(x, offset=offset, state=state)
        assert_near(found["y"], module(x, offset=offset)["y"], 1)
        assert found["none"] is None
        for name, each in module.named_buffers():
            assert_near(state[name], each, 1)

    def loss(w: Any) -> Any:
        result, changed = f(x, offset=offset, weights=w)
        return mnp.sum(result["y"] ** 3), changed

    found, changed = mlc.grad(loss, has_aux=True)(f.weights)
    (module(x, offset=offset)["y"] ** 3).sum().backward()
    for name, each in module.named_parameters():
        assert_near(found[name], each.grad, float(each.grad.abs().max()))
    assert set(changed) == set(state)


def test_refusals() -> None:
    f = mlc.function(torch.export.export(settled(Mlp()), (normal(3, 5),)))
    with pytest.raises(InputError, match="Mlp has no weights w. Its weights: layers.0.weight, "):
        f(normal(3, 5), weights={"w": np.zeros(3)})
    with pytest.raises(InputError, match="Mlp has no state w. Its state: none"):
        f(normal(3, 5), state={"w": np.zeros(3)})
    with pytest.raises(RunError, match="another structure"):
        f(normal(3, 5), normal(3))
    with pytest.raises(InputError, match=r"Mlp was given float32\[2, 5\] in place of float32\[3, 5\]"):
        f(normal(2, 5))
