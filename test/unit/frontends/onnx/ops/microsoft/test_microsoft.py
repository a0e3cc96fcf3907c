"""Operators of com.microsoft against onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from single import MS, ms, normal, single

from mlc.frontends.onnx import UnsupportedError, import_model


@pytest.mark.parametrize("op", ["Gelu", "FastGelu", "QuickGelu"])
def test_gelus(rng: np.random.Generator, op: str) -> None:
    ms(op, {"x": 3 * normal(rng, 3, 17)}, **({"alpha": 0.9} if op == "QuickGelu" else {}))


@pytest.mark.parametrize("op", ["FastGelu", "BiasGelu"])
def test_gelus_of_a_bias(rng: np.random.Generator, op: str) -> None:
    ms(op, {"x": 3 * normal(rng, 2, 3, 17), "b": normal(rng, 17)}, constants=["b"])


def test_bias_add(rng: np.random.Generator) -> None:
    x, bias, skip = normal(rng, 2, 5, 320), normal(rng, 320), normal(rng, 2, 5, 320)
    ms("BiasAdd", {"x": x, "b": bias, "s": skip}, wanted=[x + bias + skip])


@pytest.mark.parametrize(("a", "b"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_fused_matmul(rng: np.random.Generator, a: int, b: int) -> None:
    x, w = normal(rng, *((2, 7, 5) if a else (2, 5, 7))), normal(rng, *((2, 9, 7) if b else (2, 7, 9)))
    ms("FusedMatMul", {"x": x, "w": w}, transA=a, transB=b, alpha=0.7)


def test_an_unsupported_attribute_is_named(rng: np.random.Generator) -> None:
    x = normal(rng, 2, 3, 3)
    with pytest.raises(UnsupportedError, match="transBatchC"):
        import_model(single("FusedMatMul", {"x": x, "w": x}, domain=MS, transBatchC=1))


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("zeros", ["none", "packed"])
@pytest.mark.parametrize(("rows", "k", "n", "block"), [(5, 64, 9, 16), (9, 80, 9, 32), (5, 80, 70, 32)])
def test_matmul_n_bits(rng: np.random.Generator, bits: int, zeros: str, rows: int, k: int, n: int, block: int) -> None:
    """Few rows multiply what is stored, many an unpacked weight."""
    blocks = -(-k // block)
    x, scales = normal(rng, 2, rows, k), rng.random(n * blocks).astype("f4") + 0.1
    packed = rng.integers(0, 256, (n, blocks, block * bits // 8)).astype("u1")
    zero = rng.integers(0, 256, n * -(-blocks * bits // 8)).astype("u1") if zeros == "packed" else None
    inputs = {"x": x, "w": packed, "s": scales, "z": zero}
    constants = ["w", "s"] + (["z"] if zero is not None else [])
    ms("MatMulNBits", inputs, constants=constants, K=k, N=n, bits=bits, block_size=block)


@pytest.mark.parametrize("zeros", ["none", "packed"])
@pytest.mark.parametrize(("rows", "k", "block"), [(1, 64, 16), (9, 80, 32)])
def test_matmul_n_bits_in_another_order(rng: np.random.Generator, zeros: str, rows: int, k: int, block: int) -> None:
    """``g_idx``: each column has the scale and the zero point of any block. onnxruntime takes 8 for packed zero points
    there, so these are compared with NumPy."""
    n, blocks = 9, -(-k // block)
    inputs = {
        "x": normal(rng, 2, rows, k),
        "w": rng.integers(0, 256, (n, blocks, block // 2)).astype("u1"),
        "s": rng.random(n * blocks).astype("f4") + 0.1,
        "z": rng.integers(0, 256, n * -(-blocks // 2)).astype("u1") if zeros == "packed" else None,
        "g": rng.permutation(np.arange(blocks * block) // block)[:k].astype("i4"),
    }
    constants = [name for name, array in inputs.items() if array is not None and name != "x"]
    wanted = None
    if zeros == "packed":
        number, zero = (np.stack([a & 15, a >> 4], -1) for a in (inputs["w"], inputs["z"].reshape(n, -1)))
        at, scales = inputs["g"], inputs["s"].reshape(n, blocks).astype("f8")
        weight = (number.reshape(n, -1)[:, :k] - zero.reshape(n, -1)[:, at].astype("f8")) * scales[:, at]
        wanted = [(inputs["x"] @ weight.T).astype("f4")]
    ms("MatMulNBits", inputs, constants=constants, K=k, N=n, bits=4, block_size=block, wanted=wanted)


def weights(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Signed bytes of 7 bits: without VNNI onnxruntime adds two products of bytes in 16 bits, where larger ones
    saturate. test/e2e/test_integer_products.py compares all values with whole numbers.
    """
    return rng.integers(-64, 65, shape).astype("i1")


