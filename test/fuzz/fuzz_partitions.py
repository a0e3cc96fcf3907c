"""Partitions of models beside one rank, in NumPy: every operator along every factor on 2 and 3 ranks, whole models on
meshes of 2, 3 and 2 x 2.

    python test/fuzz/fuzz_partitions.py --cases 400 --graphs 200 --open 200 [--seed N]

Cases are those of the onnx package, graphs those of `fuzz_graphs.py`. Open ones have inputs of run-time extents, which
are divided: one partition serves several sizes, also those of fewer elements than ranks. The program prints how many
operators have a rule, and for those without the reasons.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1] / "conformance")]

from cases import as_array, small_cases  # noqa: E402
from grow import grown  # noqa: E402
from grow_sized import grown_sized  # noqa: E402
from growing import drawn as drawn_shape  # noqa: E402
from partitioned import Found, check_operators, check_runs, check_whole, simplified  # noqa: E402

from mlc.dialects.semantics.interpreter import interpret, main_of, names  # noqa: E402
from mlc.dialects.types import element_of, numpy_dtype, shape_of  # noqa: E402
from mlc.errors import MlcError  # noqa: E402
from mlc.frontends.onnx import import_model  # noqa: E402

Feeds = dict[str, Any]


def of_case(name: str) -> tuple[Any, Feeds]:
    case = small_cases()[name]
    inputs = case.data_sets[0][0]
    imported = simplified(import_model(case.model))
    return imported, dict(zip(names(main_of(imported.module).arg_attrs), map(as_array, inputs), strict=True))


def of_graph(seed: int) -> tuple[Any, Feeds]:
    imported = simplified(import_model(grown(seed)))
    main, random = main_of(imported.module), np.random.default_rng(seed)
    return imported, {n: drawn(x, random) for n, x in zip(names(main.arg_attrs), main.args, strict=True)}


def drawn(x: Any, random: np.random.Generator) -> Any:
    dtype, shape = numpy_dtype(element_of(x)), tuple(int(d) if isinstance(d, int) else 6 for d in shape_of(x))
    kind = np.dtype(dtype).kind
    if kind == "b":
        return random.random(shape) < 0.5
    return random.normal(size=shape).astype(dtype) if kind not in "iu" else random.integers(0, 5, shape).astype(dtype)


def models(cases: int, graphs: int, seed: int) -> Iterator[tuple[str, Any]]:
    """Names, and functions that make a model with its inputs anew."""
    order = np.random.default_rng(seed).permutation(sorted(small_cases()))[:cases]
    yield from ((str(name), lambda name=name: of_case(str(name))) for name in order)
    yield from ((f"graph {n}", lambda n=n: of_graph(n)) for n in range(seed, seed + graphs))


def check(name: str, make: Any, found: Found) -> str | None:
    """What is wrong with the partitions of a model; None where nothing is, or it cannot be made."""
    random = np.random.default_rng(abs(hash(name)) % (1 << 32))
    try:
        imported, feeds = make()
        interpret(imported.module, imported.weights, feeds)
    except Exception:  # models that mlc refuses, and inputs that are no arrays, or none that the model takes
        return None
    try:
        check_operators(*make(), random, found)
        imported, feeds = make()
        if all(isinstance(d, int) for x in main_of(imported.module).args for d in shape_of(x)):
            check_whole(imported, feeds, random, found)
    except Exception:
        return f"{name}: {traceback.format_exc()}"
    return None


def check_open(seed: int, found: Found, tries: int = 3) -> str | None:
    """What is wrong with the partitions of a random model of run-time extents; None where nothing is."""
    graph, random = grown_sized(seed), np.random.default_rng(seed)
    runs = [{n: drawn_of(graph, n, at, random) for n in graph.inputs} for at in range(len(graph.runs))]
    if all("" not in dims for dims in graph.named.values()):
        one = {n: tuple(eval(str(d), {}, dict.fromkeys("nmb", 1)) for d in dims) for n, dims in graph.named.items()}
        runs.append({n: drawn_shape(random, shape, graph.types[n]) for n, shape in one.items()})
    for _ in range(tries):
        try:
            imported = simplified(import_model(graph.model()))
        except MlcError:
            return None
        try:
            check_runs(imported, runs, random, found)
        except Exception:
            return f"open graph {seed}: {traceback.format_exc()}"
    return None


def drawn_of(graph: Any, name: str, run: int, random: np.random.Generator) -> Any:
    """An input of a random model in one of its runs."""
    return drawn_shape(random, graph.sizes[name][run] or (), graph.types[name])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100, help="of the onnx package")
    parser.add_argument("--graphs", type=int, default=50, help="random ones")
    parser.add_argument("--open", type=int, default=0, help="random ones of run-time extents")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found, wrong, tried = Found(), 0, 0
    for name, make in models(given.cases, given.graphs, given.seed):
        tried += 1
        if problem := check(name, make, found):
            wrong += 1
            print(problem, flush=True)
    for seed in range(given.seed, given.seed + given.open):
        tried += 1
        if problem := check_open(seed, found):
            wrong += 1
            print(problem, flush=True)
    print(f"{tried} models: {found.compared} partitions equal one rank, {wrong} models are wrong; "
          f"{found.ruled} of {found.operators} operators have a rule")  # fmt: skip
    for title, counted in (("by factor", found.kinds), ("no rule", found.refused)):
        for reason, count in counted.most_common():
            print(f"  {title}: {count} {reason}")


if __name__ == "__main__":
    main()
