"""Runs a program with mlc in the place of onnxruntime.

python -m mlc.onnxruntime program.py arguments
python -m mlc.onnxruntime -m package arguments
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from mlc.onnxruntime import install

USAGE = f"usage: {(__doc__ or '').split(chr(10), 2)[2].strip()}"


def main(arguments: list[str]) -> int:
    """Run the program that ``arguments`` name; its exit status is the process's. 2 where they name none."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"{(__doc__ or '').strip()}" if arguments else USAGE, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    install()
    if arguments[0] == "-m":
        if len(arguments) < 2:
            print(USAGE, file=sys.stderr)
            return 2
        sys.argv = arguments[1:]
        sys.path.insert(0, "")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    if not Path(arguments[0]).is_file():
        print(f"There is no program '{arguments[0]}'. Give a Python file, or -m and a module", file=sys.stderr)
        return 2
    sys.argv = arguments
    sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
    runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