@pytest.mark.parametrize("columns", [True, False])
def test_matmul_integer_to_float(rng: np.random.Generator, columns: bool) -> None:
    count = 7 if columns else 1
    a, b = rng.integers(0, 256, (3, 11)).astype("u1"), weights(rng, 11, 7)
    inputs = {"a": a, "b": b, "sa": np.array([0.02], "f4"), "sb": rng.random(count).astype("f4")}
    inputs |= {"za": np.array([119], "u1"), "zb": rng.integers(-9, 9, count).astype("i1"), "bias": normal(rng, 7)}
    ms("MatMulIntegerToFloat", inputs, constants=["b", "sb", "zb"])


def test_dynamic_quantize_matmul(rng: np.random.Generator) -> None:
    inputs = {"a": normal(rng, 5, 11), "b": weights(rng, 11, 7)}
    inputs |= {"sb": np.array([0.03], "f4"), "zb": np.array([3], "i1"), "bias": normal(rng, 7)}
    ms("DynamicQuantizeMatMul", inputs, constants=["b", "sb", "zb"])


@pytest.mark.parametrize("quantized", [True, False])
def test_qgemm(rng: np.random.Generator, quantized: bool) -> None:
    a, b = rng.integers(0, 256, (3, 11)).astype("u1"), weights(rng, 7, 11)
    inputs = {"a": a, "sa": np.array(0.02, "f4"), "za": np.array(119, "u1")}
    inputs |= {"b": b, "sb": np.array(0.01, "f4"), "zb": np.array(5, "i1")}
    inputs |= {"c": rng.integers(-500, 500, 7).astype("i4")}
    if quantized:
        inputs |= {"sy": np.array(0.05, "f4"), "zy": np.array(128, "u1")}
    ms("QGemm", inputs, constants=["b"], transB=1, alpha=1.5, steps=1)


def test_simplified_layer_normalization(rng: np.random.Generator) -> None:
    inputs = {"x": normal(rng, 2, 5, 24), "g": normal(rng, 24)}
    ms("SimplifiedLayerNormalization", inputs, domain="", epsilon=1e-4, axis=-1)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("op", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_skip_layer_normalization(rng: np.random.Generator, op: str, bias: bool) -> None:
    inputs = {"x": normal(rng, 2, 5, 24), "s": normal(rng, 2, 5, 24), "g": normal(rng, 24)}
    if op == "SkipLayerNormalization":
        inputs["beta"] = normal(rng, 24)
    inputs["b"] = normal(rng, 24) if bias else None
    ms(op, inputs, epsilon=1e-4)


@pytest.mark.parametrize("mask", [True, False])
def test_embed_layer_normalization(rng: np.random.Generator, mask: bool) -> None:
    ids, segments = (rng.integers(0, n, (2, 6)).astype("i4") for n in (20, 2))
    tables = {n: normal(rng, rows, 16) for n, rows in (("word", 20), ("place", 9), ("segment", 2))}
    inputs = {"ids": ids, "segments": segments, **tables, "g": normal(rng, 16), "b": normal(rng, 16)}
    inputs["mask"] = (np.arange(6) < np.array([[4], [6]])).astype("i4") if mask else None
    ms("EmbedLayerNormalization", inputs, 2, epsilon=1e-5)


@pytest.mark.parametrize("shape", [(1, 5, 24), (5, 24)])
def test_skip_that_broadcasts(rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    inputs = {"x": normal(rng, 2, 5, 24), "s": normal(rng, *shape), "g": normal(rng, 24), "b": normal(rng, 24)}
    ms("SkipLayerNormalization", inputs)


ACTIVATIONS = [("Relu", []), ("Sigmoid", []), ("Tanh", []), ("LeakyRelu", [0.2]), ("HardSigmoid", [0.3, 0.4])]


@pytest.mark.parametrize(("activation", "parameters"), [*ACTIVATIONS, ("Clip", [-0.5, 0.7])])
@pytest.mark.parametrize("added", [True, False])
def test_fused_conv(rng: np.random.Generator, activation: str, parameters: list[float], added: bool) -> None:
    inputs = {"x": normal(rng, 2, 4, 7, 8), "w": normal(rng, 3, 4, 3, 3), "b": normal(rng, 3)}
    inputs["z"] = normal(rng, 2, 3, 5, 6) if added else None
    how = {"activation": activation} | ({"activation_params": parameters} if parameters else {})
    ms("FusedConv", inputs, constants=["w", "b"], compiled=added, **how)


@pytest.mark.parametrize(("activation", "parameters"), ACTIVATIONS)
def test_fused_gemm(rng: np.random.Generator, activation: str, parameters: list[float]) -> None:
    how = dict(zip(("activation_alpha", "activation_beta"), parameters, strict=False))
    inputs = {"x": normal(rng, 4, 7), "w": normal(rng, 3, 7), "b": normal(rng, 3)}
    ms("FusedGemm", inputs, constants=["w", "b"], transB=1, alpha=0.5, activation=activation, **how)
