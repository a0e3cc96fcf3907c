"""Models on meshes by the names of their tensors, as ``mlc compile --mesh`` takes them, beside one rank, in NumPy.

    python test/fuzz/fuzz_named.py --graphs 60 --open 60 --benchmarks [--seed N]

Inputs, weights and results of nodes are divided at random along meshes of 2, 3 and 2 x 2 ranks, evenly or not; open
models run with several sizes, those of the benchmarks are small. Floats are compared to 1e-5.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

from fuzz_partitions import of_graph  # noqa: E402
from grow import grown  # noqa: E402
from grow_sized import grown_sized  # noqa: E402
from growing import drawn as drawn_shape  # noqa: E402
from partitioned import MESHES, assert_equal  # noqa: E402
from xdsl.dialects.func import ReturnOp  # noqa: E402

from benchmarks.models import FAMILIES, build, random_inputs, small  # noqa: E402
from mlc import Mesh, P, divided  # noqa: E402
from mlc.dialects.graph import WeightOp  # noqa: E402
from mlc.dialects.semantics.interpreter import interpret, main_of, names  # noqa: E402
from mlc.dialects.types import STRING, element_of, shape_of  # noqa: E402
from mlc.errors import InputError  # noqa: E402
from mlc.frontends.onnx import import_model  # noqa: E402

Feeds = Mapping[str, Any]
MOST = 3  # tensors that are divided


def shardings(imported: Any, mesh: Mapping[str, int], random: np.random.Generator) -> dict[str, P]:
    """Shardings of some tensors of a module that may be divided."""
    main = main_of(imported.module)
    found = dict(zip(names(main.arg_attrs), main.args, strict=True))
    for op in main.body.block.ops:
        if isinstance(op, WeightOp):
            found[op.entry.data] = op.result
        elif not isinstance(op, ReturnOp):
            found |= {x.name_hint: x for x in op.results if x.name_hint}
    fits = [n for n, x in found.items() if element_of(x) != STRING and any(d != 1 for d in shape_of(x))]
    chosen = random.permutation(sorted(fits))[:MOST]
    return {str(name): spec(shape_of(found[name]), mesh, random) for name in chosen}


def spec(shape: Any, mesh: Mapping[str, int], random: np.random.Generator) -> P:
    dims: list[list[str]] = [[] for _ in shape]
    for axis in mesh:
        free = [n for n, d in enumerate(shape) if d != 1 and d != 0 and not dims[n]]
        if free and random.random() < 0.8:
            dims[int(random.choice(free))].append(axis)
    return P(*(tuple(each) if each else None for each in dims))


def check(model: Any, runs: list[Feeds], seed: int, tries: int = 3) -> int:
    """The number of divisions of a model that equal one rank; those that mlc refuses are left out.

    Raises:
        AssertionError: ranks compute something else.
    """
    random, compared = np.random.default_rng(seed), 0
    whole = import_model(model)
    for _ in range(tries):
        mesh = MESHES[int(random.integers(len(MESHES)))]
        given = shardings(import_model(model), mesh, random)
        source = divided.of(model, Mesh(**mesh), given)
        for feeds in runs:
            try:
                with np.errstate(all="ignore"):
                    wanted = interpret(whole.module, whole.weights, feeds)
            except Exception:  # sizes that the model does not take
                continue
            try:
                with np.errstate(all="ignore"):
                    found = source.simulate(feeds)
            except InputError as error:
                if any(why in str(error) for why in ("Leave strings whole", "Divide another", "divide what they are")):
                    break
                raise
            for name, x in found.items():
                assert_equal(x, wanted[name], f"{name} on {mesh} by {given}")
            compared += 1
    return compared


def models(given: Any) -> Iterator[tuple[str, Any, list[Feeds]]]:
    random = np.random.default_rng(given.seed)
    for n in range(given.seed, given.seed + given.graphs):
        try:
            imported, feeds = of_graph(n)
        except Exception:  # models that mlc refuses
            continue
        if all(isinstance(d, int) for x in main_of(imported.module).args for d in shape_of(x)):
            yield f"graph {n}", grown(n), [feeds]
    for n in range(given.seed, given.seed + given.open):
        graph = grown_sized(n)
        runs = [{x: drawn_shape(random, graph.sizes[x][at] or (), graph.types[x]) for x in graph.inputs}
                for at in range(len(graph.runs))]  # fmt: skip
        yield f"open graph {n}", graph.model(), runs
    for name in FAMILIES if given.benchmarks else given.model:
        model = build(name, **small.OPTIONS.get(name, {}))
        yield name, model, [random_inputs(model, 0)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=int, default=30, help="random models")
    parser.add_argument("--open", type=int, default=0, help="random ones of run-time extents")
    parser.add_argument("--benchmarks", action="store_true", help="the models of the benchmarks")
    parser.add_argument("--model", nargs="*", default=[], help="some of these")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tried = compared = wrong = 0
    for name, model, runs in models(given):
        tried += 1
        try:
            compared += check(model, runs, given.seed + tried, tries=1 if name in FAMILIES else 3)
        except Exception:
            wrong += 1
            print(f"{name}: {traceback.format_exc()[-3000:]}", flush=True)
    print(f"{tried} models: {compared} divisions equal one rank, {wrong} models are wrong")


if __name__ == "__main__":
    main()
