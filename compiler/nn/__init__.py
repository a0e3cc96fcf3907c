"""``mlc.nn``: functions of neural networks on arrays, and modules that are trees of their parameters.

    from mlc import nn

    model = nn.Sequential(nn.Linear(784, 128), nn.relu, nn.Linear(128, 10))
    loss = nn.cross_entropy(model(x), labels)

Images are [N, C, X…]. All trace in ``mlc.jit`` and have derivatives.
"""

from __future__ import annotations

from typing import Any

from mlc.frontends.array.missing import missing
from mlc.frontends.array.nn import activations as _activations
from mlc.frontends.array.nn import attention as _attention
from mlc.frontends.array.nn import convolutions as _convolutions
from mlc.frontends.array.nn import embedding_losses as _embedding_losses
from mlc.frontends.array.nn import further_activations as _further_activations
from mlc.frontends.array.nn import losses as _losses
from mlc.frontends.array.nn import normalizations as _normalizations
from mlc.frontends.array.public import publish
from mlc.nn import ctc as _ctc
from mlc.nn import init as init
from mlc.nn.files import load_file as load_file
from mlc.nn.files import save_file as save_file
from mlc.nn.files import save_onnx as save_onnx
from mlc.nn.generation import KVCache as KVCache
from mlc.nn.generation import cached_attention as cached_attention
from mlc.nn.generation import generate as generate
from mlc.nn.init import manual_seed as manual_seed
from mlc.nn.layers.activations import ELU as ELU
from mlc.nn.layers.activations import GELU as GELU
from mlc.nn.layers.activations import SELU as SELU
from mlc.nn.layers.activations import Hardsigmoid as Hardsigmoid
from mlc.nn.layers.activations import Hardswish as Hardswish
from mlc.nn.layers.activations import Hardtanh as Hardtanh
from mlc.nn.layers.activations import LeakyReLU as LeakyReLU
from mlc.nn.layers.activations import LogSigmoid as LogSigmoid
from mlc.nn.layers.activations import LogSoftmax as LogSoftmax
from mlc.nn.layers.activations import Mish as Mish
from mlc.nn.layers.activations import PReLU as PReLU
from mlc.nn.layers.activations import ReLU as ReLU
from mlc.nn.layers.activations import ReLU6 as ReLU6
from mlc.nn.layers.activations import Sigmoid as Sigmoid
from mlc.nn.layers.activations import SiLU as SiLU
from mlc.nn.layers.activations import Softmax as Softmax
from mlc.nn.layers.activations import Softplus as Softplus
from mlc.nn.layers.activations import Softsign as Softsign
from mlc.nn.layers.activations import Tanh as Tanh
from mlc.nn.layers.attention import MultiheadAttention as MultiheadAttention
from mlc.nn.layers.basic import ChannelDropout as ChannelDropout
from mlc.nn.layers.basic import Dropout as Dropout
from mlc.nn.layers.basic import Dropout1d as Dropout1d
from mlc.nn.layers.basic import Dropout2d as Dropout2d
from mlc.nn.layers.basic import Dropout3d as Dropout3d
from mlc.nn.layers.basic import Embedding as Embedding
from mlc.nn.layers.basic import Flatten as Flatten
from mlc.nn.layers.basic import Identity as Identity
from mlc.nn.layers.basic import Lambda as Lambda
from mlc.nn.layers.basic import Linear as Linear
from mlc.nn.layers.basic import Sequential as Sequential
from mlc.nn.layers.convolutions import Conv1d as Conv1d
from mlc.nn.layers.convolutions import Conv2d as Conv2d
from mlc.nn.layers.convolutions import Conv3d as Conv3d
from mlc.nn.layers.convolutions import ConvTranspose1d as ConvTranspose1d
from mlc.nn.layers.convolutions import ConvTranspose2d as ConvTranspose2d
from mlc.nn.layers.convolutions import ConvTranspose3d as ConvTranspose3d
from mlc.nn.layers.normalizations import BatchNorm as BatchNorm
from mlc.nn.layers.normalizations import BatchNorm1d as BatchNorm1d
from mlc.nn.layers.normalizations import BatchNorm2d as BatchNorm2d
from mlc.nn.layers.normalizations import BatchNorm3d as BatchNorm3d
from mlc.nn.layers.normalizations import GroupNorm as GroupNorm
from mlc.nn.layers.normalizations import InstanceNorm as InstanceNorm
from mlc.nn.layers.normalizations import InstanceNorm1d as InstanceNorm1d
from mlc.nn.layers.normalizations import InstanceNorm2d as InstanceNorm2d
from mlc.nn.layers.normalizations import InstanceNorm3d as InstanceNorm3d
from mlc.nn.layers.normalizations import LayerNorm as LayerNorm
from mlc.nn.layers.normalizations import RMSNorm as RMSNorm
from mlc.nn.layers.pooling import AvgPool as AvgPool
from mlc.nn.layers.pooling import AvgPool1d as AvgPool1d
from mlc.nn.layers.pooling import AvgPool2d as AvgPool2d
from mlc.nn.layers.pooling import AvgPool3d as AvgPool3d
from mlc.nn.layers.pooling import MaxPool as MaxPool
from mlc.nn.layers.pooling import MaxPool1d as MaxPool1d
from mlc.nn.layers.pooling import MaxPool2d as MaxPool2d
from mlc.nn.layers.pooling import MaxPool3d as MaxPool3d
from mlc.nn.layers.recurrent import GRU as GRU
from mlc.nn.layers.recurrent import LSTM as LSTM
from mlc.nn.layers.recurrent import RNN as RNN
from mlc.nn.layers.recurrent import GRUCell as GRUCell
from mlc.nn.layers.recurrent import LSTMCell as LSTMCell
from mlc.nn.layers.recurrent import RNNCell as RNNCell
from mlc.nn.layers.resampling import PixelShuffle as PixelShuffle
from mlc.nn.layers.resampling import Upsample as Upsample
from mlc.nn.layers.tied import Tied as Tied
from mlc.nn.layers.transformers import TransformerDecoder as TransformerDecoder
from mlc.nn.layers.transformers import TransformerDecoderLayer as TransformerDecoderLayer
from mlc.nn.layers.transformers import TransformerEncoder as TransformerEncoder
from mlc.nn.layers.transformers import TransformerEncoderLayer as TransformerEncoderLayer
from mlc.nn.lora import LoRA as LoRA
from mlc.nn.lora import lora_apply as lora_apply
from mlc.nn.lora import lora_init as lora_init
from mlc.nn.module import Module as Module
from mlc.nn.module import buffer as buffer
from mlc.nn.module import combine as combine
from mlc.nn.module import functional_call as functional_call
from mlc.nn.module import inlined as inlined
from mlc.nn.module import next_key as next_key
from mlc.nn.module import partition as partition
from mlc.nn.module import static as static
from mlc.nn.quantization import FakeQuantized as FakeQuantized
from mlc.nn.quantization import fake_quantize as fake_quantize
from mlc.nn.quantization import fake_quantize_weight as fake_quantize_weight
from mlc.nn.quantization import quantized as quantized
from mlc.nn.quantization import unquantized as unquantized
from mlc.nn.sampling import filtered_logits as filtered_logits
from mlc.nn.sampling import sample_token as sample_token
from mlc.nn.summary import summary as summary

