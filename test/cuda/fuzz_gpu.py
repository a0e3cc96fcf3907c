"""Random graphs on an emulated GPU against the CPU target: ``python test/cuda/fuzz_gpu.py --count 1000``.

Each graph has an architecture and numerics by its seed, unless the command says which; with ``--schedules`` its kernels
have random schedules, for a GPU of few multiprocessors. What differs, crashes, is
refused or breaks a rule of the emulation (races, accesses out of bounds) is a line with its seed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from random import Random, SystemRandom

import onnx

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "fuzz"), str(HERE.parents[0] / "conformance"), str(HERE.parents[1])]

import isolate  # noqa: E402
from agree import HALF, TOLERANCE, compare  # noqa: E402
from cuda_conformance import LOADED, machine  # noqa: E402
from grow import grown  # noqa: E402
from growing import feeds  # noqa: E402
from networks import network  # noqa: E402
from products import TILES, binary, products, unary  # noqa: E402
from random_schedules import random_schedules, smaller  # noqa: E402
from scratch import scratch  # noqa: E402
from trained import difference_from_torch  # noqa: E402

import mlc  # noqa: E402

HALVES = ("float16", "bfloat16")
KINDS = {
    "products": products,
    "tiles": partial(
        products, extents=TILES, ranks=(2, 2, 3), types=(*HALVES, *HALVES, "float32"), others=(unary, binary)
    ),
    "images": partial(products, ranks=(4,), types=HALVES),
    "graphs": grown,
    "networks": network,
}
TRAINING = "training"  # the kind whose graphs are traced, and have gradients: torch's in float64 are compared
TARGETS = ("cuda:sm_80", "cuda:sm_90")
NUMERICS = ("default", "default", "relaxed", "strict")
SIZES = (5, 19)  # of open dimensions, one after the other
TF32 = 5e-3  # of the largest value, with relaxed numerics
SECONDS = 300.0  # for a graph
SHADOW = 1 << 46  # bytes of address space, most of which the shadow memory of the emulation reserves


def difference(
    seed: int, kind: str = "products", size: int = 6, target: str = "", numerics: str = "", schedules: bool = False
) -> str:
    """What is wrong with the graph of a seed; empty where nothing is."""
    random = Random(seed)
    chosen, kept = random.choice(TARGETS), random.choice(NUMERICS)
    target, numerics = target or chosen, numerics or kept
    os.environ["FAKE_CUDA_ARCHITECTURE"] = target[-2:]
    try:
        found = list(_differing(seed, kind, size, target, numerics, random if schedules else None))
    except Exception as error:
        found = [f"{type(error).__name__}: {str(error)[:500]}"]
    return "; ".join(f"{target}, {numerics}: {line}" for line in found)


def _differing(seed: int, kind: str, size: int, target: str, numerics: str, scheduling: Random | None) -> Iterator[str]:
    precise = TF32 if numerics == "relaxed" else TOLERANCE
    if kind == TRAINING:
        yield from difference_from_torch(seed, size, precise, target=target, numerics=numerics)
        return
    model = KINDS[kind](seed, size)
    with _compiled(model, target, numerics, scheduling) as net, mlc.compile(model, threads=1) as other:
        for extent in SIZES if net.dims else SIZES[:1]:
            inputs = feeds(model, seed, extent)
            yield from compare(net.run(inputs), other.run(inputs), precise, 2 * HALF)


def _compiled(model: onnx.ModelProto, target: str, numerics: str, scheduling: Random | None) -> mlc.Model:
    if scheduling is None:
        return mlc.compile(model, target=target, numerics=numerics)
    smaller(target, scheduling)
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(random_schedules(model, scheduling, target, numerics))
        file.flush()
        return mlc.compile(model, target=target, numerics=numerics, schedule=file.name)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=100, help="graphs to grow")
    arguments.add_argument("--seed", type=int, default=SystemRandom().getrandbits(31), help="of the first graph")
    arguments.add_argument("--size", type=int, default=6, help="steps of a graph, about")
    arguments.add_argument("--kind", choices=[*KINDS, TRAINING], default="products")
    arguments.add_argument("--target", choices=TARGETS, default="", help="default: one by the seed")
    arguments.add_argument("--numerics", choices=sorted(set(NUMERICS)), default="", help="default: one by the seed")
    arguments.add_argument("--schedules", action="store_true", help="random schedules")
    given = arguments.parse_args()
    how = {name: getattr(given, name) for name in ("kind", "size", "target", "numerics", "schedules")}
    judge = partial(difference, **how)
    for module in LOADED:  # here, and not in each child
        import_module(module)
    isolate.MEMORY = SHADOW
    failed = 0
    with scratch(), tempfile.TemporaryDirectory() as folder:
        machine(Path(folder))
        for seed, problem in isolate.judged(range(given.seed, given.seed + given.count), judge, SECONDS):
            failed += bool(problem)
            if problem:
                print(f"seed {seed}: {problem}", flush=True)
    print(f"{given.count - failed} of {given.count} graphs agree, from seed {given.seed} on")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
