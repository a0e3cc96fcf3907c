"""Decoders with weights of 4 bits, as exporters write them: a cache, a mask and positions are inputs.

``concat`` has a cache that grows by Concat, rotary positions and a mask in plain operators (optimum); ``grouped`` has
GroupQueryAttention, which does all of that (onnxruntime-genai). Sizes are those of known models with fewer layers and
a smaller vocabulary; weights are random.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import onnx
from onnx import TensorProto, helper

from benchmarks.models.builder import Builder
from benchmarks.models.layers import swish

CONTRIB = "com.microsoft"
BLOCK = 32  # weights that share a scale
LOWEST = float(np.finfo(np.float32).min)


@dataclass(frozen=True)
class Sizes:
    """Sizes of a decoder. ``groups``: heads of keys and values; ``bits``: 32 for weights of f32."""

    hidden: int
    heads: int
    groups: int
    size: int
    inner: int
    layers: int
    vocabulary: int = 32768
    normalized: bool = False  # queries and keys, head by head
    most: int = 4096  # positions
    bits: int = 4
    last: bool = False  # only the logits of the last token


SIZES = {
    "qwen3_06b": Sizes(1024, 16, 8, 128, 3072, 6, normalized=True),
    "llama32_1b": Sizes(2048, 32, 8, 64, 8192, 2),
    "gemma3_270m": Sizes(640, 4, 1, 256, 2048, 18, normalized=True),
    "tiny": Sizes(64, 4, 2, 16, 96, 2, 96, most=256),
}


class Decoder:
    """One model in the making; a method is a part of a layer."""

    def __init__(self, name: str, sizes: Sizes, form: str, seed: int = 0) -> None:
        self.b, self.s, self.form = Builder(name, seed), sizes, form
        self.random = np.random.default_rng(seed)
        kind = TensorProto.INT64
        self.ids = self.b.input("input_ids", ["batch_size", "sequence_length"], kind)
        self.mask = self.b.input("attention_mask", ["batch_size", "total_sequence_length"], kind)
        if form == "concat":
            self.positions = self.b.input("position_ids", ["batch_size", "sequence_length"], kind)
        frequencies = 10000.0 ** (-np.arange(0, sizes.size, 2) / sizes.size)
        self.angles = np.outer(np.arange(sizes.most), frequencies)

    def model(self) -> onnx.ModelProto:
        b, s = self.b, self.s
        x = b.op("Gather", b.weight("embed_tokens", (s.vocabulary, s.hidden), 1.0), self.ids)
        attend = self._concat() if self.form == "concat" else self._grouped()
        for layer in range(s.layers):
            with b.scope(f"layers.{layer}"):
                y = attend(self._normed(x, s.hidden, "input_norm"), layer)
                x = b.op("Add", x, y)
                x = b.op("Add", x, self._feed_forward(self._normed(x, s.hidden, "post_norm")))
        if s.last:
            x = b.op("Slice", x, b.integers(-1), b.integers(2**31 - 1), b.integers(1))
        logits = self._linear(self._normed(x, s.hidden, "norm"), s.hidden, s.vocabulary, "lm_head")
        b.output(logits, "logits", ["batch_size", 1 if s.last else "sequence_length", s.vocabulary])
        model = b.model()
        model.opset_import.append(helper.make_opsetid(CONTRIB, 1))
        return model

    def _linear(self, x: str, n_in: int, n_out: int, name: str) -> str:
        b = self.b
        with b.scope(name):
            if self.s.bits == 32:
                return b.op("MatMul", x, b.weight("weight", (n_in, n_out), 1 / math.sqrt(n_in)))
            shape = (n_out, n_in // BLOCK, BLOCK * self.s.bits // 8)
            weight = b.constant(self.random.integers(0, 256, shape), np.uint8)
            deviation = 2**self.s.bits / math.sqrt(12)  # of the integers
            scales = self.random.uniform(0.8, 1.2, shape[:2]) / deviation / math.sqrt(n_in)
            given = {"K": n_in, "N": n_out, "bits": self.s.bits, "block_size": BLOCK, "accuracy_level": 4}
            return b.op("MatMulNBits", x, weight, b.constant(scales), domain=CONTRIB, **given)

    def _normed(self, x: str, size: int, name: str) -> str:
        weight = self.b.weight(f"{name}.weight", (size,), 0.1, mean=1.0)
        return self.b.op("SimplifiedLayerNormalization", x, weight, axis=-1, epsilon=1e-6, stash_type=1)

    def _feed_forward(self, x: str) -> str:
        s = self.s
        gate, up = (self._linear(x, s.hidden, s.inner, name) for name in ("gate_proj", "up_proj"))
        return self._linear(self.b.op("Mul", swish(self.b, gate), up), s.inner, s.hidden, "down_proj")

    def _projected(self, x: str) -> list[str]:
        """Queries, keys and values [batch, tokens, heads, size]."""
        b, s, found = self.b, self.s, []
        for name, heads in (("q", s.heads), ("k", s.groups), ("v", s.groups)):
            y = self._linear(x, s.hidden, heads * s.size, f"{name}_proj")
            y = b.op("Reshape", y, b.integers(0, 0, heads, s.size))
            found.append(self._normed(y, s.size, f"{name}_norm") if s.normalized and name != "v" else y)
        return found

    def _cache(self, layer: int, what: str) -> str:
        shape = ["batch_size", self.s.groups, "past_sequence_length", self.s.size]
        return self.b.input(f"past_key_values.{layer}.{what}", shape)

    def _present(self, x: str, layer: int, what: str) -> None:
        self.b.output(x, f"present.{layer}.{what}", ["batch_size", self.s.groups, "total_sequence_length", self.s.size])

    def _grouped(self) -> Callable[[str, int], str]:
        b, s = self.b, self.s
        ones = b.op("ReduceSum", self.mask, b.integers(1), keepdims=1)
        lengths = b.op("Cast", b.op("Sub", ones, b.integers(1)), to=TensorProto.INT32)
        total = b.op("Gather", b.op("Shape", self.mask), b.constant(1, np.int64), axis=0)
        total = b.op("Cast", total, to=TensorProto.INT32)
        tables = [b.constant(f(self.angles)) for f in (np.cos, np.sin)]

        def attend(x: str, layer: int) -> str:
            given = [b.op("Reshape", y, b.integers(0, 0, -1)) for y in self._projected(x)]
            past = [self._cache(layer, what) for what in ("key", "value")]
            attributes = {"num_heads": s.heads, "kv_num_heads": s.groups, "do_rotary": 1, "scale": s.size**-0.5}
            y, *present = b.ops("GroupQueryAttention", *given, *past, lengths, total, *tables, outputs=3,
                                domain=CONTRIB, **attributes)  # fmt: skip
            for what, each in zip(("key", "value"), present, strict=True):
                self._present(each, layer, what)
            return self._linear(y, s.heads * s.size, s.hidden, "o_proj")

        return attend

    def _concat(self) -> Callable[[str, int], str]:
        b, s = self.b, self.s
        both = np.concatenate([self.angles, self.angles], 1)
        tables = [b.op("Unsqueeze", b.op("Gather", b.constant(f(both)), self.positions), b.integers(1))
                  for f in (np.cos, np.sin)]  # fmt: skip
        hidden = self._hidden()

        def rotated(x: str) -> str:
            first, second = (b.op("Slice", x, b.integers(n), b.integers(n + s.size // 2), b.integers(3))
                             for n in (0, s.size // 2))  # fmt: skip
            turned = b.op("Concat", b.op("Neg", second), first, axis=3)
            return b.op("Add", b.op("Mul", x, tables[0]), b.op("Mul", turned, tables[1]))

        def attend(x: str, layer: int) -> str:
            q, k, v = (b.op("Transpose", y, perm=[0, 2, 1, 3]) for y in self._projected(x))
            keys = {"key": rotated(k), "value": v}
            for what, y in keys.items():
                y = keys[what] = b.op("Concat", self._cache(layer, what), y, axis=2)
                self._present(y, layer, what)
            k, v = (self._repeated(y) for y in keys.values())
            scores = b.op("MatMul", rotated(q), b.op("Transpose", k, perm=[0, 1, 3, 2]))
            scores = b.op("Add", b.op("Mul", scores, b.constant(s.size**-0.5)), hidden)
            y = b.op("Transpose", b.op("MatMul", b.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
            y = b.op("Reshape", y, b.integers(0, 0, s.heads * s.size))
            return self._linear(y, s.heads * s.size, s.hidden, "o_proj")

        return attend

    def _hidden(self) -> str:
        """[batch, 1, tokens, keys]: the lowest number where a key comes after a token, or is masked."""
        b = self.b
        total = b.op("Gather", b.op("Shape", self.mask), b.constant(1, np.int64), axis=0)
        keys = b.op("Range", b.constant(0, np.int64), total, b.constant(1, np.int64))
        first = b.op("Sub", total, b.op("Gather", b.op("Shape", self.ids), b.constant(1, np.int64), axis=0))
        rows = b.op("Range", first, total, b.constant(1, np.int64))
        later = b.op("Greater", keys, b.op("Unsqueeze", rows, b.integers(1)))
        absent = b.op("Equal", b.op("Unsqueeze", self.mask, b.integers(1, 2)), b.constant(0, np.int64))
        return b.op("Where", b.op("Or", absent, later), b.constant(LOWEST), b.constant(0.0))

    def _repeated(self, x: str) -> str:
        """Each head as often as queries read it."""
        b, s = self.b, self.s
        if s.heads == s.groups:
            return x
        sizes = b.op("Shape", x)
        batch, total = (b.op("Gather", sizes, b.integers(n), axis=0) for n in (0, 2))
        times, size = b.integers(s.heads // s.groups), b.integers(s.size)
        wide = b.op("Concat", batch, b.integers(s.groups), times, total, size, axis=0)
        x = b.op("Expand", b.op("Unsqueeze", x, b.integers(2)), wide)
        return b.op("Reshape", x, b.op("Concat", batch, b.integers(s.heads), total, size, axis=0))


def decoder(name: str, form: str = "grouped", bits: int = 4, seed: int = 0, last: bool = False) -> onnx.ModelProto:
    """A decoder of the sizes that ``SIZES`` has under a name; ``form`` is ``grouped`` or ``concat``; ``last``: with
    the logits of the last token alone."""
    return Decoder(name, replace(SIZES[name], bits=bits, last=last), form, seed).model()