_FUNCTIONS = {
    name: getattr(module, name)
    for module in (
        *(_activations, _further_activations, _convolutions, _normalizations, _attention, _losses),
        *(_embedding_losses, _ctc),
    )
    for name in module.PUBLIC
}
MODULES = tuple(
    name for name, value in list(globals().items()) if isinstance(value, type) and issubclass(value, Module)
)
"""The names of classes of layers."""
_TOOLS = (
    *("buffer", "combine", "functional_call", "init", "inlined", "load_file", "manual_seed", "next_key", "partition"),
    *("save_file", "save_onnx", "static", "summary"),
    *("fake_quantize", "fake_quantize_weight", "quantized", "unquantized"),
)
_LANGUAGE = ("cached_attention", "filtered_logits", "generate", "lora_apply", "lora_init", "sample_token")
__all__ = sorted([*_FUNCTIONS, *MODULES, *_TOOLS, *_LANGUAGE, "KVCache", "LoRA"])

globals().update(_FUNCTIONS)
_PUBLISHED = (
    *("combine", "functional_call", "load_file", "next_key", "partition", "save_file", "save_onnx", "summary"),
    *("fake_quantize", "fake_quantize_weight", "quantized", "unquantized"),
)
publish(globals(), [*_FUNCTIONS, *_LANGUAGE, *_PUBLISHED])


def __getattr__(name: str) -> Any:
    """AttributeError, with the nearest name."""
    if name.startswith("__"):
        raise AttributeError(f"module 'mlc.nn' has no attribute '{name}'")
    raise missing("mlc.nn", name, __all__)
