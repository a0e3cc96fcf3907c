"""A decoder of ``decoders`` as a GGUF file of 4-bit blocks (Q4_0), for llama.cpp: the same integers, scales in f16.

Needs the package gguf. There is no vocabulary, which measuring does not need.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from benchmarks.models.decoders import BLOCK, Sizes

NAMES = {
    "q_proj": "attn_q", "k_proj": "attn_k", "v_proj": "attn_v", "o_proj": "attn_output", "gate_proj": "ffn_gate",
    "up_proj": "ffn_up", "down_proj": "ffn_down", "input_norm": "attn_norm", "post_norm": "ffn_norm",
    "q_norm": "attn_q_norm", "k_norm": "attn_k_norm", "norm": "output_norm", "lm_head": "output",
}  # fmt: skip


def write(model: onnx.ModelProto, sizes: Sizes, path: Path) -> None:
    """Write the weights of ``model`` and its sizes to ``path``."""
    import gguf  # type: ignore[import-not-found]

    writer = gguf.GGUFWriter(path, "qwen3" if sizes.normalized else "llama")
    writer.add_context_length(sizes.most)
    writer.add_embedding_length(sizes.hidden)
    writer.add_block_count(sizes.layers)
    writer.add_feed_forward_length(sizes.inner)
    writer.add_head_count(sizes.heads)
    writer.add_head_count_kv(sizes.groups)
    writer.add_key_length(sizes.size)
    writer.add_value_length(sizes.size)
    writer.add_rope_dimension_count(sizes.size)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(sizes.vocabulary)
    writer.add_tokenizer_model("none")
    known = {each.name: each for each in model.graph.initializer}
    writer.add_tensor("token_embd.weight", numpy_helper.to_array(known["embed_tokens"]))
    for node in model.graph.node:
        if node.op_type == "MatMulNBits":
            values, scales = (numpy_helper.to_array(known[name]) for name in node.input[1:3])
            name = _named(node.name.removesuffix("/MatMulNBits"))
            writer.add_tensor(name, _blocks(values, scales), raw_dtype=gguf.GGMLQuantizationType.Q4_0)
        elif node.op_type == "SimplifiedLayerNormalization":
            weight = node.input[1]
            writer.add_tensor(_named("/" + _scoped(weight)), numpy_helper.to_array(known[weight]))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _scoped(weight: str) -> str:
    """``layers.0.q_norm.weight`` as ``layers.0/q_norm``."""
    *scope, name, _ = weight.rsplit(".", 2)
    return "/".join([*scope, name])


def _named(path: str) -> str:
    """llama.cpp's name of ``/layers.0/q_proj``."""
    *scope, name = path.strip("/").split("/")
    return f"{'blk.' + scope[0].rpartition('.')[2] + '.' if scope else ''}{NAMES[name]}.weight"


def _blocks(values: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Q4_0 of pairs of neighbours [N, blocks, 16] and scales [N, blocks]: a scale, then bytes of elements j, j + 16."""
    rows, count, _ = values.shape
    flat = np.stack([values & 15, values >> 4], -1).reshape(rows, count, BLOCK)
    pairs = flat[..., : BLOCK // 2] | flat[..., BLOCK // 2 :] << 4
    return np.concatenate([scales.astype(np.float16)[..., None].view(np.uint8), pairs], -1).reshape(rows, -1)
