"""The forward of exported torch models beside torch.compile (inductor) and eager; with ``--training`` a forward and
backward step of torch.compile's backend "mlc".

Every engine sits in a process of its own, on two threads; they run in turn, and a ratio is the median over the rounds.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

ENGINES = ("eager", "inductor", "mlc")
TOKENS = 128


def models() -> dict[str, Callable[[], tuple[Any, dict[str, Any]]]]:
    """Models with their inputs."""
    import torch
    from torch import nn

    from benchmarks.torch_models import patches, vision

    def image(make: Callable[[], nn.Module], side: int = 224) -> Callable[[], tuple[Any, dict[str, Any]]]:
        def made() -> tuple[Any, dict[str, Any]]:
            module = make()
            return module, {"input" if isinstance(module, nn.Sequential) else "x": torch.randn(1, 3, side, side)}

        return made

    rows = torch.randn(64, 784)
    return {
        "resnet18": image(vision.resnet),
        "resnet50": image(lambda: vision.resnet((3, 4, 6, 3), True)),
        "mobilenet_v2": image(lambda: vision.mobile(vision.V2, nn.ReLU6, False)),
        "efficientnet_b0": image(lambda: vision.mobile(vision.B0, nn.SiLU, True)),
        "squeezenet": image(vision.squeezenet),
        "densenet121": image(vision.densenet),
        "unet": image(vision.UNet, 128),
        "vit_tiny": image(patches.ViT),
        "swin": image(patches.Swin),
        "convnext": image(patches.convnext),
        "mlp": lambda: (nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10)), {"input": rows}),
        "bert": lambda: _language("BertModel", "BertConfig"),
        "gpt2": lambda: _language("GPT2Model", "GPT2Config"),
        "llama": lambda: _language("LlamaModel", "LlamaConfig"),
    }


def _language(model: str, config: str) -> tuple[Any, dict[str, Any]]:
    """Six layers of 384, on one sequence of tokens."""
    import torch
    import transformers

    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 6, "intermediate_size": 1536}
    own = {"n_embd": 384, "n_layer": 6, "n_head": 6} if config == "GPT2Config" else sizes
    extra = {} if config == "BertConfig" else {"use_cache": False}
    settings = getattr(transformers, config)(vocab_size=1000, **own, **extra)
    return getattr(transformers, model)(settings), {"input_ids": torch.randint(0, 1000, (1, TOKENS))}


def prepared(engine: str, name: str, training: bool) -> Callable[[], Any]:
    """The forward of a model, or its step, as a function of nothing."""
    import torch

    import mlc

    torch.manual_seed(0)
    module, inputs = models()[name]()
    if training:
        return _step(engine, module, inputs)
    module = module.eval()
    if engine == "mlc":
        program = torch.export.export(module, (), inputs, strict=False)
        net = mlc.compile(program, threads=torch.get_num_threads())
        return lambda: net(**inputs)
    function = torch.compile(module) if engine == "inductor" else module
    return lambda: function(**inputs)


def _step(engine: str, module: Any, inputs: dict[str, Any]) -> Callable[[], Any]:
    """Forward and backward without dropout: the gradients of the mean of the squares of what the model gives."""
    import torch

    from benchmarks.torch_models.training import without_dropout

    module = without_dropout(module).train()
    backend = {"mlc": {"backend": "mlc", "options": {"fallback": False}}, "inductor": {}}
    function = torch.compile(module, **backend[engine]) if engine in backend else module

    def step() -> None:
        found = function(**inputs)
        y = found if isinstance(found, torch.Tensor) else found[0]
        y.square().mean().backward()
        module.zero_grad()

    return step


def serve(engine: str, name: str, threads: int, training: bool, pipe: Connection) -> None:
    """Prepare, then answer each request with the seconds of a forward."""
    import logging
    import warnings

    import torch

    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(threads)
    with torch.set_grad_enabled(training):
        forward = prepared(engine, name, training)
        for _ in range(3):
            forward()
        pipe.send("ready")
        while (seconds := pipe.recv()) is not None:
            pipe.send(timed(forward, seconds))


def timed(forward: Callable[[], Any], seconds: float) -> float:
    """The least time of a forward in so many seconds."""
    best, end = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < end or best == math.inf:
        start = time.perf_counter()
        forward()
        best = min(best, time.perf_counter() - start)
    return best


def compared(name: str, threads: int, rounds: int, seconds: float, training: bool = False) -> dict[str, list[float]]:
    """The seconds of each engine in each round."""
    context = multiprocessing.get_context("spawn")
    pipes, workers = {}, []
    for engine in ENGINES:
        pipes[engine], other = context.Pipe()
        workers.append(context.Process(target=serve, args=(engine, name, threads, training, other), daemon=True))
        workers[-1].start()
        other.close()
        pipes[engine].recv()
    found: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    for _ in range(rounds):
        for engine, pipe in pipes.items():
            pipe.send(seconds)
            found[engine].append(pipe.recv())
    for pipe, worker in zip(pipes.values(), workers, strict=True):
        pipe.send(None)
        worker.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="for an engine in a round")
    parser.add_argument("--training", action="store_true", help="a step: forward and backward")
    given = parser.parse_args()
    ratios: dict[str, list[float]] = {"inductor": [], "eager": []}
    print(f"{'model':16}{'mlc ms':>9}{'inductor':>10}{'eager':>8}   (times mlc's)")
    for name in given.models or models():
        found = compared(name, given.threads, given.rounds, given.seconds, given.training)
        own = {
            peer: statistics.median(a / b for a, b in zip(found[peer], found["mlc"], strict=True)) for peer in ratios
        }
        for peer, ratio in own.items():
            ratios[peer].append(ratio)
        milliseconds = statistics.median(found["mlc"]) * 1e3
        print(f"{name:16}{milliseconds:9.2f}{own['inductor']:10.2f}{own['eager']:8.2f}", flush=True)
    means = {peer: statistics.geometric_mean(found) for peer, found in ratios.items()}
    print(f"{'geometric mean':25}{means['inductor']:10.2f}{means['eager']:8.2f}")


if __name__ == "__main__":
    main()
