"""Damages streams of images and decodes them under sanitizers: `python test/fuzz/fuzz_images.py --count 100000`.

A finding is what the address or the undefined behaviour sanitizer reports, memory that is lost, and what takes
seconds. The libraries of the formats have no sanitizers built in: what they write beyond a buffer of ours is not found.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random, SystemRandom
from typing import Annotated

import numpy as np
import typer
from mutate import damaged

sys.path.append(str(Path(__file__).parents[1] / "unit" / "frontends"))

from image_streams import STREAMS  # noqa: E402

from mlc import target as targets  # noqa: E402
from mlc.driver.toolchain.external_libraries import external_flags  # noqa: E402
from mlc.runtime import c  # noqa: E402

HERE = Path(__file__).parent
CHECKS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
SECONDS = 0.2  # for an image of at most 256 x 256 pixels, on average


def decoder(compiler: str, folder: Path) -> Path:
    """The program ``images.c`` with the decoders and the sanitizers.

    ToolchainError where a library is missing, CalledProcessError where the sanitizers are.
    """
    external = external_flags(["image"], targets.get("cpu"))
    out = folder / "images"
    sources = [f for f in c.paths().values() if f.suffix == ".c" and f.parent.name == "image"]
    flags = ("-std=gnu11", "-Wall", "-Wextra", "-Werror", *c.include_flags(), *external.compile)
    command = [compiler, *flags, *CHECKS, str(HERE / "images.c"), *map(str, sources), "-o", str(out)]
    subprocess.run([*command, *external.link, "-lm"], check=True, capture_output=True)
    return out


def streams(seed: int, count: int) -> list[bytes]:
    """Damaged streams, the same for the same seed."""
    random, rng = Random(seed), np.random.default_rng(seed)
    valid = [make(rng) for make in STREAMS.values() for _ in range(6)]
    return [damaged(random, random.choice(valid), random.choice(valid)) for _ in range(count)]


def problem(program: Path, cases: list[bytes]) -> str:
    """What is wrong with the first of the streams that has a problem; empty where none has."""
    data = b"".join(struct.pack("=I", len(case)) + case for case in cases)
    try:
        done = subprocess.run([program], input=data, capture_output=True, timeout=30 + SECONDS * len(cases))
    except subprocess.TimeoutExpired as late:
        return f"stream {len((late.stdout or b'').splitlines())} takes too long"
    if done.returncode == 0 and not done.stderr:
        return ""
    return f"stream {len(done.stdout.splitlines())}: {done.stderr.decode(errors='replace')[:2000]}"


def main(
    count: Annotated[int, typer.Option(help="Streams to damage.")] = 10_000,
    seed: Annotated[int | None, typer.Option(help="Of the first thousand; random by default.")] = None,
) -> None:
    """Exit code 1 if there is a finding."""
    first = SystemRandom().getrandbits(31) if seed is None else seed
    found = 0
    with tempfile.TemporaryDirectory(prefix="mlc-fuzz-") as folder:
        program = decoder(shutil.which("gcc") or "cc", Path(folder))
        for n in range(first, first + (count + 999) // 1000):
            if text := problem(program, streams(n, 1000)):
                found += 1
                print(f"seed {n}: {text}", flush=True)
    print(f"{count} damaged streams from seed {first}, {found} findings")
    raise typer.Exit(bool(found))


if __name__ == "__main__":
    typer.run(main)
