"""Damages valid models and looks what mlc makes of them: `python test/fuzz/fuzz_models.py --count 100000`.

A damaged model is refused by an error of mlc's own, or compiles and gives what onnxruntime gives. Everything else is a
finding: another exception, a crash, a hang, memory without end. Each is a line with its seed; the model goes to
`--folder`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import SystemRandom
from typing import Annotated

import typer
from rich.progress import track

sys.path.append(str(Path(__file__).parents[1] / "conformance"))

from cases import small_cases  # noqa: E402
from examine import Judge  # noqa: E402
from isolate import judged  # noqa: E402
from mutate import mutant  # noqa: E402
from scratch import scratch  # noqa: E402

EVERY = 10_000  # models, after which a log gets a line
SECONDS = 120.0  # for one model, the C compiler included


def main(
    count: Annotated[int, typer.Option(help="Models to damage.")] = 1000,
    seed: Annotated[int | None, typer.Option(help="Of the first one; random by default.")] = None,
    folder: Annotated[Path, typer.Option(help="Where models with findings are written.")] = Path("fuzz"),
) -> None:
    """Damage the onnx package's node tests; exit code 1 if there is a finding."""
    models = [case.model.SerializeToString() for case in small_cases().values()]
    first, found = SystemRandom().getrandbits(31) if seed is None else seed, 0
    with scratch() as work:
        judge = Judge(lambda n: mutant(models, n), work)
        numbers = range(first, first + count)
        for case, problem in track(judged(numbers, judge, SECONDS), f"models from seed {first}", count):
            if problem:
                found += 1
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{case}.onnx").write_bytes(mutant(models, case))
                print(f"seed {case}: {problem}", flush=True)
            if (case - first) % EVERY == EVERY - 1:
                print(f"{case - first + 1} damaged models, {found} findings so far", flush=True)
    print(f"{count} damaged models, {found} findings")
    raise typer.Exit(bool(found))


if __name__ == "__main__":
    typer.run(main)
