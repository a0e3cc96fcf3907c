"""Gives mlc files that are made to harm: `python test/fuzz/fuzz_files.py --kind onnx --count 1000 --seed 0`.

Each ends within seconds and in bounded memory with a result or an error of mlc's own that names what is wrong, through
the command line and through the API, and leaves no file over. Everything else is a finding, printed with its seed.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from random import Random, SystemRandom
from typing import Annotated, Any

import numpy as np
import typer
from hostile_files import library, npz, pickled, safetensors, schedule
from hostile_judge import Call, Judge, Write, checked, command, compiled, session
from hostile_models import base, write
from isolate import judged
from scratch import scratch

import mlc
import mlc.numpy as mnp
from mlc import nn, train

SECONDS = 90.0  # for one file, the C compiler included, on a machine with other work


def _valid(folder: Path) -> Path:
    """A valid model, and its artifact beside it."""
    path = folder / "valid.onnx"
    path.write_bytes(base(Random(0)).SerializeToString())
    command("compile", "FILE", "-o", f"{folder}/valid.so")(path)
    return path


def _restored(path: Path) -> Any:
    """The newest checkpoint of the folder."""
    like = {"a": mnp.zeros(4), "b": mnp.zeros(2)}
    return train.Checkpoints(path.parent).load(like)


def _loaded(path: Path) -> Any:
    layer = nn.Linear(4, 2)
    layer.load_state_dict(nn.load_file(path))


def kinds(folder: Path) -> dict[str, tuple[Write, dict[str, Call]]]:
    """How the files of a kind are made, and what they are given to."""
    valid = _valid(folder)
    run = str(folder / "valid.so")
    models: dict[str, Call] = {"compile": compiled, "check": checked, "session": session, "function": mlc.function}
    models |= {f"mlc {c}": command(c, "FILE") for c in ("check", "inspect")}
    models |= {"mlc run": command("run", "FILE", "--random", "0")}
    models |= {"mlc bench": command("bench", "FILE", "--seconds", "0")}
    models |= {"mlc compile": command("compile", "FILE", "-o", "out.so")}
    arrays = {
        "mlc run npz": command("run", run, "-i", "FILE", "--random", "0"),
        "mlc run name": command("run", run, "-i", "x=FILE", "--random", "0"),
        "load": mnp.load,
    }
    weights: dict[str, Call] = {"load_file": nn.load_file, "load_state_dict": _loaded, "checkpoint": _restored}
    code: dict[str, Call] = {"load": mlc.load, "mlc inspect": command("inspect", "FILE")}
    code |= {"mlc run": command("run", "FILE", "--random", "0")}
    orders: dict[str, Call] = {
        "mlc compile": command("compile", str(valid), "-o", "out.so", "--schedule", "FILE"),
        "compile": lambda path: mlc.compile(valid, schedule=path),
    }
    return {
        "onnx": (write, models),
        "safetensors": (safetensors, weights),
        "npz": (npz, arrays),
        "pickle": (pickled, {**weights, **arrays, "compile": compiled, "mlc check": command("check", "FILE")}),
        "so": (library((folder / "valid.so").read_bytes()), code),
        "schedule": (schedule(_schedules(valid)), orders),
    }


def _schedules(model: Path) -> str:
    """The schedules of a model's kernels, as `mlc inspect --schedules` prints them."""
    from mlc.runtime.sealed import read_signature
    from mlc.tools.kernel_profile import schedule_of

    signature = read_signature(model.with_suffix(".so"))
    return "\n".join(f"{kernel['name']}: {schedule_of(kernel)}" for kernel in signature["kernels"])


def main(
    kind: Annotated[str, typer.Option(help="onnx, safetensors, npz, pickle, so, schedule, or all.")] = "all",
    count: Annotated[int, typer.Option(help="Files of each kind.")] = 200,
    seed: Annotated[int | None, typer.Option(help="Of the first one; random by default.")] = None,
    folder: Annotated[Path, typer.Option(help="Where files with findings are written.")] = Path("fuzz"),
) -> None:
    """Exit code 1 if there is a finding."""
    first, found = SystemRandom().getrandbits(31) if seed is None else seed, 0
    folder = folder.absolute()
    with scratch() as work:
        every = kinds(work)
        for name, (make, calls) in every.items() if kind == "all" else [(kind, every[kind])]:
            for case, problem in judged(range(first, first + count), Judge(make, calls, work), SECONDS):
                if problem:
                    found += 1
                    print(f"{name} seed {case}: {problem}", flush=True)
                    kept = folder / f"{name}-{case}"
                    shutil.rmtree(kept, ignore_errors=True)
                    kept.mkdir(parents=True)
                    make(Random(case), kept)
            print(f"{name}: {count} files from seed {first}, {found} findings so far", flush=True)
    raise typer.Exit(bool(found))


if __name__ == "__main__":
    typer.run(main)
assert np and os
