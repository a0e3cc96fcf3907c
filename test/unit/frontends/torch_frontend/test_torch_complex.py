"""Complex tensors of exported programs, as pairs of real ones: formulas, movement, and rotary embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.export import Dim, export  # noqa: E402
from unit.frontends.torch_frontend.programs import Case, assert_equal, evaluated  # noqa: E402

import mlc  # noqa: E402
import mlc.numpy as mnp  # noqa: E402
from mlc.errors import InputError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
real, c = torch.view_as_real, torch.view_as_complex
BINARY: dict[str, Callable[..., Any]] = {
    "mul": lambda a, b: a * b,
    "mul of a real tensor": lambda a, b: a * b.abs(),
    "mul of numbers": lambda a, b: 2j * a * 3.0 + (1 - 2j),
    "add": lambda a, b: torch.add(a, b, alpha=0.5) + b.abs(),
    "sub": lambda a, b: torch.sub(a, b, alpha=2) - 1,
    "div": lambda a, b: a / b,
    "div of a real tensor": lambda a, b: a / (1 + b.abs()),
    "conj": lambda a, b: a.conj() * b,
    "exp": lambda a, b: torch.exp(a) + b,
    "polar": lambda a, b: torch.polar(a.abs(), b.angle()),
    "complex": lambda a, b: torch.complex(a.real, b.imag[:1]),
    "neg": lambda a, b: -a.resolve_conj() + b.clone(),
    "sum": lambda a, b: a.sum(1) + b.mean(1),
    "movement": lambda a, b: torch.cat([a.transpose(0, 1)[1:3], b.unsqueeze(1).flatten(0, 1).T.flip(0)[:2]]).reshape(
        -1
    ),
    "stack": lambda a, b: torch.stack([a, b], 1).expand(3, 2, 4)[:, 1][torch.tensor([2, 0])],
    "split": lambda a, b: a.split(2, dim=1)[1] * b.unbind(0)[0][:2],
    "to complex": lambda a, b: a.abs().to(torch.complex64) + b,
}


def case(f: Callable[..., Any]) -> Case:
    rng = np.random.default_rng()
    x, y = (torch.from_numpy(rng.normal(size=(3, 4, 2)).astype(np.float32)) for _ in range(2))
    return (lambda a, b: real(f(c(a), c(b)).resolve_conj())), (x, y)


def test_functions_of_complex_numbers() -> None:
    for name, result in evaluated({name: case(f) for name, f in BINARY.items()}).items():
        print(name)  # the last one is the one that differs
        assert_equal(result, 1e-4, 1e-5)


def test_real_functions_of_complex_numbers() -> None:
    parts = {"abs": torch.abs, "angle": torch.angle, "real": lambda z: z.real, "imag": lambda z: z.imag}
    x = torch.from_numpy(np.random.default_rng().normal(size=(3, 2)).astype(np.float32))
    for result in evaluated({name: (lambda a, f=f: f(c(a)), (x,)) for name, f in parts.items()}).values():
        assert_equal(result)


class Rotary(torch.nn.Module):
    """Scores of queries and keys with the rotary embedding of Llama's reference code."""

    def __init__(self) -> None:
        super().__init__()
        self.wq, self.wk = torch.nn.Linear(16, 16), torch.nn.Linear(16, 16)
        angles = torch.outer(torch.arange(12), 1.0 / 10000 ** (torch.arange(0, 8, 2) / 8))
        self.register_buffer("freqs_cis", torch.polar(torch.ones_like(angles), angles))

    def rotated(self, x: Any) -> Any:
        pairs = c(x.float().reshape(*x.shape[:-1], -1, 2))
        return real(pairs * self.freqs_cis[: x.shape[1]].view(1, x.shape[1], 1, 4)).flatten(3).type_as(x)

    def forward(self, x: Any) -> Any:
        q, k = (self.rotated(w(x).view(*x.shape[:2], 2, 8)).transpose(1, 2) for w in (self.wq, self.wk))
        return q @ k.transpose(-1, -2)


def test_rotary_embeddings_of_a_complex_table() -> None:
    rng = np.random.default_rng()
    module, sizes = Rotary(), {0: Dim("b", min=2, max=8), 1: Dim("n", min=2, max=12)}
    x = torch.from_numpy(rng.normal(size=(2, 5, 16)).astype(np.float32))
    program = export(module, (x,), dynamic_shapes={"x": sizes})
    with mlc.compile(program) as net:
        for shape in ((2, 5, 16), (3, 11, 16)):
            given = torch.from_numpy(rng.normal(size=shape).astype(np.float32))
            np.testing.assert_allclose(net(given.numpy()), module(given).detach().numpy(), rtol=1e-4, atol=1e-5)
    f = mlc.function(program)
    found = mlc.grad(lambda w: mnp.sum(f(x.numpy(), weights=w) ** 2))({"wq.weight": f.weights["wq.weight"]})
    (module(x) ** 2).sum().backward()
    np.testing.assert_allclose(found["wq.weight"].numpy(), module.wq.weight.grad.numpy(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("f", "x", "message"),
    [
        (lambda x: c(x).lerp(c(x), 0.5), torch.ones(3, 2), "lerp at .*: of complex"),
        (lambda x: c(x).view(torch.float32), torch.ones(3, 2), "view at .*: of complex numbers"),
    ],
)
def test_what_is_refused(f: Callable[..., Any], x: Any, message: str) -> None:
    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return f(x)

    with pytest.raises(InputError, match=message) as error:
        mlc.compile(export(Module(), (x,)))
    assert "uses 1 unsupported thing" in str(error.value)
