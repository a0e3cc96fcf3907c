"""Exported programs: names, trees, symbolic dimensions, weights, locations, errors; files; the command line."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.export import Dim, export  # noqa: E402

import mlc  # noqa: E402
from mlc.cli import main  # noqa: E402
from mlc.frontends.torch.program import import_program  # noqa: E402
from mlc.torch.source import ProgramSource  # noqa: E402


class Net(torch.nn.Module):
    """Has a parameter, a buffer, a constant, a tree of arguments and one of results."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(40, 32)
        self.register_buffer("offset", torch.randn(32))

    def forward(self, x: dict[str, Any], y: Any, flag: bool = True) -> Any:
        z = torch.relu(self.layer(x["a"]) + self.offset) * torch.tensor([2.0])
        return {"z": z[:, 1:], "rows": x["a"].shape[0], "rest": (y, z.sum() if flag else None, 3)}


def normal(*shape: int) -> Any:
    return torch.from_numpy(np.random.default_rng().normal(size=shape).astype(np.float32))


def program(most: int = 64) -> Any:
    batch = Dim("batch", max=most)
    shapes = {"x": {"a": {0: batch}}, "y": {0: 2 * batch}}
    return export(Net().eval(), ({"a": normal(3, 40)}, normal(6)), dynamic_shapes=shapes)


@pytest.fixture(scope="module")
def shared() -> Any:
    return program()


def test_names_of_values_weights_and_lines_are_in_the_module(shared: Any) -> None:
    module = str(import_program(shared, {}, "net").module)
    for part in (
        '%layer_weight = graph.weight "layer.weight"', "%offset = ", "%relu = ", '"test_torch_programs.py:', ' layer"]',
        'graph.name = "x_a"', 'graph.name = "z"', 'graph.name = "rest.0"', '<["2*batch"]>', "-batch+64",
    ):  # fmt: skip
        assert part in module, part


def test_weights_are_not_copied(shared: Any) -> None:
    imported = import_program(shared, {}, "net")
    weight = imported.weights["layer.weight"]
    assert np.shares_memory(weight, shared.state_dict["layer.weight"].detach().numpy())


def test_a_program_is_called_as_its_module(shared: Any) -> None:
    net = mlc.compile(shared)
    again = pickle.loads(pickle.dumps(net))
    for rows in (1, 5):
        x, y = {"a": normal(rows, 40)}, normal(2 * rows)
        wanted = shared.module()(x, y)
        for model in (net, again):
            found = model(x, y)
            torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)
            assert isinstance(found["rows"], int)
    arrays = net.run({"x_a": x["a"].numpy(), "y": y.numpy()})
    np.testing.assert_allclose(arrays["z"], wanted["z"].detach(), rtol=1e-5, atol=1e-5)


def test_wrong_arguments_are_refused(shared: Any) -> None:
    net = mlc.compile(shared)
    with pytest.raises(mlc.RunError, match="batch <= 64, but batch is 65"):
        net({"a": normal(65, 40)}, normal(130))
    with pytest.raises(mlc.RunError, match="another structure"):
        net(normal(3, 40), normal(6))


def test_dims_fix_a_dimension_by_the_name_it_was_exported_with(shared: Any) -> None:
    assert import_program(shared, {"batch": 4}, "net").module.verify() is None
    assert 'tensor<4x40xf32> {graph.name = "x_a"}' in str(import_program(shared, {"batch": 4}, "net").module)
    with pytest.raises(mlc.InputError, match="no symbolic dimension 'rows'.*batch"):
        import_program(shared, {"rows": 4}, "net")


def test_the_digest_is_of_graph_and_weights() -> None:
    torch.manual_seed(0)
    one = ProgramSource.of(program())
    torch.manual_seed(0)
    same, other_weights = ProgramSource.of(program()), ProgramSource.of(program())
    torch.manual_seed(0)
    other_range = ProgramSource.of(program(most=32))
    assert one.digest == same.digest and one.name == "Net"
    assert len({one.digest, other_weights.digest, other_range.digest}) == 3


class Unsupported(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        y = torch.special.bessel_j1(x).abs()
        return torch.special.bessel_j0(x) + y


def test_all_unsupported_operators_are_listed_with_their_lines() -> None:
    exported = export(Unsupported(), (normal(3, 3),))
    with pytest.raises(mlc.InputError) as error:
        mlc.compile(exported)
    first = Unsupported.forward.__code__.co_firstlineno
    assert f"special_bessel_j1 at test_torch_programs.py:{first + 1}: operator not supported" in str(error.value)
    assert f"special_bessel_j0 at test_torch_programs.py:{first + 2}" in str(error.value)
    assert len(mlc.check(exported)) == 2


class Shared(torch.nn.Module):
    """A weight twice, an input that is returned, one result twice."""

    def __init__(self) -> None:
        super().__init__()
        self.a = torch.nn.Linear(40, 40)
        self.b = self.a

    def forward(self, x: Any) -> Any:
        y = self.b(self.a(x))
        return x, y, y


def test_results_may_be_inputs_or_one_tensor_twice() -> None:
    exported, x = export(Shared(), (normal(2, 40),)), normal(2, 40)
    torch.testing.assert_close(mlc.compile(exported)(x), exported.module()(x), rtol=1e-5, atol=1e-5)


class Half(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(64, 64, dtype=torch.bfloat16))

    def forward(self, x: Any) -> Any:
        return x @ self.weight


def test_bfloat16_goes_in_and_out() -> None:
    exported, x = export(Half(), (normal(2, 64).bfloat16(),)), normal(2, 64).bfloat16()
    torch.testing.assert_close(mlc.compile(exported)(x), exported.module()(x))


def test_a_file_on_the_command_line(shared: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, results = tmp_path / "net.pt2", tmp_path / "y.npz"
    torch.export.save(shared, file)
    names = list(mlc.compile(shared).inputs)
    x, y = normal(4, 40), normal(8)
    np.savez(tmp_path / "x.npz", **{names[0]: x.numpy(), names[1]: y.numpy()})
    for command in (
        ["check", str(file)], ["inspect", str(file)], ["compile", str(file), "-o", str(tmp_path / "net.so")],
        ["run", str(file), "-i", str(tmp_path / "x.npz"), "-o", str(results)],
    ):  # fmt: skip
        with pytest.raises(SystemExit) as end:
            main(command)
        assert end.value.code == 0, capsys.readouterr().err
    wanted = shared.module()({"a": x}, y)["z"].detach()
    np.testing.assert_allclose(np.load(results)["z"], wanted, rtol=1e-5, atol=1e-5)
    assert "relu 1" in capsys.readouterr().out


def test_without_torch_a_file_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "net.pt2").write_bytes(b"PK")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(mlc.InputError, match=r"needs PyTorch.*pip install 'mlc\[torch\]'"):
        mlc.compile(tmp_path / "net.pt2")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 nothing"])
def test_a_damaged_file_is_refused(data: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "net.pt2").write_bytes(data)
    with pytest.raises(mlc.InputError, match="torch.export.load cannot read"):
        mlc.compile(tmp_path / "net.pt2")
    assert "Traceback" not in capfd.readouterr().err
