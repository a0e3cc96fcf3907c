"""Which kernels' C code a change alters.

    python test/kernel_diff.py HEAD~3 .                          # the small models, a revision against the working tree
    python test/kernel_diff.py main my-branch bert x.onnx --diff # some models, with the text of the differences

A side is a git revision, or the folder of a source tree. Models are families of ``benchmarks.models`` or ONNX files.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ("dialects", "passes", "frontends", "runtime")
EMIT = """
import json, sys
from mlc.api import make_options
from mlc.build import lower
from mlc.identity import Source
lowered = lower(Source.of(sys.argv[1]), make_options(target=sys.argv[2]))
print(json.dumps({"sources": lowered.sources, "kernels": lowered.signature["kernels"]}))
"""
FUNCTION = re.compile(r"^void (k_\w+)\([^;\n]*\{\n.*?^}\n", re.M | re.S)
Kernels = dict[str, str]


def package(side: str, folder: Path) -> Path:
    """A folder in which the sources of ``side`` are importable as ``mlc``, whatever is installed."""
    if Path(side).is_dir():
        for part in ("compiler", *PARTS):
            shutil.copytree(Path(side) / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        archive = subprocess.run(["git", "archive", side], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    (folder / "compiler").rename(folder / "mlc")
    for part in PARTS:
        (folder / part).rename(folder / "mlc" / part)
    return folder


def kernels(path: Path, model: Path, target: str) -> Kernels:
    """Name of each launched kernel -> its C function, with the name in place of the hash."""
    environment = {**os.environ, "PYTHONPATH": str(path)}
    command = [sys.executable, "-c", EMIT, str(model), target]
    result = subprocess.run(command, cwd=path, env=environment, capture_output=True, text=True)
    if result.returncode:
        reason = result.stderr.strip() or f"killed ({result.returncode})"
        raise SystemExit(f"{model.stem}: {reason.splitlines()[-1]}")
    made = json.loads(result.stdout)
    texts = {m[1]: m[0] for source in made["sources"].values() for m in FUNCTION.finditer(source)}
    return {k["name"]: texts[k["symbol"]].replace(k["symbol"], k["name"]) for k in made["kernels"]}


def report(model: str, old: Kernels, new: Kernels, diff: bool) -> bool:
    """Print how two sets of kernels differ; whether they do."""
    gone, come = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    changed = [name for name in old if name in new and old[name] != new[name]]
    print(f"{model}: {len(changed)} of {len(new)} kernels differ, {len(gone)} are gone, {len(come)} are new")
    for mark, names in (("!", changed), ("-", gone), ("+", come)):
        for name in names:
            print(f"  {mark} {name}")
    if diff:
        for name in changed:
            sides = (old[name].splitlines(), new[name].splitlines())
            print("\n".join(difflib.unified_diff(*sides, f"old/{name}", f"new/{name}", lineterm="")))
    return bool(changed or gone or come)


def files(names: list[str], folder: Path) -> list[Path]:
    """ONNX files as they are; families as small members with an open batch dimension."""
    sys.path.insert(0, str(ROOT))
    import onnx

    from benchmarks import models
    from benchmarks.models import small

    paths = []
    for name in names or models.FAMILIES:
        path = Path(name).absolute() if name.endswith(".onnx") else folder / f"{name}.onnx"
        if not name.endswith(".onnx"):
            onnx.save(models.build(name, batch="batch", **small.OPTIONS[name]), path)
        paths.append(path)
    return paths


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("models", nargs="*", help="default: one of every family")
    parser.add_argument("--target", default="x86-64-v3")
    parser.add_argument("--diff", action="store_true", help="print the differences")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for part in ("old", "new", "models"):
            (Path(name) / part).mkdir()
        old, new = (package(side, Path(name) / part) for side, part in ((args.old, "old"), (args.new, "new")))
        found = [
            report(m.stem, kernels(old, m, args.target), kernels(new, m, args.target), args.diff)
            for m in files(args.models, Path(name) / "models")
        ]
    return int(any(found))


if __name__ == "__main__":
    sys.exit(main())
