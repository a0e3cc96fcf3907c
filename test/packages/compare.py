"""Packages of the registry on mlc and on onnxruntime, their own code unchanged: whether they print the same.

python -m venv env && env/bin/pip install . onnxruntime magika silero-vad rapidocr
env/bin/python test/packages/compare.py              # all of them
env/bin/python test/packages/compare.py rapidocr     # one

Each program beside this file runs twice, in processes of their own, and prints JSON. Strings and lengths must
be equal, numbers within 1e-3 of the scale of 1 (boxes in pixels: within 1). A package that is not installed is skipped.
Exit status 1 where one differs.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
TOLERANCE = {"boxes": 1.0}


def main(names: list[str]) -> int:
    """Compare the packages of ``names``, all where there are none. 1 where one differs."""
    programs = {path.name.removesuffix("_program.py"): path for path in sorted(FOLDER.glob("*_program.py"))}
    wrong = 0
    for name in names or programs:
        if importlib.util.find_spec(name) is None:
            print(f"{name:12} skipped: not installed")
            continue
        (theirs, their_seconds), (ours, seconds) = (
            run([], programs[name]),
            run(["-m", "mlc.onnxruntime"], programs[name]),
        )
        found = differences("", theirs, ours, TOLERANCE.get(name, 1e-3))
        wrong += bool(found)
        print(
            f"{name:12} {'equal' if not found else 'DIFFERS'}  onnxruntime {their_seconds:.1f} s, mlc {seconds:.1f} s"
        )
        print(*(f"    {line}" for line in found[:10]), sep="\n", end="\n" if found else "")
    return int(wrong > 0)


def run(prefix: list[str], program: Path) -> tuple[Any, float]:
    """What a program prints in its last line, and its seconds."""
    start = time.perf_counter()
    ran = subprocess.run([sys.executable, *prefix, str(program)], stdout=subprocess.PIPE, text=True)
    if ran.returncode:
        raise SystemExit(f"{' '.join([*prefix, program.name])} ends with {ran.returncode}")
    return json.loads(ran.stdout.splitlines()[-1]), time.perf_counter() - start


def differences(where: str, wanted: Any, found: Any, most: float) -> list[str]:
    """Where two values of JSON differ."""
    if isinstance(wanted, dict) and isinstance(found, dict) and wanted.keys() == found.keys():
        pairs = ((f"{where}.{key}", wanted[key], found[key], TOLERANCE.get(key, most)) for key in wanted)
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        pairs = ((f"{where}[{n}]", a, b, most) for n, (a, b) in enumerate(zip(wanted, found, strict=True)))
    elif isinstance(wanted, float | int) and isinstance(found, float | int):
        return [] if abs(wanted - found) <= most else [f"{where}: {wanted} on onnxruntime, {found} on mlc"]
    else:
        return [] if wanted == found else [f"{where}: {wanted!r} on onnxruntime, {found!r} on mlc"]
    return [line for pair in pairs for line in differences(*pair)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
