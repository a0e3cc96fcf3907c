"""Which kernels' C code a change alters.

    python test/kernel_diff.py HEAD~3 .                          # the small models, a revision against the working tree
    python test/kernel_diff.py main my-branch bert x.onnx --diff # some models, with the text of the differences

A side is a git revision, or the folder of a source tree. Models are families of ``benchmarks.models`` or ONNX files.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from benchmarks import checkout  # noqa: E402 - from the root, wherever the script is run

EMIT = """
import json, sys
from mlc.api import make_options
try:
    from mlc.driver.compile import lower_source as lower
    from mlc.driver.onnx_source import OnnxSource as Source
except ImportError:  # a revision before the folder of the driver
    from mlc.build import lower
    from mlc.identity import Source
lowered = lower(Source.of(sys.argv[1]), make_options(target=sys.argv[2]))
print(json.dumps({"sources": lowered.sources, "kernels": lowered.signature["kernels"]}))
"""
SHARED = r"static __attribute__\(\(noinline\)\) "
HEAD = rf"^(?:{SHARED}|extern \"C\" __global__ )?void (?:__\w+__\(.*?\) )*(k_\w+)\("  # of C, or CUDA with launch bounds
FUNCTION = re.compile(HEAD + r"[^;\n]*\{\n.*?^}\n", re.M | re.S)
TABLE, READ = re.compile(r"(mlc_[nfd])\[\] = \{(.*)\};"), re.compile(r"^  const \w+ mlc_[nfd]\d+ = .*\n", re.M)
Kernels = dict[str, str]


def kernels(path: Path, model: Path, target: str) -> Kernels:
    """Name of each launched kernel -> its C or CUDA function, with the name in place of the hash."""
    command = [sys.executable, "-c", EMIT, str(model), target]
    result = subprocess.run(command, cwd=path, env=checkout.environment(path), capture_output=True, text=True)
    if result.returncode:
        reason = result.stderr.strip() or f"killed ({result.returncode})"
        raise SystemExit(f"{model.stem}: {reason.splitlines()[-1]}")
    made = json.loads(result.stdout)
    strings = {m[1]: m[0] for source in made["sources"].values() for m in FUNCTION.finditer(source)}
    return {k["name"]: whole(k["symbol"], strings).replace(k["symbol"], k["name"]) for k in made["kernels"]}


def whole(symbol: str, strings: Kernels) -> str:
    """The function of a kernel; of one with a shared body, that body with the kernel's numbers."""
    head, rest = strings[symbol].split("\n", 1)
    if (call := re.search(r"^  (k_\w+)\(buf", rest, re.M)) is None:
        return strings[symbol]
    tables = {name: values.split(", ") for name, values in TABLE.findall(rest)}
    body = READ.sub("", strings[call[1]].split("\n", 1)[1])
    return f"{head}\n" + re.sub(r"\b(mlc_[nfd])(\d+)\b", lambda m: tables[m[1]][int(m[2])], body)


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
        folders = ((args.old, Path(name) / "old"), (args.new, Path(name) / "new"))
        old, new = (checkout.check_out(*side) for side in folders)
        found = [
            report(m.stem, kernels(old, m, args.target), kernels(new, m, args.target), args.diff)
            for m in files(args.models, Path(name) / "models")
        ]
    return int(any(found))


if __name__ == "__main__":
    sys.exit(main())
