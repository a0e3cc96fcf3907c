"""The schedules that ``mlc tune`` has found: a file ``tuned.json`` in the cache's folder.

    {"format": 1, "machines": {"<key>": {"about": {"cpu": …, "threads": 2, …},
                                         "kernels": {"<digest>": {"schedule": …, "gain": 0.12, "model": "resnet50"}}}}}

What was measured holds for one CPU, number of threads, C compiler and version of mlc: together they are a machine. The
file is written anew by one rename, under a lock, so that a reader sees all of a version and two writers lose nothing.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mlc.driver.artifact.output_files import output_error, write_bytes
from mlc.driver.cache import source_digest
from mlc.driver.cache.ownership import make_private, problem
from mlc.driver.toolchain.c_compiler import allowed_cpus
from mlc.errors import InputError, ToolchainError
from mlc.options import Options, environment
from mlc.pipelines.backends import backend_of
from mlc.target.host import cpu_model

FORMAT = 1
Machine = dict[str, Any]


@dataclass(frozen=True)
class Tuned:
    """A schedule that was faster than the chosen one; ``gain`` is the share of the time that it saves."""

    schedule: str
    gain: float
    model: str


@dataclass(frozen=True)
class Store:
    """The file, which need not exist."""

    path: Path | None

    @classmethod
    def default(cls) -> Store:
        """The store of the cache that the environment names; always empty without a cache."""
        folder = environment().cache_dir
        return cls(folder / "tuned.json" if folder else None)

    def schedules(self, machine: Machine) -> dict[str, Tuned]:
        """The tuned schedules for a machine, by digest of the kernel."""
        found = self._read().get(_key(machine), {"kernels": {}})
        return {kernel: Tuned(**tuned) for kernel, tuned in found["kernels"].items()}

    def machines(self) -> list[tuple[Machine, dict[str, Tuned]]]:
        return [(m["about"], self.schedules(m["about"])) for m in self._read().values()]

    def record(self, machine: Machine, found: Mapping[str, Tuned | None]) -> None:
        """Store measured schedules; None: none is better than the chosen one. OutputError if that fails."""
        assert self.path is not None
        with self._lock():
            machines = self._read()
            kernels = {**self.schedules(machine), **found}
            kept = {kernel: asdict(tuned) for kernel, tuned in kernels.items() if tuned is not None}
            machines[_key(machine)] = {"about": machine, "kernels": kept}
            text = json.dumps({"format": FORMAT, "machines": machines}, indent=1, sort_keys=True)
            write_bytes(self.path, f"{text}\n".encode())
            self.path.chmod(0o600)

    def clear(self) -> int:
        """Delete everything; returns the number of schedules."""
        count = sum(len(kernels) for _, kernels in self.machines())
        if self.path is not None and self.path.exists():
            with self._lock():
                self.path.unlink()
        return count

    def _read(self) -> dict[str, Any]:
        """The machines of the file; a malformed entry invalidates the whole file."""
        try:
            if self.path is None or not self.path.exists():
                return {}
            if why := problem(self.path):
                raise ValueError(why)
            content = json.loads(self.path.read_text())
            machines: dict[str, Any] = content["machines"]
            if content["format"] != FORMAT or not all(map(_sound, machines.items())):
                raise ValueError("it is damaged, or of another version")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            hint = "'mlc cache clear --tuned' removes it"
            warnings.warn(f"The tuned schedules in {self.path} cannot be read: {error}; {hint}", stacklevel=2)
            return {}
        return machines

    @contextmanager
    def _lock(self) -> Iterator[None]:
        assert self.path is not None
        try:
            make_private(self.path.parent)
            file = self.path.with_suffix(".lock").open("w")
        except OSError as error:
            raise output_error(self.path, error) from error
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _sound(item: tuple[str, Any]) -> bool:
    key, machine = item
    kernels = [Tuned(**tuned) for tuned in machine["kernels"].values()]
    return key == _key(machine["about"]) and all(isinstance(k.schedule, str) for k in kernels)


def _key(machine: Machine) -> str:
    return hashlib.sha256(json.dumps(machine, sort_keys=True).encode()).hexdigest()[:16]


def machine_of(options: Options) -> Machine:
    """The machine and options for which a measurement is valid. ToolchainError if there is no C compiler."""
    return {
        "cpu": cpu_model(),
        "target": json.loads(json.dumps(asdict(options.target))),  # as the file has it
        "threads": options.threads or allowed_cpus(),
        "compiler": backend_of(options.target).toolchain(options.cc).version,
        "mlc": source_digest.of_sources(),
    }


def destination(options: Options, store: Store, elsewhere: bool) -> Store:
    """The store for the result of tuning; InputError if there is none, or if no compilation would use it."""
    if options.numerics == "strict":
        raise InputError("Schedules that may change sums are not used in strict mode", hint="Tune in default mode")
    if options.target.name != "cpu":
        store, why = Store(None), f"An artifact for {options.target.name} does not depend on the machine it is made on"
    else:
        why = "There is no cache to keep schedules in"
    if store.path is None and not elsewhere:
        raise InputError(why, hint="Give -o FILE, for mlc compile --schedule FILE")
    return store


def known(options: Options) -> dict[str, str]:
    """The tuned schedules that a compilation may use.

    None for a named target, whose artifact does not depend on where it is made, and none where sums keep their order.
    """
    store = Store.default()
    if options.target.name != "cpu" or options.numerics == "strict" or store.path is None or not store.path.exists():
        return {}
    try:
        machine = machine_of(options)
    except ToolchainError:
        return {}  # the compilation reports the missing C compiler, if it needs one
    return {kernel: tuned.schedule for kernel, tuned in store.schedules(machine).items()}
