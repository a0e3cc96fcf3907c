"""Steps of random numbers, as far as all generators agree: their limits, and what is certain.

Also of the optimizers of ai.onnx.preview.training.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from growing import Graph

FLOATS = {"float32": 1, "float64": 11}


def drawn(g: Graph) -> None:
    """From 3 to below 4, rounded down; far from the mean, where there is nothing."""
    shape, kind = g.shape(g.random.randint(1, 4)), g.random.choice(list(FLOATS))
    far = g.constant(np.array(99, kind))
    op, how, test, others, result = g.random.choice([
        ("RandomUniform", {"low": 3.0, "high": 4.0}, "Floor", [], kind),
        ("RandomNormal", {"mean": 7.0, "scale": 0.5}, "Less", [far], "bool"),
    ])  # fmt: skip
    like = [g.new(shape, "int32")] if g.random.random() < 0.5 else []
    op, how = (f"{op}Like", how) if like else (op, how | {"shape": list(shape)})
    y = g.add(op, like, shape, kind, last=True, dtype=FLOATS[kind], **how)
    g.add(test, [y, *others], shape, result)


def certain(g: Graph) -> None:
    """Probabilities of 0 and 1.

    Up to opset 21 onnxruntime has Multinomial, and runs the body of Bernoulli, which takes probabilities of 1 for those
    of 0; from then on onnx's evaluator has Bernoulli.
    """
    if g.opset >= 22:
        x = g.new(shape := g.shape(g.random.randint(1, 4)), "bool")
        x = g.add("Cast", [x], shape, "float32", to=1, last=True)
        g.add("Bernoulli", [x], shape, "int32", dtype=6)
        return
    rows, classes, count = (g.random.randint(1, 5) for _ in range(3))
    logits = np.full((rows, classes), -1e30, "f4")
    logits[range(rows), g.numpy().integers(0, classes, rows)] = 0.5
    g.add("Multinomial", [g.constant(logits)], (rows, count), "int64", sample_size=count, dtype=7)


def trained(g: Graph) -> None:
    """One step of an optimizer with one tensor. Onnx's evaluator has them; from step 1 on it gives f64 for Adam."""
    op, states = g.random.choice([("Adagrad", 1), ("Adam", 2), ("Momentum", 1)])
    shape = g.shape(g.random.randint(1, 3))
    squares = [g.add("Abs", [g.new(shape)], shape, last=True)] if op != "Momentum" else []
    tensors = [g.new(shape), g.new(shape), *([g.new(shape)] * (states - len(squares))), *squares]
    rest = {"mode": g.random.choice(["standard", "nesterov"]), "alpha": 0.9, "beta": 0.4} if op == "Momentum" else {}
    how = {"norm_coefficient": 0.1, **({} if op == "Momentum" else {"epsilon": 0.1}), **rest}
    inputs = [
        g.constant(np.float32(0.2)),
        g.constant(np.int64(0 if op == "Adam" else g.random.randint(0, 3))),
        *tensors,
    ]
    g.add(op, inputs, shape, "float32", domain="ai.onnx.preview.training", last=True, **how)
    for _ in range(states):
        g.more(shape, "float32", last=True)


RANDOM: tuple[Callable[[Graph], None], ...] = (drawn, drawn, certain, trained, trained)
