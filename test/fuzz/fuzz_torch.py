"""Compares torch's operators with eager torch: `python test/fuzz/fuzz_torch.py --count 8 --only fft`.

Each operator of torch's database gets as many of its samples of each dtype. A line says what differs; `refused` is what
mlc does not take, `no reference` what torch itself does not.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import torch
import typer
from torch_agree import NO_REFERENCE, RANDOM, compiled, differentiated, eager, eager_gradients, exported, judged
from torch_samples import operators, samples

WAYS = {"export": (exported, eager), "compile": (compiled, eager), "gradients": (differentiated, eager_gradients)}


def main(
    count: Annotated[int, typer.Option(help="Samples of each operator and dtype.")] = 8,
    seed: Annotated[int, typer.Option(help="Which samples.")] = 0,
    only: Annotated[str, typer.Option(help="Operators whose names contain this, separated by commas.")] = "",
    dtypes: Annotated[str, typer.Option(help="Separated by commas.")] = "float32,int64,bool",
    way: Annotated[str, typer.Option(help="export (interpreted), compile, or gradients (compiled).")] = "export",
    between: Annotated[str, typer.Option(help="100:200: these of the operators, by number.")] = ":",
) -> None:
    """Compare samples of torch's operators with eager torch; exit code 1 if one differs."""
    first, last = (int(each) if each else None for each in between.split(":"))
    run, reference = WAYS[way]
    names = [name for name in operators() if not only or any(each in name for each in only.split(","))]
    seen: Counter[str] = Counter()
    for name in names[first:last]:
        for dtype in dtypes.split(","):
            given = samples(name, getattr(torch, dtype), count, seed, way == "gradients")
            for sample, problem in zip(given, judged(given, run, reference), strict=True):
                seen[problem.partition(":")[0] or "right"] += 1
                if problem and not problem.startswith((NO_REFERENCE, RANDOM)):
                    print(f"{name} {dtype} ({sample.text}): {problem}", flush=True)
    print(dict(seen))
    raise typer.Exit(bool(seen["differs"] + seen["crash"] + seen["error"]))


if __name__ == "__main__":
    typer.run(main)
