"""MoEGroupRouter: sigmoid scores, of which the greatest within the best groups are routed to (DeepSeek-V3)."""

from __future__ import annotations

from mlc.dialects.semantics.dims import product
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.folding.literals import literal
from mlc.frontends.build.ops.experts.routing import group_limited
from mlc.frontends.build.tensors import Tensor
from mlc.frontends.onnx.node import Node, onnx_op
from mlc.frontends.onnx.ops.microsoft import DOMAIN

LEAST = 1e-20  # of a score, before its logarithm


@onnx_op("MoEGroupRouter", domain=DOMAIN)
def moe_group_router(node: Node) -> tuple[Tensor | None, ...]:
    """Logits [..., E] to (logarithms of the scores of the chosen experts, scores plus bias, scores), [T, E].

    With a projection [E, width] (input 2) the first input is activations [T, width].
    """
    node.only("group_topk", "n_group", "router_sentinel", "top_k", "topk_group")
    build, x, projection = node.build, node[0], node.get(2)
    wide = build.cast(build.reshape(x, (product(x.shape[:-1]), x.shape[-1])), "f32")
    if projection is not None:
        wide = build.contract("tk,ek->te", wide, build.cast(projection, "f32"))
    scores = build.map("sigmoid(x0)", wide)
    biased = build.map("x0 + x1", scores, node[1])
    return (_chosen(node, scores, biased) if node.wants(0) else None, biased, scores)


def _chosen(node: Node, scores: Tensor, biased: Tensor) -> Tensor:
    build, (tokens, experts) = node.build, scores.shape
    groups, kept = node.attr("n_group", 1), node.attr("topk_group", 1)
    if not isinstance(experts, int) or experts % groups:
        raise NotSupported(f"{experts} experts in {groups} groups; their number must be known and divisible")
    k = min(node.attr("top_k"), experts)
    values, found = group_limited(build, biased, groups, min(kept, groups), node.attr("group_topk", 2), k)
    found = build.map("where(x0 > -inf, x1, -1)", values, found)
    chosen = build.compute("i64(x0[i0, r0] == i1)", [found], (tokens, experts), (k,), "max")
    low = literal(node.attr("router_sentinel", -10000.0))
    return build.cast(build.map(f"where(x0 > 0, log(max(x1, {LEAST})), {low})", chosen, scores), node[0].element)
