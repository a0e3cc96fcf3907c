"""``torch.compile(module, backend="mlc")``: results, dynamic shapes, several graphs, changed parameters, refusals."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch._dynamo.exc import BackendCompilerFailed  # noqa: E402

from mlc.torch import graph_program  # noqa: E402

STRICT = {"fallback": False}


def normal(*shape: int) -> Any:
    return torch.from_numpy(np.random.default_rng().normal(size=shape).astype(np.float32))


@pytest.fixture(autouse=True)
def inference() -> Iterator[None]:
    torch._dynamo.reset()
    with torch.no_grad():
        yield
    torch._dynamo.reset()


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The programs that were compiled, in order."""
    found: list[Any] = []
    prepare = graph_program.Program.prepare

    def noted(self: Any, args: Any) -> Any:
        found.append(self)
        return prepare(self, args)

    monkeypatch.setattr(graph_program.Program, "prepare", noted)
    return found


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(40, 32)
        self.norm = torch.nn.LayerNorm(32)
        self.register_buffer("offset", torch.randn(32))

    def forward(self, x: Any) -> Any:
        y = self.norm(self.layer(x) + self.offset)
        return {"y": torch.nn.functional.gelu(y) * torch.tensor([2.0]), "rows": x.shape[0]}


def assert_same(found: Any, wanted: Any) -> None:
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_it_is_registered() -> None:
    assert "mlc" in torch._dynamo.list_backends(exclude_tags=())


def test_results_are_those_of_the_module(prepared: list[Any]) -> None:
    net, x = Net().eval(), normal(3, 40)
    compiled = torch.compile(net, backend="mlc", options=STRICT)
    assert_same(compiled(x), net(x))
    (program,) = prepared
    assert sorted(name for name in program.state.values()) == [
        "layer.bias", "layer.weight", "norm.bias", "norm.weight", "offset",
    ]  # fmt: skip
    (variant,) = program.variants
    assert list(variant.model.inputs) == [program.names[n] for n in variant.inputs] and len(variant.inputs) == 1


def test_one_program_serves_all_sizes_of_a_dimension(prepared: list[Any]) -> None:
    net = Net().eval()
    compiled = torch.compile(net, backend="mlc", options=STRICT)
    for rows in (3, 5, 9, 1, 64):
        x = normal(rows, 40)
        assert_same(compiled(x), net(x))
    assert len(prepared) <= 3  # for 3 rows, for any number of them, and torch makes one for 1


def test_changed_parameters_count(prepared: list[Any]) -> None:
    net, x = Net().eval(), normal(3, 40)
    compiled = torch.compile(net, backend="mlc", options=STRICT)
    before = compiled(x)["y"]
    net.load_state_dict(Net().state_dict())
    assert_same(compiled(x), net(x))
    assert not torch.allclose(before, compiled(x)["y"]) and len(prepared) == 2


def test_two_modules_of_a_class_have_their_own_parameters() -> None:
    x = normal(3, 40)
    for net in (Net().eval(), Net().eval()):
        assert_same(torch.compile(net, backend="mlc", options=STRICT)(x), net(x))


class Layers(torch.nn.Module):
    """Two layers of one class, each a graph of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = (torch.nn.Sequential(torch.nn.Linear(40, 40), torch.nn.GELU()) for _ in range(2))

    def forward(self, x: Any) -> Any:
        y = self.a(x)
        torch._dynamo.graph_break()
        return self.b(y)


def test_layers_of_one_class_are_compiled_once_each(prepared: list[Any]) -> None:
    net, x = Layers().eval(), normal(3, 40)
    compiled = torch.compile(net, backend="mlc", options=STRICT)
    for _ in range(3):
        assert_same(compiled(x), net(x))
    assert len(prepared) == 2


def test_a_graph_keeps_a_program_for_each_set_of_parameters() -> None:
    graph, made = torch.fx.symbolic_trace(lambda w, x: torch.ops.aten.mul.Tensor(w, x)), []
    for node in graph.graph.nodes:
        node.meta["val"] = torch.empty(4, device="meta")
    program = graph_program.Program(graph, {0: "w"}, graph_program.Settings())
    x, weights = normal(4), [torch.nn.Parameter(normal(4)) for _ in range(2)]
    for w in (*weights, *weights):
        assert_same(program([w, x]), [w * x])
        made.append(len(program.variants))
    weights[0].mul_(2)
    assert_same(program([weights[0], x]), [weights[0] * x])
    assert made == [1, 2, 2, 2] and len(program.variants) == 2


def breaking(x: Any, factor: int) -> Any:
    y = x * factor
    torch._dynamo.graph_break()
    if y.sum() > 0:
        return y + 1
    return y - 1


def test_several_graphs_and_numbers_that_vary(prepared: list[Any]) -> None:
    compiled = torch.compile(breaking, backend="mlc", options=STRICT)
    for factor, sign in ((2, 1), (3, -1), (7, 1)):
        x = sign * normal(6).abs()
        assert_same(compiled(x, factor), breaking(x, factor))
    assert len(prepared) >= 3


def changing(x: Any, y: Any) -> Any:
    x.add_(1)
    x[0] = y
    return x * 2, y.t()


def test_inputs_that_the_function_changes() -> None:
    x, y = normal(3, 4), normal(4)
    mine, own = x.clone(), x.clone()
    assert_same(torch.compile(changing, backend="mlc", options=STRICT)(mine, y), changing(own, y))
    assert_same(mine, own)


def strange(x: Any) -> Any:
    return torch.special.bessel_j0(x * 2)


def test_without_fallback_it_is_an_error() -> None:
    with pytest.raises(BackendCompilerFailed, match="special_bessel_j0 at test_torch_backend.py"):
        torch.compile(strange, backend="mlc", options=STRICT)(normal(5))


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(BackendCompilerFailed, match="no option 'thread'.*threads"):
        torch.compile(strange, backend="mlc", options={"thread": 2})(normal(5))


def test_tensors_are_not_copied(prepared: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    net, x = Net().eval(), normal(3, 40)
    compiled = torch.compile(net, backend="mlc", options=STRICT)
    compiled(x)
    (program,), seen = prepared, []
    model = program.variants[0].model

    def run(*arrays: Any) -> Any:
        seen.extend(arrays)
        found = model(*arrays)
        seen.append(found)
        return found

    run.outputs = model.outputs  # type: ignore[attr-defined]
    monkeypatch.setattr(program, "variants", [dataclasses.replace(program.variants[0], model=run)])
    with warnings.catch_warnings(action="error"):
        y = compiled(x)["y"]
    assert seen[0].ctypes.data == x.data_ptr() and seen[-1].ctypes.data == y.data_ptr()
