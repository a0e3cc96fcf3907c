"""Steps and prompts of decoders with 4-bit weights, beside onnxruntime and llama.cpp, in turn, as ratios.

    python -m benchmarks.decoding [MODEL…] [--form grouped] [--past 255] [--threads 1] [--seconds 4]
        [--llama-bench build/bin/llama-bench]

A model is one of ``benchmarks.models.decoders`` (random weights). onnxruntime multiplies activations of 8 bits
(accuracy level 4), and copies its cache. A prompt has the logits of its last token, as llama.cpp makes them. Of one
thread the CPU time is measured, which other programs change little, of more threads the time; of each engine the least
counts. llama.cpp is a process of its own (the package gguf writes its file).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import mlc
from benchmarks.models import decoders
from mlc.tools.peak import peak_of

ROOM = 2048
Feeds = dict[str, np.ndarray]


def feeds(count: int, past: int, form: str) -> Feeds:
    """``count`` tokens after ``past`` others."""
    given = {"input_ids": np.arange(count)[None] + 5, "attention_mask": np.ones((1, past + count), np.int64)}
    return given | ({"position_ids": np.arange(past, past + count)[None]} if form == "concat" else {})


def ours(path: Path, threads: int, given: Feeds) -> tuple[Callable[[], Any], int]:
    """A run, and the bytes that its kernels must move."""
    net = mlc.compile(path, threads=threads, cache=ROOM)
    moved = sum(int(kernel["bytes"]) for kernel, _ in net.profile(**given))
    return lambda: net.run(given), moved


def theirs(path: Path, threads: int, given: Feeds, sizes: decoders.Sizes) -> Callable[[], Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    total, count = given["attention_mask"].shape[1], given["input_ids"].shape[1]
    cache = np.zeros((1, sizes.groups, total - count, sizes.size), np.float32)
    inputs = {i.name: given.get(i.name, cache) for i in session.get_inputs()}
    return lambda: session.run(None, inputs)


def in_turn(runs: list[Callable[[], Any]], seconds: float, threads: int) -> list[float]:
    """The least time of each run."""
    clock = time.process_time if threads == 1 else time.perf_counter
    best, end = [float("inf")] * len(runs), time.perf_counter() + seconds
    while time.perf_counter() < end:
        for n, run in enumerate(runs):
            start = clock()
            run()
            best[n] = min(best[n], clock() - start)
    return best


def llama_bench(command: str, file: Path, threads: int, past: int, prompt: int) -> dict[str, float]:
    """Seconds of a step after ``past`` tokens, and of a prompt; of one thread the CPU time, by processes of more and of
    fewer of them."""
    if threads > 1:
        ask = ["-p", str(prompt), "-n", "16", "-d", str(past), "-r", "3", "-t", str(threads), "-o", "json"]
        found = subprocess.run([command, "-m", str(file), *ask], capture_output=True, text=True, check=True).stdout
        least = {row["n_gen"] > 0: min(row["samples_ns"]) / 1e9 for row in json.loads(found)}
        return {"step": least[True] / 16, "prompt": least[False]}

    def used(*ask: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [command, "-m", str(file), "-t", "1", "-r", "1", "--no-warmup", *ask], capture_output=True, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    steps, prompts = (
        min(used(*ask, str(most)) for _ in range(3)) - min(used(*ask, str(few)) for _ in range(3))
        for ask, few, most in ((("-p", "0", "-d", str(past), "-n"), 8, 72), (("-n", "0", "-p"), prompt, 2 * prompt))
    )
    return {"step": steps / 64, "prompt": prompts}


def measure(name: str, arguments: argparse.Namespace) -> None:
    sizes, form, threads = decoders.SIZES[name], arguments.form, arguments.threads
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "model.onnx", decoders.decoder(name, form, last=not arguments.all_logits)
        onnx.save(model, path)
        peer = {}
        if arguments.llama_bench:
            from benchmarks.models import gguf

            gguf.write(model, sizes, file := Path(folder) / "model.gguf")
            peer = llama_bench(arguments.llama_bench, file, threads, arguments.past, arguments.prompt)
        for kind, count, past in (("step", 1, arguments.past), ("prompt", arguments.prompt, 0)):
            given = feeds(count, past, form)
            run, moved = ours(path, threads, given)
            mine, other = in_turn([run, theirs(path, threads, given, sizes)], arguments.seconds, threads)
            text = f"{name} {form} {kind}: {mine * 1e3:.3f} ms, {count / mine:.1f} tokens/s"
            if kind == "step":
                peak = peak_of("cpu", threads)
                text += f", {moved / 1e6:.1f} MB, {moved / mine / 1e9:.1f} GB/s, {peak.share_text(0, moved, mine)}"
            text += f"; times of others over ours: onnxruntime {other / mine:.2f}"
            print(text + (f", llama.cpp {peer[kind] / mine:.2f}" if peer else ""), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Steps and prompts of decoders with 4-bit weights.")
    parser.add_argument("models", nargs="*", default=["qwen3_06b", "llama32_1b", "gemma3_270m"])
    parser.add_argument("--form", choices=("grouped", "concat"), default="grouped")
    parser.add_argument("--past", type=int, default=255)
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--all-logits", action="store_true", help="of each token of a prompt; llama.cpp has the last's")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--llama-bench", default="", help="llama.cpp's program; without it llama.cpp is left out")
    arguments = parser.parse_args()
    for name in arguments.models:
        measure(name, arguments)


if __name__ == "__main__":
    main()
