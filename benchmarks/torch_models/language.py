"""Models of the package transformers with configurations shrunk to a test's size and random weights: text, images,
audio. Nothing is downloaded."""

from __future__ import annotations

from typing import Any

import torch

SMALL = {
    "vocab_size": 128, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 96, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "d_model": 64, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 64, "dim": 64, "n_layers": 2, "n_heads": 4,
    "hidden_dim": 96, "embedding_size": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "head_dim": 16, "d_ff": 96, "d_kv": 16,
    "num_layers": 2, "num_heads": 4, "num_decoder_layers": 2, "ffn_dim": 96, "word_embed_proj_dim": 64,
    "rotary_dim": 8, "image_size": 32, "patch_size": 8, "num_channels": 3, "sliding_window": 8, "ffn_hidden_size": 96,
    "emb_dim": 64, "decoder_start_token_id": 0, "n_inner": 96, "state_size": 8, "intermediate_dim": 96,
    "layer_types": None, "num_hidden_groups": 1, "d_inner": 96, "num_experts": 4, "num_local_experts": 4,
}  # fmt: skip
OWN: dict[str, dict[str, Any]] = {
    "deberta-v2": {"relative_attention": True, "position_buckets": 16, "pos_att_type": ["p2c", "c2p"]},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "window_size": 8},
    "poolformer": {"hidden_sizes": [16, 32, 48, 64], "depths": [1, 1, 1, 1]},
    "pvt": {"hidden_sizes": [16, 32, 48, 64], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 4, 4]},
    "regnet": {"embedding_size": 16, "hidden_sizes": [16, 32, 48, 64], "depths": [1, 1, 1, 1], "groups_width": 8},
    "resnet": {"embedding_size": 16, "hidden_sizes": [16, 32, 48, 64], "depths": [1, 1, 1, 1]},
    "segformer": {"hidden_sizes": [16, 32, 48, 64], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 4, 8]},
    "swin": {"embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 2, "patch_size": 4},
    "swinv2": {"embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 2, "patch_size": 4},
    "yolos": {"image_size": [32, 32], "num_detection_tokens": 5},
}
TEXT = (
    "albert", "bert", "bert-generation", "biogpt", "bloom", "camembert", "codegen", "cohere", "data2vec-text",
    "deberta", "deberta-v2", "distilbert", "electra", "ernie", "esm", "falcon", "gemma", "gemma2", "gpt2",
    "gpt_neo", "gpt_neox", "gptj", "granite", "ibert", "layoutlm", "llama", "megatron-bert", "mistral", "modernbert",
    "mpnet", "mpt", "nystromformer", "olmo", "olmo2", "openai-gpt", "opt", "persimmon", "phi", "phi3", "qwen2",
    "qwen3", "rembert", "roberta", "roc_bert", "roformer", "stablelm", "starcoder2", "xglm", "xlm", "xlm-roberta",
    "xlnet",
)  # fmt: skip
BOTH = ("bart", "blenderbot", "m2m_100", "marian", "mbart", "pegasus", "t5", "mt5")
IMAGES = (
    "beit", "deit", "dinov2", "mobilevit", "poolformer", "pvt", "regnet", "resnet",
    "segformer", "swin", "swinv2", "vit", "yolos",
)  # fmt: skip


NAMES = (*TEXT, *BOTH, *IMAGES)


def model(name: str) -> tuple[torch.nn.Module, dict[str, Any]]:
    """A model in evaluation mode and its inputs by name."""
    import transformers

    torch.manual_seed(0)
    kind = transformers.models.auto.configuration_auto.CONFIG_MAPPING[name]
    config = _shrunk(kind, OWN.get(name, {}))
    made = transformers.AutoModel.from_config(config).eval()
    return made, _inputs(name)


def _shrunk(kind: Any, own: dict[str, Any]) -> Any:
    """The configuration with what it has of SMALL."""
    known = vars(kind()).keys() | getattr(kind, "attribute_map", {}).keys()
    values = {key: value for key, value in (SMALL | own).items() if key in known or key in own}
    mapped = set(getattr(kind, "attribute_map", {}).values())
    values = {k: v for k, v in values.items() if getattr(kind, "attribute_map", {}).get(k) not in values or k in mapped}
    values = {k: v for k, v in values.items() if not (k == "layer_types" and v is None)}
    return kind(**values, use_cache=False) if "use_cache" in known else kind(**values)


def _inputs(name: str) -> dict[str, Any]:
    tokens = torch.randint(3, 100, (2, 12))
    if name in IMAGES:
        return {"pixel_values": torch.randn(2, 3, 32, 32)}
    mask = torch.ones_like(tokens)
    mask[1, -4:] = 0
    found = {"input_ids": tokens, "attention_mask": mask}
    return found | {"decoder_input_ids": torch.randint(3, 100, (2, 7))} if name in BOTH else found
