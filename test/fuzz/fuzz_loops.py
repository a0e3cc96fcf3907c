"""Random small loops, compiled, batched and differentiated, beside NumPy's float64.

    python test/fuzz/fuzz_loops.py --count 200 --seed 0 [--target x86-64-v3]

What disagrees is printed with its seed; the exit status is 1 then.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from loop_programs import Array, ByMlc, ByNumPy, LoopProgram

import mlc

CLOSE, STEP, AGREE = 1e-9, 1e-5, 1e-3


def one(seed: int, transforms: bool = True, target: str = "cpu") -> str:
    """What is wrong with a program; empty where nothing is."""
    program = LoopProgram.drawn(seed)
    inputs = program.inputs(seed + 1)
    compiled = mlc.jit(lambda *xs: program(ByMlc(), *xs), wait=True, target=target)
    wanted = [np.asarray(each) for each in program(ByNumPy(), *inputs)]
    if what := differ("compiled", [np.asarray(each) for each in compiled(*inputs)], wanted):
        return f"{program}: {what}"
    rows = [compiled(*inputs), compiled(*inputs)]
    if what := differ("the second call", *([np.asarray(each) for each in row] for row in rows), close=0):
        return f"{program}: {what}"
    if not transforms:
        return ""
    found = [batched(program, inputs), derivative(program, inputs, np.random.default_rng(seed))]
    return "".join(f"{program}: {what}\n" for what in found if what)


def differ(name: str, found: list[Array], wanted: list[Array], close: float = CLOSE) -> str:
    for n, (a, b) in enumerate(zip(found, wanted, strict=True)):
        if a.shape != b.shape or not np.allclose(a, b, rtol=close, atol=close):
            return f"{name}: result {n} is {a!r}, not {b!r}"
    return ""


def batched(program: LoopProgram, inputs: list[Array]) -> str:
    """What is wrong with a batch of two, each with states of its own."""
    pairs = [np.stack([x, x[::-1] if x.ndim else x * 0.5]) for x in inputs]
    run = mlc.jit(mlc.vmap(lambda *xs: program(ByMlc(), *xs)), wait=True)
    found = [np.asarray(each) for each in run(*pairs)]
    for n in range(2):
        wanted = [np.asarray(each) for each in program(ByNumPy(), *(pair[n] for pair in pairs))]
        if what := differ(f"row {n} of a batch", [each[n] for each in found], wanted):
            return what
    return ""


def loss_of(program: LoopProgram, lib: ByNumPy) -> Callable[..., Any]:
    count = len(program.shapes)
    return lambda *xs: sum(lib.np.sum(each * each) for each in program(lib, *xs)[:count])


def derivative(program: LoopProgram, inputs: list[Array], rng: np.random.Generator) -> str:
    """What is wrong with the derivatives by all inputs: forward against central differences, reverse against forward.
    Where one-sided differences disagree, at a kink or step of the program, nothing is."""
    tangents = [rng.standard_normal(x.shape) for x in inputs]
    reference, loss = loss_of(program, ByNumPy()), loss_of(program, ByMlc())
    at = [float(reference(*(x + k * STEP * t for x, t in zip(inputs, tangents, strict=True)))) for k in (-1, 0, 1)]
    before, after = (at[1] - at[0]) / STEP, (at[2] - at[1]) / STEP
    if abs(after - before) > AGREE * (1 + abs(before)):
        return ""
    run = mlc.jit(lambda xs, ts: mlc.jvp(loss, xs, ts)[1], wait=True)
    forward = float(np.asarray(run(tuple(inputs), tuple(tangents))))
    if not np.isclose(forward, (before + after) / 2, rtol=AGREE, atol=AGREE):
        return f"derivative {forward} where differences say {(before + after) / 2}"
    if program.kind in ("while", "counted") or any(step[0] == "until" for step in program.steps):
        return ""  # without derivatives in reverse
    gradient = mlc.jit(mlc.grad(loss, tuple(range(len(inputs)))), wait=True)(*inputs)
    reverse = sum(float((np.asarray(g) * t).sum()) for g, t in zip(gradient, tangents, strict=True))
    close = np.isclose(forward, reverse, rtol=1e-8, atol=1e-8)
    return "" if close else f"forward {forward} and reverse {reverse}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python test/fuzz/fuzz_loops.py", description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", default="cpu", help="Of programs without transforms.")
    given = parser.parse_args()
    wrong = 0
    for seed in range(given.seed, given.seed + given.count):
        if what := one(seed, target=given.target):
            wrong += 1
            print(f"seed {seed}: {what}", flush=True)
    print(f"{given.count} programs: {given.count - wrong} agree")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
