"""Several residual streams (hyper-connections): BranchwiseRMSNorm, HyperConnectionPreMix and PostMix, EngramGate.

Streams are [..., C, H], or [..., C * H] with the attribute ``num_branches``.
"""

from __future__ import annotations

import math

from mlc.dialects.semantics.dims import product
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN
from mlc.frontends.onnx.ops.microsoft.gates.units import rms_normalized

LEAST = 1e-6  # of the absolute product in EngramGate, before its root


@onnx_op("BranchwiseRMSNorm", domain=DOMAIN)
def branchwise_rms_norm(node: Node) -> Tensor:
    """RMS normalization of each stream, times a scale [C * H], [C, H] or [H]."""
    node.only("epsilon", "num_branches")
    build, x, scale = node.build, _grouped(node, 0), node.get(1)
    if scale is not None and scale.rank == 1 and scale.shape[0] != x.shape[-1]:
        scale = build.reshape(scale, x.shape[-2:])
    y = rms_normalized(build, x, scale, node.attr("epsilon", 1e-5))
    return build.cast(build.reshape(y, node[0].shape), node[0].element)


@onnx_op("HyperConnectionPreMix", domain=DOMAIN)
def hyper_connection_pre_mix(node: Node) -> Tensor:
    """[..., H]: the sum of the streams times gates [..., C], [..., C, 1], [..., C, H] or [..., C * H]."""
    node.only("num_branches", "reduction_scale")
    build, x = node.build, _grouped(node, 0)
    total = build.reduce("add", build.map("x0 * x1", x, _gates(node, 1, x)), [x.rank - 2])
    scale = node.attr("reduction_scale", 1.0)
    total = total if scale == 1 else build.map(f"x0 * {literal(scale)}", total)
    return build.cast(total, node[0].element)


@onnx_op("HyperConnectionPostMix", domain=DOMAIN)
def hyper_connection_post_mix(node: Node) -> Tensor:
    """Streams, mixed by matrices [..., C, C] (from, to) where there are some, plus gates times a block's [..., H]."""
    node.only("num_branches")
    build, x, mix = node.build, _grouped(node, 0), node.get(3)
    block = build.cast(node[1], "f32")
    block = build.reshape(block, (*block.shape[:-1], 1, block.shape[-1]))
    if mix is not None:
        rows = (x.shape[-2], x.shape[-1])
        flat = build.reshape(x, (product(x.shape[:-2]), *rows))
        square = build.reshape(build.cast(mix, "f32"), (flat.shape[0], rows[0], rows[0]))
        x = build.reshape(build.contract("nck,nch->nkh", square, flat), x.shape)
    y = build.map("x0 + x1 * x2", x, _gates(node, 2, x), block)
    return build.cast(build.reshape(y, node[0].shape), node[0].element)


@onnx_op("EngramGate", domain=DOMAIN)
def engram_gate(node: Node) -> tuple[Tensor | None, ...]:
    """(gate * value, its RMS normalization) of keys and queries [B, S, C, H] and a value [B, S, H].

    The gate is the sigmoid of the signed root of the product of the normalized keys and queries.
    """
    node.only("epsilon")
    build, element, epsilon = node.build, node[0].element, node.attr("epsilon", 1e-5)
    parts = [rms_normalized(build, build.cast(node[n], "f32"), node[n + 3], epsilon) for n in (0, 1)]
    size = node[0].shape[3]
    if not isinstance(size, int):
        raise NotSupported(f"a hidden size of {size}; fix it with dims={{name: size}}")
    dot = build.reduce("add", build.map("x0 * x1", *parts), [3], keepdims=True)
    dot = build.map(f"x0 * {literal(1 / math.sqrt(size))}", dot)
    gate = build.map(f"sigmoid(sign(x0) * sqrt(max(abs(x0), {LEAST})))", dot)
    value = build.cast(node[2], "f32")
    y = build.map("x0 * x1", gate, build.reshape(value, (*value.shape[:2], 1, size)))
    normed = build.cast(rms_normalized(build, y, node[5], epsilon), element) if node.wants(1) else None
    return build.cast(y, element), normed


def _grouped(node: Node, n: int) -> Tensor:
    """Input ``n`` as [..., C, H] in f32."""
    x, branches = node.build.cast(node[n], "f32"), node.attr("num_branches", 0)
    return node.build.reshape(x, (*x.shape[:-1], branches, x.shape[-1] // branches)) if branches else x


def _gates(node: Node, n: int, x: Tensor) -> Tensor:
    """Input ``n``, gates of the streams ``x`` [..., C, H], as [..., C, 1 or H] in f32."""
    build, gates = node.build, node.build.cast(node[n], "f32")
    if gates.rank == x.rank:
        return gates
    per_stream = gates.shape[-1] == x.shape[-2]
    return build.reshape(gates, (*x.shape[:-1], 1) if per_stream else x.shape)
