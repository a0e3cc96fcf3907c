"""mlc.jit: traces, their cache and reasons, static arguments, trees, open dimensions, artifacts, errors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import mlc
import mlc.numpy as mnp
from mlc.errors import InputError

ROOT = Path(__file__).parents[4]
RNG = np.random.default_rng(5)


class Layer(NamedTuple):
    weight: Any
    bias: Any


def network(layers: list[Layer], x: Any, activation: str = "tanh") -> Any:
    for layer in layers:
        x = getattr(mnp, activation)(x @ layer.weight + layer.bias)
    return {"y": x, "size": mnp.sum(x * x)}


def layers(*sizes: int) -> list[Layer]:
    pairs = zip(sizes, sizes[1:], strict=False)
    return [Layer(RNG.normal(size=p).astype("f4"), RNG.normal(size=p[1]).astype("f4")) for p in pairs]


def test_trees_static_arguments_and_reasons() -> None:
    traces = []

    @mlc.jit(static="activation")
    def f(layers: list[Layer], x: Any, activation: str = "tanh") -> Any:
        traces.append(activation)
        return network(layers, x, activation)

    params, x = layers(5, 7, 3), RNG.normal(size=(4, 5)).astype("f4")
    for activation in ("tanh", "sin", "tanh"):
        expected = x
        for layer in params:
            expected = getattr(np, activation)(expected @ layer.weight + layer.bias)
        found = f(params, x, activation)
        np.testing.assert_allclose(found["y"], expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found["size"], (expected**2).sum(), rtol=1e-5)
    f(params, x[:2])
    assert traces == ["tanh", "sin", "tanh"]
    first, second, third = mlc.explain(f).splitlines()
    assert first == "f: the first call"
    assert second == "f: static arguments are {'activation': 'sin'}, they were {'activation': 'tanh'}"
    assert third == "f: x is float32[2, 5], it was float32[4, 5]"


def test_any_number_of_arguments() -> None:
    @mlc.jit
    def f(*xs: Any, **others: Any) -> Any:
        return {"sum": sum(xs), **{name: x * 2 for name, x in others.items()}}

    for count in (1, 3):
        found = f(*np.arange(float(count)), y=np.ones(2), z=3)
        assert float(found["sum"]) == sum(range(count))
        np.testing.assert_array_equal(found["y"], [2, 2])
        assert int(found["z"]) == 6


def test_one_program_for_every_size() -> None:
    @mlc.jit(shapes={"x": ("batch", None)})
    def centred(x: Any) -> Any:
        return x - mnp.mean(x, axis=0), mnp.argmax(x, axis=1), mnp.arange(x.shape[0]), mnp.roll(x, (-1, 2), axis=(0, 1))

    for rows in (1, 4, 33):
        x = RNG.normal(size=(rows, 6)).astype("f4")
        mean, best, count, rolled = centred(x)
        np.testing.assert_array_equal(rolled, np.roll(x, (-1, 2), (0, 1)))
        np.testing.assert_allclose(mean, x - x.mean(0), atol=1e-6)
        np.testing.assert_array_equal(best, x.argmax(1))
        np.testing.assert_array_equal(count, np.arange(rows))
    assert len(mlc.explain(centred).splitlines()) == 1


def test_jit_of_grad_and_grad_of_jit() -> None:
    inner = mlc.jit(lambda x: mnp.sum(mnp.tanh(x) * x))
    x = RNG.normal(size=(3, 4))
    expected = np.tanh(x) + x / np.cosh(x) ** 2
    np.testing.assert_allclose(mlc.jit(mlc.grad(inner))(x), expected, rtol=1e-12)
    np.testing.assert_allclose(mlc.grad(inner)(x), expected, rtol=1e-12)


def test_a_traced_function_is_deployed(tmp_path: Path) -> None:
    weight = RNG.normal(size=(600, 70)).astype("f4")  # captured: part of the artifact
    f = mlc.jit(lambda x: mnp.maximum(x @ weight, 0))
    spec = mlc.TensorSpec(np.dtype("float32"), ("batch", 600))
    f.save(tmp_path / "f.so", spec)
    x = RNG.normal(size=(3, 600)).astype("f4")
    np.testing.assert_allclose(mlc.load(tmp_path / "f.so")(x), np.maximum(x @ weight, 0), rtol=1e-4, atol=1e-4)
    assert "f_run(" in (tmp_path / "f.h").read_text()
    assert 'graph.contract "MK,KN->MN"' in f.ir("graph", spec)
    assert "test_jit.py:" in f.ir("kernel", spec)


def test_the_value_of_captured_data_is_part_of_the_program() -> None:
    def scaled(captured: Any) -> Any:
        return mlc.jit(lambda x: captured * x)

    for factor in (2, 3):
        np.testing.assert_array_equal(scaled(mnp.asarray(np.full(4, factor, "f4")))(np.ones(4, "f4")), [factor] * 4)


def test_elements_of_a_traced_array_are_an_error_with_its_line() -> None:
    @mlc.jit
    def f(x: Any) -> Any:
        y = x + 1
        return y if y[0] > 0 else x

    with pytest.raises(mlc.TraceError, match=r"test_jit.py:\d+: the elements .*made at test_jit.py:\d+"):
        f(np.ones(3, "f4"))
    kept: list[Any] = []
    mlc.jit(lambda x: kept.append(x * 2) or x)(np.ones(3, "f4"))
    with pytest.raises(mlc.TraceError, match="test_jit.py"):
        float(mnp.sum(kept[0]))


def test_bad_arguments() -> None:
    with pytest.raises(InputError, match="no parameter z"):
        mlc.jit(lambda x: x, static="z")
    with pytest.raises(InputError, match="argument 'x' is a str"):
        mlc.jit(lambda x: x)("text")
    with pytest.raises(InputError, match=r"static argument 'n' is a list, which has no hash"):
        mlc.jit(lambda x, n: x, static="n")(np.ones(3), [1])
    with pytest.raises(InputError, match="returns a str"):
        mlc.jit(lambda x: "text")(np.ones(3))
    with pytest.raises(InputError, match=r"shape \(3,\), and shapes says \('n', 4\)"):
        mlc.jit(lambda x: x, shapes={"x": ("n", 4)})(np.ones(3))
    with pytest.raises(InputError, match=r"Shapes \(3,\), \(4,\) do not broadcast"):
        mlc.jit(lambda x, y: x + y)(np.ones(3), np.ones(4))


def test_the_code_of_the_readme() -> None:
    code = re.search(r"```python\n(import mlc.numpy.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert code is not None
    shapes = {"w": (5, 3), "x": (7, 5), "y": (7, 3)}
    arrays = {name: RNG.normal(size=shape).astype("f4") for name, shape in shapes.items()}
    names = {"mlc": mlc, **arrays}
    exec(code[1], names)
    w, x, y = arrays.values()
    error = np.tanh(x @ w) - y
    gradient = x.T @ (2 * error * (1 - np.tanh(x @ w) ** 2)) / y.size
    np.testing.assert_allclose(names["w"], w - 0.1 * gradient, rtol=1e-5, atol=1e-6)
