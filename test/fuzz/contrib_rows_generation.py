"""Cases of generation: a decoder of one layer, whose weights are random, as a subgraph."""

from __future__ import annotations

from typing import Any

import numpy as np
from contrib import MS, Case, Data, Draw, row
from onnx import GraphProto, TensorProto, helper, numpy_helper

WORDS, WIDTH, HEADS = 11, 8, 2


def _decoder(d: Draw, layers: int) -> GraphProto:
    """Tokens and positions to logits, by attention to those before."""
    size, kind = WIDTH // HEADS, TensorProto.INT32
    weights = {"words": (WORDS, WIDTH), "positions": (16, WIDTH), "out": (WIDTH, WORDS)}
    weights |= {f"{n}{k}": s for k in range(layers) for n, s in (("w", (WIDTH, 3 * WIDTH)), ("b", (3 * WIDTH,)))}
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["a"]),
        helper.make_node("Gather", ["positions", "position_ids"], ["p"]),
    ]
    nodes.append(helper.make_node("Add", ["a", "p"], ["h0"]))
    for k in range(layers):
        names = [f"h{k}", f"w{k}", f"b{k}", "attention_mask", f"past_{k}"]
        how = {"num_heads": HEADS, "unidirectional": 1}
        nodes.append(helper.make_node("Attention", names, [f"z{k}", f"present_{k}"], domain=MS, **how))
        nodes.append(helper.make_node("Add", [f"h{k}", f"z{k}"], [f"h{k + 1}"]))
    nodes.append(helper.make_node("MatMul", [f"h{layers}", "out"], ["logits"]))
    info = helper.make_tensor_value_info
    inputs = [info("input_ids", kind, ["b", "s"]), info("position_ids", kind, ["b", "s"])]
    inputs.append(info("attention_mask", kind, ["b", "total"]))
    inputs += [info(f"past_{k}", 1, [2, "b", HEADS, "past", size]) for k in range(layers)]
    outputs = [info("logits", 1, ["b", "s", WORDS])]
    outputs += [info(f"present_{k}", 1, [2, "b", HEADS, "total", size]) for k in range(layers)]
    tensors = [
        numpy_helper.from_array((0.6 * d.weights.standard_normal(s)).astype("f4"), n) for n, s in weights.items()
    ]
    return helper.make_graph(nodes, "decoder", inputs, outputs, tensors)


@row("GreedySearch")
def greedy_search(d: Draw) -> Case:
    """Prompts with or without padding in front, rules for the tokens, and ends on the way."""
    batch, given, most = d.open("batch", 1, 3), d.int(1, 5), d.int(6, 12)
    how: dict[str, Any] = {"decoder": _decoder(d, d.int(1, 2)), "eos_token_id": 3, "pad_token_id": 0}
    how |= {"init_decoder": how["decoder"]} if d.flip(0.3) else {}
    how |= {"no_repeat_ngram_size": d.int(1, 3)} if d.flip(0.4) else {}
    ids = d.numbers.integers(1, WORDS, (batch, given))
    if d.flip():
        ids[d.numbers.integers(0, given, (batch, 1)) > np.arange(given)] = 0
    inputs: list[Data | None] = [d.data(ids.astype("i4"), (batch, given)), d.given([most], "i4")]
    inputs.append(d.given([d.int(1, most)], "i4", constant=d.flip()) if d.flip() else None)
    inputs.append(d.given([d.one(1.0, 1.5, 4.0)], "f4", constant=d.flip()) if d.flip() else None)
    inputs.append(d.integers(0, 2, WORDS) if d.flip(0.3) else None)
    inputs.append(d.integers(0, 2, batch, WORDS) if d.flip(0.3) else None)
    mask = d.data((ids != 0).astype("i4"), (batch, given))
    inputs.append(mask if d.flip(0.3) else None)
    # It writes no column after the one in which all sequences have ended.
    return Case("GreedySearch", inputs, how, onto={0: np.zeros((batch, most), "i4")})


@row("BeamSearch")
def beam_search(d: Draw) -> Case:
    """Beams of one batch or two, of which sequences end on the way."""
    early, given, most, beams = d.flip(), d.int(1, 4), d.int(6, 10), d.int(1, 4)
    batch = d.open("batch", 1, 3) if early else 1
    how: dict[str, Any] = {"decoder": _decoder(d, d.int(1, 2)), "eos_token_id": 3, "pad_token_id": 0}
    how |= {"no_repeat_ngram_size": d.int(2, 3)} if d.flip(0.3) else {}
    how |= {"early_stopping": 1} if early else {}
    ids = d.numbers.integers(1, WORDS, (batch, given))
    inputs: list[Data | None] = [d.data(ids.astype("i4"), (batch, given)), d.given([most], "i4")]
    inputs.append(d.given([d.int(1, most)], "i4"))
    inputs += [d.given([beams], "i4"), d.given([d.int(1, beams)], "i4")]
    inputs.append(d.given([d.one(0.5, 1.0, 2.0)], "f4"))
    inputs.append(d.given([d.one(1.0, 1.5)], "f4") if d.flip() else None)
    allowed = np.maximum(d.numbers.integers(0, 2, WORDS), np.arange(WORDS) > 3)
    inputs.append(d.data(allowed.astype("i4"), (WORDS,)) if d.flip(0.3) else None)
    inputs += [None, d.data(np.ones((batch, given), "i4"), (batch, given)) if d.flip(0.3) else None]
    return Case("BeamSearch", inputs, how, (True, d.flip()))
