"""Operators on 4-bit elements and blocks of com.microsoft that random cases (`test/fuzz`) cannot have; refusals."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from single import MS, ms, normal, single

from mlc.frontends.onnx import UnsupportedError, import_model
from mlc.frontends.onnx.ops.microsoft.quantized.blocks import NF4


@pytest.mark.parametrize("kind", ["int4", "uint4"])
@pytest.mark.parametrize("axis", [None, 1, -1])
def test_quantized_to_4_bits(rng: np.random.Generator, kind: str, axis: int | None) -> None:
    """onnxruntime gives no such tensor in Python."""
    x, low = normal(rng, 3, 4, 6) * 9, -8 if kind == "int4" else 0
    columns = () if axis is None else (x.shape[axis],)
    scale = np.asarray(rng.uniform(0.5, 2, columns), "f4")
    zero = np.asarray(rng.integers(low, low + 16, columns)).astype(getattr(ml_dtypes, kind))
    over = tuple(n for n in range(3) if axis is None or n != axis % 3)
    spread = [np.expand_dims(p.astype("f4"), over) if columns else p.astype("f4") for p in (scale, zero)]
    wanted = np.clip(np.rint(x / spread[0]) + spread[1], low, low + 15).astype(zero.dtype)
    how: dict[str, Any] = {} if axis is None else {"axis": axis}
    ms("QuantizeLinear", {"x": x, "s": scale, "z": zero}, constants=["z"], wanted=[wanted], **how)


def test_a_weight_that_is_not_transposed(rng: np.random.Generator) -> None:
    """onnxruntime transposes it all the same on CPUs."""
    x, k, n = normal(rng, 5, 6), 7, 6
    packed, scales = rng.integers(0, 256, 21).astype("u1"), np.asarray(rng.uniform(0.5, 2, 3), "f4")
    codes = np.stack([packed >> 4, packed & 15], 1).ravel()
    weight = (np.asarray(NF4, "f4")[codes] * scales.repeat(16)[: n * k]).reshape(n, k)
    how = {"K": k, "N": n, "block_size": 16, "quant_type": 1, "transB": 0}
    ms("MatMulBnb4", {"x": x, "w": packed, "s": scales}, constants=["w", "s"], wanted=[x @ weight], **how)


BYTES, SCALES, INDEX = np.zeros((5, 16), "u1"), np.ones((5, 1), "f4"), np.zeros(2, "i8")
FLOATS = np.zeros((5, 16), ml_dtypes.float8_e5m2)
REFUSED: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("GatherBlockQuantized", [BYTES, INDEX, SCALES], {"bits": 3, "block_size": 16}, "'bits' = 3"),
    ("GatherBlockQuantized", [BYTES, INDEX, SCALES], {"bits": 8, "block_size": 24}, "'block_size' = 24"),
    ("GatherBlockQuantized", [BYTES, INDEX, SCALES], {"bits": 8, "block_size": 16, "gather_axis": 1}, "axis 0"),
    ("GatherBlockQuantized", [BYTES, INDEX, np.ones((5, 3), "f4")], {"bits": 8, "block_size": 16}, r"\[5, 1\]"),
    ("GatherBlockQuantized", [FLOATS, INDEX, SCALES, FLOATS[:, :1]], {"block_size": 16}, "symmetric"),
    ("GatherPacked", [BYTES, INDEX], {"K": 32, "packed_type": 16}, r"'packed_type' = 16; supported are .*8 \(Q8_0\)"),
    ("GatherPacked", [BYTES, INDEX], {"K": 32, "packed_type": 8}, "32 of them take 34 bytes"),
    ("MatMulFpQ4", [SCALES, BYTES[0], INDEX], {"blk_quant_type": 2}, "only 0 and 1"),
    ("MatMulBnb4", [SCALES, BYTES[0], SCALES], {"K": 1, "N": 1, "block_size": 8, "quant_type": 0}, "block_size 8"),
    ("QuantizeLinear", [SCALES, SCALES[0]], {"block_size": 16}, "'block_size' = 16"),
    ("NhwcMaxPool", [BYTES], {"kernel_shape": [2]}, r"\[N, …, C\]"),
    ("FusedGemm", [SCALES.T, SCALES], {"activation": "Gelu"}, "'activation' = Gelu; supported are Relu"),
    ("FusedConv", [SCALES[None], SCALES[None]], {"activation": "Elu"}, "supported are Relu.*Clip"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "inputs", "how", "why"), REFUSED, ids=[why for *_, why in REFUSED])
def test_refused(op: str, inputs: list[Any], how: dict[str, Any], why: str) -> None:
    with pytest.raises(UnsupportedError, match=f"{op}.*{why}"):
        import_model(single(op, {f"x{n}": x for n, x in enumerate(inputs)}, domain=MS, **how))
