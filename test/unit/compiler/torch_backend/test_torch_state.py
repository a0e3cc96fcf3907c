"""Modules that change buffers and inputs: compiled programs beside eager torch, over several calls."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import mlc  # noqa: E402
from mlc.torch import graph_program  # noqa: E402


def normal(*shape: int) -> Any:
    return torch.from_numpy(np.random.default_rng().normal(size=shape).astype(np.float32))


class Counting(torch.nn.Module):
    """Batch normalization in training, a counter that is not saved, an input that is doubled."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm2d(3)
        self.register_buffer("calls", torch.zeros(()), persistent=False)

    def forward(self, x: Any, scale: Any) -> Any:
        self.calls.add_(1)
        scale.mul_(2)
        return self.norm(x) * scale + self.calls


class Cached(torch.nn.Module):
    """Attention of one token with those before it."""

    def __init__(self) -> None:
        super().__init__()
        self.project = torch.nn.Linear(4, 8)
        self.register_buffer("keys", torch.zeros(6, 4))
        self.register_buffer("values", torch.zeros(6, 4))

    def forward(self, x: Any, position: Any) -> Any:
        key, value = self.project(x).chunk(2, -1)
        self.keys.index_copy_(0, position, key)
        self.values[position] = value
        mask = torch.arange(6) <= position
        return torch.nn.functional.scaled_dot_product_attention(x, self.keys, self.values, mask[None])


Make = Callable[[int], tuple[Any, ...]]
CASES: dict[str, tuple[Any, Make]] = {
    "training statistics": (Counting, lambda n: (normal(4, 3, 5, 2), normal(5, 2))),
    "cache": (Cached, lambda n: (normal(1, 4), torch.tensor([n]))),
}


def assert_steps_are_equal(step: Any, eager: Any, make: Make) -> None:
    for n in range(3):
        args = make(n)
        own = copy.deepcopy(args)
        with torch.no_grad():
            torch.testing.assert_close(step(*args), eager(*own), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(args, own)


@pytest.mark.parametrize("name", CASES)
def test_a_compiled_program_carries_its_state(name: str) -> None:
    kind, make = CASES[name]
    eager = kind()
    program = torch.export.export(copy.deepcopy(eager), make(0))
    net = mlc.compile(program)
    first = {key: each.clone() for key, each in net.state.items()}
    assert_steps_are_equal(net, eager, make)
    buffers = dict(eager.named_buffers())
    assert set(net.state) == {key for key, each in buffers.items() if not torch.equal(each, first[key])} != set()
    for key, each in net.state.items():
        torch.testing.assert_close(each, buffers[key], rtol=1e-4, atol=1e-5)
    other = pickle.loads(pickle.dumps(net))
    assert_steps_are_equal(other, copy.deepcopy(eager), make)
    net.state = first
    assert_steps_are_equal(net, _again(eager, first), make)


def _again(module: Any, state: dict[str, Any]) -> Any:
    """A copy of a module with some buffers as they were."""
    made = copy.deepcopy(module)
    for name, each in made.named_buffers():
        each.copy_(state.get(name, each))
    return made


def test_state_by_name_is_among_inputs_and_outputs() -> None:
    net = mlc.compile(torch.export.export(Cached(), (normal(1, 4), torch.tensor([0]))))
    assert list(net.inputs) == ["x", "position", "state.keys", "state.values"]
    assert list(net.outputs) == ["output", "state.keys", "state.values"]
    given = {"x": normal(1, 4), "position": torch.tensor([2]), **{f"state.{n}": t for n, t in net.state.items()}}
    found = net.run({name: x.numpy() for name, x in given.items()})
    assert np.abs(found["state.keys"][2]).max() > 0 and not net.state["keys"].any()


def test_arrays_that_a_program_changes() -> None:
    net, x = mlc.compile(torch.export.export(Counting(), (normal(4, 3, 5, 2), normal(5, 2)))), normal(4, 3, 5, 2)
    scale = np.ones((5, 2), np.float32)
    net(x.numpy(), scale)
    assert (scale == 2).all()


class Clashing(torch.nn.Module):
    def forward(self, z: Any) -> Any:
        z.add_(1)
        return {"changed": {"z": z * 2}}


def test_a_result_with_the_name_of_a_new_value_is_refused() -> None:
    with pytest.raises(mlc.InputError, match="Two results have the name 'changed.z'"):
        mlc.compile(torch.export.export(Clashing(), (normal(3),)))


@pytest.mark.parametrize("name", CASES)
def test_torch_compile_writes_buffers_and_compiles_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, make = CASES[name]
    prepared, prepare = [], graph_program.Program.prepare

    def noted(self: Any, args: Any) -> Any:
        prepared.append(self)
        return prepare(self, args)

    monkeypatch.setattr(graph_program.Program, "prepare", noted)
    torch._dynamo.reset()
    eager = kind()
    mine = copy.deepcopy(eager)
    compiled = torch.compile(mine, backend="mlc", options={"fallback": False})
    assert_steps_are_equal(compiled, eager, make)
    torch.testing.assert_close(dict(mine.named_buffers()), dict(eager.named_buffers()), rtol=1e-4, atol=1e-5)
    assert len(prepared) == 1
