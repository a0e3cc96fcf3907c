"""StableHLO modules: their text, what is refused, and their numbers by XLA where JAX is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import mlc
import mlc.numpy as mnp
from mlc import nn
from mlc.errors import InputError
from mlc.frontends.array import trees

EYE = np.eye(40, dtype=np.float32)[:, :4]


def data(*shape: int) -> Any:
    return np.random.default_rng().standard_normal(shape).astype(np.float32)


def run(text: str, *arrays: Any) -> list[Any]:
    """The results of ``main`` on the CPU, by XLA, which parses and verifies the text."""
    import jax
    from jax.extend.backend import get_backend
    from jaxlib import xla_client

    jax.config.update("jax_enable_x64", True)
    devices = xla_client.DeviceList(tuple(jax.devices("cpu")[:1]))
    program = get_backend("cpu").compile_and_load(text, devices, xla_client.CompileOptions())
    results = program.execute_sharded([jax.device_put(np.asarray(x)) for x in arrays])
    return [np.asarray(x[0]) for x in results.disassemble_into_single_device_arrays()]


def check(f: Any, *arrays: Any) -> None:
    expected = [y.numpy() for y in trees.leaves(f(*map(mnp.asarray, arrays)))]
    for found, wanted in zip(run(mlc.export_stablehlo(f, *arrays), *arrays), expected, strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        scale = np.max(np.abs(wanted), initial=1, where=np.isfinite(wanted.astype(np.complex128)))
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=2e-6 * float(scale))


def step(w: Any, b: Any, v: Any, x: Any, y: Any) -> Any:
    """A step of training of a perceptron."""

    def loss(given: Any) -> Any:
        return -mnp.mean(mnp.sum(nn.log_softmax(mnp.tanh(x @ given[0] + given[1]) @ given[2]) * y, 1))

    value, slopes = mlc.value_and_grad(loss)([w, b, v])
    return value, [a - 0.1 * s for a, s in zip((w, b, v), slopes, strict=True)]


PROGRAMS: dict[str, tuple[Any, ...]] = {
    "elementwise": (lambda x, y: mnp.where(x > y, mnp.exp(-x * x), mnp.arctan2(y, x) % 0.7) // 0.3, (3, 5), (5,)),
    "functions": (lambda x: [f(x) for f in (mnp.sinh, mnp.arcsinh, mnp.log1p, mnp.expm1, mnp.trunc, mnp.sign, mnp.isnan,
                                            mlc.scipy.special.erf, mlc.scipy.special.erfc, nn.gelu)], (2, 7)),
    "integers": (lambda x: [f(mnp.floor(9 * x).astype(mnp.int32), np.int32(4)) for f in
                            (mnp.mod, mnp.floor_divide, mnp.fmod, mnp.right_shift, mnp.bitwise_xor)], (4, 5)),
    "products": (lambda x, y: [x @ y, x[:, 0] @ x[:, 1], mnp.einsum("bij,bjk->kib", x[None], y[None]),
                               mnp.einsum("ij,kl->ik", x, y)], (4, 5), (5, 6)),
    "convolution": (nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), (2, 4, 8, 8)),
    "transposed convolution": (nn.ConvTranspose2d(3, 4, 4, stride=3, padding=2), (2, 3, 5, 6)),
    "pools": (lambda x: [nn.max_pool(x[None, None], 2), nn.avg_pool(x[None, None], 2)], (6, 8)),
    "reductions": (lambda x: [x.sum(), x.mean(0), x.max(1, keepdims=True), mnp.prod(x), mnp.all(x > -1, 0),
                              mnp.argmax(x, 1), mnp.std(x)], (3, 4)),
    "softmax": (lambda x: [nn.softmax(x), mlc.scipy.special.logsumexp(x, axis=0)], (3, 7)),
    "gathers": (lambda x: [x[np.array([[1, 8], [0, 2]])], mnp.take(x, np.array([3, 1]), axis=1),
                           x[np.array([1, 3]), np.array([0, 2])], mnp.tile(x, (2, 1)), mnp.roll(x, 2, 0)], (9, 4)),
    "scatters": (lambda x, u: [x.at[np.array([1, 8, 1])].add(u), x.at[:, np.array([2, 0])].set(u[0, 0]),
                               x.at[np.array([3, 8, 3])].max(u)], (9, 4), (3, 4)),
    "slices": (lambda x: [x[1:3], x[::-1], x[3:0:-2, 1], mnp.pad(x, ((1, 2), (0, 1))), mnp.concat([x, x[:0]])], (4, 6)),
    "sorts": (lambda x: [mnp.sort(x, axis=1), mnp.argsort(-x, axis=0), mnp.cumsum(x, axis=1), mnp.cumprod(x, 0)],
              (4, 9)),
    "scan": (lambda x: mlc.scan(lambda c, y: (c * 0.5 + y, c + y), mnp.zeros(4), x, reverse=True), (6, 4)),
    "loops": (lambda x: mlc.while_loop(lambda s: s.sum() < 100, lambda s: s * 1.5 + 1, mnp.abs(x)), (4,)),
    "loop of a branch": (lambda x: mlc.fori_loop(0, 3, lambda i, s: mlc.cond(s[i] > 0, lambda a: a - x[i],
                         lambda a: a * 2, s), x), (4,)),
    "recurrent": (nn.LSTM(3, 4, bidirectional=True), (5, 2, 3)),
    "attention": (nn.TransformerEncoderLayer(8, 2, 16).eval(), (2, 5, 8)),
    "derivatives": (mlc.hessian(lambda x: mnp.sum(mnp.sin(x) * x**3)), (4,)),
    "factors": (lambda x: [mnp.linalg.cholesky(x @ x.T + 4 * mnp.eye(4)),
                           mlc.scipy.linalg.solve_triangular(x + 4 * mnp.eye(4), x, lower=True)], (4, 4)),
    "random numbers": (lambda x: x + mnp.random.normal(mnp.random.key(3), (4, 5)), (5,)),
    "training": (step, (4, 8), (8,), (8, 3), (6, 4), (6, 3)),
    "constants": (lambda x: [mnp.asarray([1e-9, np.inf, np.nan, -0.0]) + x, x + mnp.asarray(EYE), 
                             mnp.asarray([True, False]), mnp.asarray(np.arange(90, dtype=np.uint8))], (4,)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_by_xla(name: str) -> None:
    pytest.importorskip("jax")
    f, *shapes = PROGRAMS[name]
    check(f, *(data(*shape) for shape in shapes))


def test_a_model_with_its_names(tmp_path: Path) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["": 17]>
        net (float[batch, 2] x, float[2, 3] w) => (float[batch, 3] y) { z = MatMul(x, w) y = Relu(z) }""")
    text = mlc.export_stablehlo(model, dims={"batch": 4}, path=tmp_path / "net.mlir")
    assert text == (tmp_path / "net.mlir").read_text()
    assert (
        text
        == """module @net {
  func.func public @main(%arg0: tensor<4x2xf32> {mlc.name = "x"}, %arg1: tensor<2x3xf32> {mlc.name = "w"}) -> \
(tensor<4x3xf32> {mlc.name = "y"}) {
    %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], \
rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = \
[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    %1 = stablehlo.constant dense<0.0> : tensor<4x3xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<4x3xf32>
    return %2 : tensor<4x3xf32>
  }
}
"""
    )


@pytest.mark.parametrize("f, says", [
    (lambda x: mnp.linalg.solve(x, x), "test_stablehlo_export.py:[0-9]+: .*graph.lu has no form in StableHLO"),
    (lambda x: mnp.linalg.eigh(x), "has no form in StableHLO"),
])  # fmt: skip
def test_what_has_no_form_is_refused_by_name(f: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        mlc.export_stablehlo(f, np.eye(3, dtype=np.float32))


def test_open_dimensions_are_refused() -> None:
    with pytest.raises(InputError, match="the dimension batch is open.*dims={'batch': 1}"):
        mlc.export_stablehlo(nn.Linear(3, 2), data(4, 3), dims={"x": ("batch", 3)})
    with pytest.raises(InputError, match="without example arguments"):
        mlc.export_stablehlo(lambda x: x)
