"""All backend tests of the onnx package on the CUDA target without a GPU: ``python test/cuda/cuda_conformance.py``.

Each case is compiled as for a GPU and run by the artifact's own host program on the fake driver, with emulated kernels,
in a process of its own. The last lines are a table of how many are right, and why the others are not.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[0]), str(HERE.parents[0] / "conformance")]

from cases import as_array, assert_same, expected_failure, small_cases  # noqa: E402
from fake_gpu import Gpu, build  # noqa: E402

from mlc.frontends.onnx.backend import MlcBackend  # noqa: E402

WAY = "cuda"
TARGET = "cuda:sm_90"
SECONDS = 300  # of a case
LOADED = ("mlc.driver.lower", "mlc.pipelines.gpu", "mlc.driver.artifact.write_artifact", "mlc.runtime.model")


class Result(NamedTuple):
    """The result of a case: an empty text if it is right, else the failure."""

    name: str
    error: str


def run_case(name: str) -> None:
    """Compile a case for a GPU, run it, and compare. AssertionError, or what the compiler or the run raises."""
    case = small_cases()[name]
    net = MlcBackend.prepare(case.model, target=TARGET)
    for inputs, outputs in case.data_sets:
        results = net.run([as_array(value) for value in inputs])
        for actual, wanted in zip(results, outputs, strict=True):
            assert_same(actual, as_array(wanted), case.rtol, case.atol)


def in_child(name: str) -> Result:
    """Run a case in a child process. A crash or a timeout is a failure like others."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.write(write, _error_of(name).encode()[:4000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return Result(name, text if not status else f"the process ended by signal {os.WTERMSIG(status)}")


def _error_of(name: str) -> str:
    import signal

    signal.alarm(SECONDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run_case(name)
        except BaseException as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            return f"{type(error).__name__}: {' '.join(lines)[:300]}"
    return ""


def machine(folder: Path) -> Gpu:
    """Load the fake driver into this process, and set the compiler of emulated kernels in its environment."""
    driver, emulation = build(folder)
    os.environ |= {"MLC_NVCC": str(HERE / "fake_nvcc.py"), "FAKE_EMULATION": str(emulation)}
    return Gpu(driver, emulation)


def results(names: Iterable[str], known: Path | None) -> Iterator[Result]:
    """Yield the result of each case. Results in the file of an earlier run are reused, and new ones are added to it."""
    lines = known.read_text().splitlines() if known and known.exists() else []
    found = {result.name: result for result in (Result(*json.loads(line)) for line in lines)}
    for name in names:
        if name not in found:
            found[name] = in_child(name)
            if known:
                with known.open("a") as file:
                    file.write(json.dumps(found[name]) + "\n")
        yield found[name]


def table(found: Iterable[Result]) -> str:
    """Return the number of right cases, and a row for each reason why expected failures fail."""
    counts = Counter[str]()
    for result in found:
        reason = expected_failure(result.name, WAY)
        unexpected = f"FAILED {result.name}: {result.error}" if reason is None else ""
        counts["" if not result.error else unexpected or str(reason)] += 1
    head = f"{counts['']} of {counts.total()} cases are right\n\n| cases | why not |\n|---|---|"
    return "\n".join([head, *(f"| {count} | {reason} |" for reason, count in counts.most_common() if reason)])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--every", type=int, default=1, help="one case of so many")
    arguments.add_argument("--known", type=Path, help="a file of results, which is read and continued")
    arguments.add_argument("names", nargs="*", help="cases; default: all node tests and stored models")
    given = arguments.parse_args()
    names = sorted(small_cases())[:: given.every]
    for module in LOADED:  # here, and not in each child
        import_module(module)
    with tempfile.TemporaryDirectory() as folder:
        machine(Path(folder))
        print(table(results(given.names or names, given.known)))


if __name__ == "__main__":
    main()
