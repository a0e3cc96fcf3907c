"""Products with weights of a few bits whose model allows activations of bytes: against NumPy in float64, where both
factors are rounded as the model allows, block by block."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import mlc
from mlc import target as targets
from mlc.driver.lower import lower
from mlc.frontends.onnx import import_model
from mlc.options import Options

Array = np.ndarray[Any, Any]
BYTES = 4  # accuracy_level


def tensors(random: np.random.Generator, sizes: tuple[int, int], bits: int, block: int, zeros: str) -> list[Array]:
    """What MatMulNBits stores, and after it the weight [K, N]."""
    k, n = sizes
    blocks, per = -(-k // block), 8 // bits
    numbers = random.integers(0, 2**bits, (n, blocks, block))
    scales = random.uniform(0.01, 0.02, (n, blocks)).astype("f4")
    packed = np.bitwise_or.reduce([numbers[..., i::per] << bits * i for i in range(per)]).astype("u1")
    zero, stored = np.full((n, blocks), 2 ** (bits - 1)), []
    if zeros == "packed":
        zero = random.integers(0, 2**bits, (n, -(-blocks // per) * per))
        stored = [np.bitwise_or.reduce([zero[:, i::per] << bits * i for i in range(per)]).astype("u1")]
    elif zeros == "floats":
        zero = random.uniform(0, 2**bits, (n, blocks)).astype("f4")
        stored = [zero]
    weight = (numbers - zero[:, :blocks, None]) * scales[..., None].astype("f8")
    return [packed, scales, *stored, weight.reshape(n, -1)[:, :k].T]


def model(
    stored: list[Array], sizes: tuple[int, int], bits: int, block: int, level: int, rows: int | str
) -> ModelProto:
    names = ["w", "s", "z"][: len(stored)]
    given = {"K": sizes[0], "N": sizes[1], "bits": bits, "block_size": block, "accuracy_level": level}
    node = helper.make_node("MatMulNBits", ["x", *names], ["y"], domain="com.microsoft", **given)
    x, y = (helper.make_tensor_value_info(v, TensorProto.FLOAT, [rows, s]) for v, s in zip("xy", sizes, strict=True))
    constants = [numpy_helper.from_array(t, n) for n, t in zip(names, stored, strict=True)]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph([node], "blocks", [x], [y], constants)
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def rounded(x: Array, block: int) -> Array:
    """``x`` as bytes with a scale for each chunk, as floats."""
    rows, k = x.shape
    chunk = min(block, 32)
    parts = np.pad(x, ((0, 0), (0, -k % block))).reshape(rows, -1, chunk)
    largest = np.abs(parts).max(-1, keepdims=True)
    units = np.where(largest > 0, largest, np.float32(1)) / np.float32(127)
    return (np.round(parts / units) * units.astype("f8")).reshape(rows, -1)[:, :k]


@pytest.mark.parametrize(("bits", "block", "zeros"), [
    (4, 32, "none"), (4, 128, "packed"), (4, 16, "floats"), (2, 64, "none"), (8, 32, "packed"), (2, 16, "floats"),
])  # fmt: skip
@pytest.mark.parametrize("target", ["cpu", "x86-64-v3", "znver3"])
def test_any_number_of_rows(bits: int, block: int, zeros: str, target: str) -> None:
    random, sizes = np.random.default_rng(), (200, 100)
    *stored, weight = tensors(random, sizes, bits, block, zeros)
    compiled = mlc.compile(model(stored, sizes, bits, block, BYTES, "rows"), target=target, threads=2)
    facts = targets.get(target)
    in_bytes = facts.multiplies_bytes or facts.multiplies_byte_pairs
    for rows in (1, 2, 5, 17):
        x = (random.standard_normal((rows, 200)) * random.choice([0, 1e-3, 1, 50], (rows, 1))).astype("f4")
        wanted = (rounded(x, block) if in_bytes else x.astype("f8")) @ weight
        found = compiled.run({"x": x})["y"]
        # a number within a rounding of a tie becomes the next byte
        tolerance = 4e-3 if in_bytes else 1e-5
        scale = np.abs(wanted).max(-1, keepdims=True)
        assert (np.abs(found - wanted) <= tolerance * scale + 1e-30).all()
        assert np.median(np.abs(found - wanted) / np.maximum(scale, 1e-30)) < 1e-6


@pytest.mark.parametrize(("rows", "level", "numerics", "dots"), [
    ("rows", BYTES, "default", True), (64, BYTES, "default", True), (1, BYTES, "default", True),
    ("rows", BYTES, "strict", False), (64, BYTES, "strict", False),
    ("rows", 1, "default", False), ("rows", 1, "relaxed", True),
])  # fmt: skip
def test_who_multiplies_bytes(
    rows: int | str, level: int, numerics: Literal["strict", "default", "relaxed"], dots: bool
) -> None:
    random, sizes = np.random.default_rng(), (64, 48)
    *stored, _ = tensors(random, sizes, 4, 32, "none")
    imported = import_model(model(stored, sizes, 4, 32, level, rows))
    options = Options(targets.get("x86-64-v4:avx512vnni"), numerics=numerics)
    lowered = lower(imported.module, imported.weights, options)
    assert ("mlc_dot4" in "".join(lowered.sources.values())) == dots


@pytest.mark.parametrize(("bits", "block", "zeros"), [(4, 32, "none"), (4, 128, "packed"), (2, 16, "none"),
                                                      (8, 32, "none")])  # fmt: skip
def test_the_largest_products_of_pairs(bits: int, block: int, zeros: str) -> None:
    """Sums of 16 bits hold a chunk of the largest integers and bytes, of either sign."""
    random, sizes = np.random.default_rng(), (2 * block, 40)
    numbers = np.full(sizes[1] * sizes[0] * bits // 8, 255, np.uint8).reshape(sizes[1], 2, -1)
    scales = random.uniform(0.5, 2, (sizes[1], 2)).astype("f4")
    zero = [np.zeros((sizes[1], -(-2 * bits // 8)), np.uint8)] if zeros == "packed" else []
    x = np.where(np.arange(3)[:, None] == 1, -1, np.ones((3, sizes[0]))).astype("f4")
    x[2] = random.choice([-1, 1], sizes[0])
    middle = 0 if zero else 2 ** (bits - 1)
    wanted = x.astype("f8") @ np.repeat((2**bits - 1 - middle) * scales.astype("f8"), block, 1).T
    net = mlc.compile(model([numbers, scales, *zero], sizes, bits, block, BYTES, "rows"), target="x86-64-v3")
    np.testing.assert_allclose(net.run({"x": x})["y"], wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_avx2_adds_pairs_of_bytes(bits: int) -> None:
    """``pmaddubsw``, also where AVX-512 is not named; integers of 8 bits are two of 4, which do not saturate."""
    *stored, _ = tensors(np.random.default_rng(), (64, 48), bits, 32, "none")
    imported = import_model(model(stored, (64, 48), bits, 32, BYTES, 1))
    text = "".join(lower(imported.module, imported.weights, Options(targets.get("znver3"))).sources.values())
    assert "mlc_dot2x2" in text and "mlc_dot4" not in text
    assert ("<< v" in text) == (bits == 8)


@pytest.mark.parametrize("numerics", ["strict", "default"])
def test_many_rows(numerics: Literal["strict", "default"]) -> None:
    random, sizes = np.random.default_rng(), (96, 80)
    *stored, weight = tensors(random, sizes, 4, 32, "packed")
    x = random.standard_normal((40, 96)).astype("f4")
    found = mlc.compile(model(stored, sizes, 4, 32, BYTES, 40), numerics=numerics).run({"x": x})["y"]
    tolerance = 1e-5 if numerics == "strict" else 2e-2
    np.testing.assert_allclose(found, x @ weight, rtol=0, atol=tolerance * np.abs(x @ weight).max())


def test_not_a_number_and_infinity_stay() -> None:
    random, sizes = np.random.default_rng(), (64, 32)
    *stored, _ = tensors(random, sizes, 4, 32, "none")
    x = random.standard_normal((4, 64)).astype("f4")
    x[1, 3], x[2, 40] = np.nan, np.inf
    found = mlc.compile(model(stored, sizes, 4, 32, BYTES, "rows")).run({"x": x})["y"]
    assert np.isfinite(found[[0, 3]]).all() and not np.isfinite(found[[1, 2]]).any()
