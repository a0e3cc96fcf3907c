"""Weights of a few bits that products unpack in registers, compiled: against NumPy on unpacked ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import mlc
from mlc import target as targets
from mlc.driver.lower import lower
from mlc.frontends.onnx import import_model
from mlc.options import Options

Array = np.ndarray[Any, Any]
K, N, BLOCK = 200, 100, 32


def weight(random: np.random.Generator, bits: int) -> tuple[list[Array], Array]:
    """Numbers, scales and zero points as MatMulNBits stores them, and the weight [K, N]."""
    blocks = -(-K // BLOCK)
    numbers = random.integers(0, 2**bits, (N, blocks, BLOCK)).astype("u1")
    scales = random.uniform(0.01, 0.02, (N, blocks)).astype("f4")
    zeros = random.uniform(0, 2**bits, (N, blocks)).astype("f4")
    w = ((numbers - zeros[..., None]) * scales[..., None]).reshape(N, -1)[:, :K]
    per = 8 // bits
    parts = [numbers[..., n::per] << (bits * n) for n in range(per)]
    return [np.bitwise_or.reduce(parts), scales.reshape(-1), zeros.reshape(-1)], w.T.astype(np.float64)


def model(tensors: list[Array], bits: int, rows: int | str) -> ModelProto:
    names = ["w", "s", "z"][: len(tensors)]
    attributes = {"K": K, "N": N, "bits": bits, "block_size": BLOCK, "domain": "com.microsoft"}
    node = helper.make_node("MatMulNBits", ["x", *names], ["y"], **attributes)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, K])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, N])
    constants = [numpy_helper.from_array(t, n) for n, t in zip(names, tensors, strict=True)]
    graph = helper.make_graph([node], "words", [x], [y], constants)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_any_number_of_rows(bits: int, target: str) -> None:
    random = np.random.default_rng(7)
    tensors, w = weight(random, bits)
    net = mlc.compile(model(tensors, bits, "rows"), target=target, threads=2)
    for rows in (1, 3, 17):
        x = random.standard_normal((rows, K)).astype("f4")
        wanted = x @ w
        np.testing.assert_allclose(net.run({"x": x})["y"], wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("given", [False, True])
def test_zero_points_of_four_bits(given: bool) -> None:
    """Two in a byte, or 8 where there are none, from one row to some that tiles of 6, 4, 2 and 1 cover."""
    random = np.random.default_rng()
    (packed, scales, _), _ = weight(random, 4)
    zeros = random.integers(0, 16, (N, 8)).astype("u1") if given else np.full((N, 8), 8, "u1")
    numbers = np.stack([packed & 15, packed >> 4], -1).reshape(N, -1, BLOCK)
    w = ((numbers - zeros[:, :7, None].astype("f8")) * scales.reshape(N, -1)[..., None]).reshape(N, -1)[:, :K].T
    halves = [zeros[:, ::2] | zeros[:, 1::2] << 4] if given else []
    net = mlc.compile(model([packed, scales, *halves], 4, "rows"), threads=1)
    for rows in (1, 2, 3, 5, 7, 13):
        x = random.standard_normal((rows, K)).astype("f4")
        wanted = x @ w
        np.testing.assert_allclose(net.run({"x": x})["y"], wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


def test_integers_become_floats_by_a_table() -> None:
    tensors, _ = weight(np.random.default_rng(), 4)
    for name, there in (("x86-64-v4", True), ("x86-64-v3", False)):
        imported = import_model(model(tensors, 4, 1))
        lowered = lower(imported.module, imported.weights, Options(targets.get(name)))
        assert ("mlc_nibbles_f32x16" in "".join(lowered.sources.values())) == there


def test_the_weight_is_not_unpacked_in_memory() -> None:
    tensors, _ = weight(np.random.default_rng(7), 4)
    imported = import_model(model(tensors, 4, 1))
    lower(imported.module, imported.weights, Options(targets.get("x86-64-v4")), until="schedule")
    text = str(imported.module)
    assert "memref<2x7x4x64xi32>" in text  # [N/64, blocks, words, 64]
    assert 'schedule = #poly.schedule<"contraction: S0 | i1/64v | r0/4s r1 r2">' in text
